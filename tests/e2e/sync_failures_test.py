"""--mode=sync goes on without a lost worker, and with its successor: a worker is
killed, frozen, or slow, and the job ends with the weights of the serial run, each
batch applied once on every server."""

import os
import re
import signal
import threading
import time

import harness
import launched
from cluster import PROBE, Cluster
from exact_jobs import BATCH, ExactJobsTest
from slow_data import SlowData

EPOCHS, SERVERS = 12, 2
SILENT_AFTER = 3
QUICK = [f"--silent_after={SILENT_AFTER}s", f"--ps_lease={SILENT_AFTER}s"]
SENT = re.compile(r"push sent (\S+)")
ENDED = re.compile(r"push (?:done|dropped) (\S+)")


class SyncFailuresTest(ExactJobsTest):

    def setUp(self):
        super().setUp()
        # No job is over before the test has seen what it waits for.
        self.slow = SlowData(self)

    def start_job(self, *flags, mode="sync", slow=0.2):
        """2 servers and 3 workers that train, with slow data."""
        self.slow.slow(self.data, slow)
        job = Cluster(
            self, 2, 3,
            [*PROBE, *BATCH, *QUICK, f"--mode={mode}", "--canary", *flags,
             f"--num_epochs={EPOCHS}"],
            ps_flags=["--summary=" + self.path("summary.json")],
            worker_flags=["--training_data_dir=" + self.data,
                          "--log_level=debug"],
            worker_prefix=self.slow.prefix)
        job.start_all()
        for worker in job.workers:
            worker.wait_for_line("push done ")
        return job

    @staticmethod
    def steps(worker, start=0):
        return sum("push done " in line for line in list(worker.lines)[start:])

    def expect_steps(self, workers, more=3, timeout=60):
        """Each of the workers goes on. A closed step may have been under way,
        so one step more says nothing."""
        began = [len(worker.lines) for worker in workers]
        deadline = time.monotonic() + timeout
        for worker, start in zip(workers, began):
            while self.steps(worker, start) < more:
                self.assertLess(time.monotonic(), deadline,
                                f"{worker.name} waits; ps 0 said\n" +
                                worker.output()[-2000:])
                threading.Event().wait(0.02)

    def test_a_killed_worker_is_done_without_and_comes_back(self):
        job = self.start_job()
        killed = job.workers[1]
        killed.signal(signal.SIGKILL)
        self.assertEqual(killed.wait(), -signal.SIGKILL)
        begun = time.monotonic()
        self.expect_steps([job.workers[0], job.workers[2]])
        print(f"the job went on {time.monotonic() - begun:.1f} s after the "
              "kill, with three steps")
        job.start_worker(1).wait_for_line("push done ")
        self.expect_steps(job.workers)
        self.slow.fast(self.data)
        job.wait_all()
        self.expect_exact(EPOCHS, SERVERS)

    def test_the_launcher_starts_a_killed_worker_again(self):
        self.slow.slow(self.data, 0.5)
        job = launched.Launched(
            self, *self.probe_flags(EPOCHS), *QUICK, "--mode=sync", "--ps=2",
            "--workers=3", "--canary",
            "--progress_every=100ms",
            "--summary=" + self.path("summary.json"), prefix=self.slow.prefix)
        run = job.process
        for victim in (1, 2):
            run.wait_for_line(re.compile(f"worker {victim} .*push done "))
            os.kill(job.pid("shoal-worker", victim), signal.SIGKILL)
            at = run.wait_for_line(f"worker {victim} was killed by SIGKILL; "
                                   "starting it again")
            run.wait_for_line(re.compile(f"worker {victim} .*push done "),
                              start=at)
        self.slow.fast(self.data)
        self.assertEqual(run.wait(120), 0, run.output()[-3000:])
        self.expect_exact(EPOCHS, SERVERS)

    def in_flight(self, worker):
        """True if the worker has sent a push that has not ended, and says
        nothing more."""
        count = -1
        while count != (count := len(worker.lines)):
            threading.Event().wait(0.1)
        lines = worker.lines[:count]
        sent = [m.group(1) for m in map(SENT.search, lines) if m]
        ended = {m.group(1) for m in map(ENDED.search, lines) if m}
        return bool(sent) and sent[-1] not in ended

    def test_a_worker_killed_between_its_pushes(self):
        """PS 0 has the pushes of a step, and PS 1, which is frozen, has not."""
        job = self.start_job(slow=0.05)
        killed, ps = job.workers[1], job.ps[1]
        caught = False
        for _ in range(20):
            ps.signal(signal.SIGSTOP)
            # No worker goes on: each waits for PS 1, in a pull or in a push.
            began = time.monotonic()
            while (not (caught := self.in_flight(killed)) and
                   time.monotonic() - began < SILENT_AFTER / 3):
                pass
            if caught:
                killed.signal(signal.SIGKILL)
                killed.wait()
            ps.signal(signal.SIGCONT)
            if caught:
                break
            self.expect_steps([killed], 1)
        self.assertTrue(caught, "no push was in flight")
        self.expect_steps([job.workers[0], job.workers[2]])
        job.start_worker(1).wait_for_line("push done ")
        self.slow.fast(self.data)
        job.wait_all()
        print(self.expect_exact(EPOCHS, SERVERS)["batches"])

    def test_a_frozen_worker_that_thaws_harms_nothing(self):
        job = self.start_job()
        frozen = job.workers[2]
        begun = len(job.ps[0].lines)
        frozen.signal(signal.SIGSTOP)
        begun = 1 + job.ps[0].wait_for_line("worker 2 was silent", start=begun)
        self.expect_steps(job.workers[:2])
        said = len(frozen.lines)
        frozen.signal(signal.SIGCONT)
        job.ps[0].wait_for_line("worker 2 joined as life", start=begun)
        frozen.wait_for_line("push done ", start=said)
        self.expect_steps(job.workers)
        self.slow.fast(self.data)
        job.wait_all()
        self.expect_exact(EPOCHS, SERVERS)

    def freeze_often(self, job, slow, seconds):
        """Freezes one worker for `seconds` at a time, three times, less than
        --silent_after. The most steps that another one did in such a time."""
        most = 0
        for _ in range(3):
            slow.signal(signal.SIGSTOP)
            # Lines that come now may have been written before.
            began, first = time.time(), len(job.workers[0].lines)
            threading.Event().wait(seconds)
            most = max(most, sum(
                "push done " in line and harness.time_of(line) >= began
                for line in list(job.workers[0].lines)[first:]))
            slow.signal(signal.SIGCONT)
            self.expect_steps([slow], 1)
        return most

    def test_a_slow_worker_holds_up_no_step_of_backup_workers(self):
        """What it brings too late is dropped and dealt again; beside it, the
        same worker in ssp, which the others wait for at the bound."""
        bound = 2
        for flags in (["--backup_workers=1"], []):
            job = self.start_job(*flags)
            most = self.freeze_often(job, job.workers[2], 1)
            print(f"sync {flags}: {most} steps of worker 0 while worker 2 "
                  "stands still for 1 s")
            if flags:
                self.assertGreater(most, bound + 3, "it waits")
            else:
                # The step that was closed, and the one that is open.
                self.assertLessEqual(most, 2)
            self.slow.fast(self.data)
            job.wait_all()
            self.expect_exact(EPOCHS, SERVERS)
        job = self.start_job(f"--ssp_bound={bound}", mode="ssp")
        most = self.freeze_often(job, job.workers[2], 1)
        print(f"ssp: {most} steps, bound {bound}")
        # Worker 0 may have been as far behind worker 2 as it may then get
        # ahead. The pipeline (a step deep) adds its step to both.
        self.assertLessEqual(most, 2 * (bound + 1 + 1))
        self.slow.fast(self.data)
        job.wait_all()
        self.expect_exact(EPOCHS, SERVERS)


if __name__ == "__main__":
    harness.main()
