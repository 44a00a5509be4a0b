"""A hybrid goes on without a worker that was killed or frozen, worker 0 as well,
whatever the worker did at that moment: the others end with the serial run's
weights, with every batch applied once on each server and on each copy of the dense
variables that is left. Only the last worker, and every server, is missed."""

import os
import random
import re
import signal
import time

import harness
from exact_jobs import ExactJobsTest
from launched import Launched
from slow_data import SlowData

SILENT_AFTER = 3  # seconds
SERVERS = 2
KILLS = int(os.environ.get("SHOAL_RANK_KILLS", "2"))
OK, FAILED, STOPPED = 0, 1, 3  # docs/commands.md


class HybridFailuresTest(ExactJobsTest):

    def setUp(self):
        super().setUp()
        self.slow = SlowData(self)

    def launch(self, epochs, *more, workers=3):
        return Launched(self, *self.probe_flags(epochs), "--mode=hybrid",
                        f"--ps={SERVERS}", f"--workers={workers}", "--canary",
                        f"--silent_after={SILENT_AFTER}s",
                        f"--ps_lease={SILENT_AFTER}s", "--shutdown_timeout=1s",
                        "--progress_every=100ms",
                        "--summary=" + self.path("summary.json"), *more,
                        prefix=self.slow.prefix)

    def expect_end(self, job, epochs, workers, lost):
        """`workers` are left of those that the job began with."""
        self.assertEqual(job.process.wait(120), OK,
                         job.process.output()[-6000:])
        summary = self.expect_exact(epochs, SERVERS + workers)
        self.assertEqual(summary["workers_lost"], lost)
        self.assertGreater(summary["generations"], int(lost > 0))
        return summary

    def lose(self, job, victim, number, start=0):
        """Signals the victim's process; returns the index of the line that
        names it."""
        os.kill(job.pid("shoal-worker", victim), number)
        return job.process.wait_for_line(
            re.compile(rf"worker {victim} (died|was silent)"), 60, start)

    @staticmethod
    def hangs(log):
        with open(log, encoding="utf-8") as file:
            return "hangs" in file.read()

    def test_killed_workers_are_named_and_the_others_go_on(self):
        epochs = 8
        self.slow.slow(self.data, .5)
        job = self.launch(epochs, workers=4)
        job.process.wait_for_line(harness.TRAINED)
        line = self.lose(job, 0, signal.SIGKILL)
        line = job.process.wait_for_line(harness.TRAINED, 60, line + 1)
        line = self.lose(job, 2, signal.SIGKILL, line)
        job.process.wait_for_line(harness.TRAINED, 60, line + 1)
        self.slow.fast(self.data)
        self.expect_end(job, epochs, workers=2, lost=2)
        # They are started again with the next start of the job.
        self.assertNotIn("starting it again", job.process.output())

    def test_workers_die_at_any_time_and_what_was_saved_is_whole(self):
        """The seconds are those of `seed`: to be tried again with it."""
        epochs = 10
        seed = int(os.environ.get("SHOAL_SEED", str(os.getpid())))
        chance = random.Random(seed)
        for kill in range(KILLS):
            with self.subTest(kill=kill, seed=seed):
                model = self.path(f"model{kill}")
                more = ["--model_dir=" + model, "--save_checkpoint_steps=60"]
                self.slow.slow(self.data, .05)
                job = self.launch(epochs, *more)
                job.process.wait_for_line(harness.TRAINED)
                victims = chance.sample((0, 1, 2), 1 + kill % 2)
                for victim in victims:
                    time.sleep(chance.uniform(0, .7))  # any moment will do
                    os.kill(job.pid("shoal-worker", victim), signal.SIGKILL)
                self.slow.fast(self.data)
                self.expect_end(job, epochs, workers=3 - len(victims),
                                  lost=len(victims))
                self.run_ok("shoal", "ckpt", "verify", model)

    def test_a_frozen_worker_is_named_and_harms_nothing_when_it_thaws(self):
        epochs = 8
        self.slow.slow(self.data, .2)
        job = self.launch(epochs)
        job.process.wait_for_line(harness.TRAINED)
        pid = job.pid("shoal-worker", 0)
        line = self.lose(job, 0, signal.SIGSTOP)
        line = job.process.wait_for_line(harness.TRAINED, 60, line + 1)
        os.kill(pid, signal.SIGCONT)
        job.process.wait_for_line(
            "worker 0 was lost, and the job goes on without it", 60, line)
        self.slow.fast(self.data)
        self.expect_end(job, epochs, workers=2, lost=1)

    def test_a_stopped_job_that_lost_a_worker_goes_on_with_all_of_them(self):
        epochs = 8
        more = ["--model_dir=" + self.path("model")]
        self.slow.slow(self.data, .2)
        job = self.launch(epochs, *more)
        job.process.wait_for_line(harness.TRAINED)
        line = self.lose(job, 0, signal.SIGKILL)
        job.process.wait_for_line(harness.TRAINED, 60, line + 1)
        self.slow.fast(self.data)
        job.process.signal(signal.SIGTERM)
        self.assertEqual(job.process.wait(60), STOPPED,
                         job.process.output()[-6000:])
        self.run_ok("shoal", "ckpt", "verify", self.path("model"))
        summary = self.expect_end(self.launch(epochs, *more), epochs,
                                  workers=3, lost=0)
        self.assertGreater(summary["checkpoint"]["resumed_step"], 0)

    def test_the_worker_that_writes_dies_while_its_disk_hangs(self):
        """The next worker writes the dense variables."""
        self.lose_the_writer(signal.SIGKILL)

    def test_the_worker_that_writes_freezes_while_its_disk_hangs(self):
        """It thaws when the next worker has written the same shard."""
        self.lose_the_writer(signal.SIGSTOP)

    def lose_the_writer(self, number):
        epochs = 8
        model = self.path("model")
        log, release = self.write("log", ""), self.path("release")
        self.slow.prefix += ["SHOAL_DISK_LOG=" + log,
                             f"SHOAL_DISK_HANGS=shard-0000{SERVERS}",
                             "SHOAL_DISK_RELEASE=" + release]
        self.slow.slow(self.data, .2)
        job = self.launch(epochs, "--model_dir=" + model,
                          "--save_checkpoint_steps=40")
        deadline = time.monotonic() + 60
        while not self.hangs(log):
            self.assertLess(time.monotonic(), deadline, job.process.output())
            time.sleep(.02)
        pid = job.pid("shoal-worker", 0)
        line = self.lose(job, 0, number)
        job.process.wait_for_line("is saved later: worker 0 was lost", 60, line)
        self.write("release", "")
        line = job.process.wait_for_line("saved " + model, 60, line)
        if number == signal.SIGSTOP:
            os.kill(pid, signal.SIGCONT)
            job.process.wait_for_line(
                "worker 0 was lost, and the job goes on without it", 60, line)
        self.slow.fast(self.data)
        self.expect_end(job, epochs, workers=2, lost=1)
        self.run_ok("shoal", "ckpt", "verify", model)

    def test_the_last_worker_ends_the_job_which_starts_again(self):
        epochs = 8
        self.slow.slow(self.data, .2)
        job = self.launch(epochs, "--model_dir=" + self.path("model"),
                          "--save_checkpoint_steps=40", workers=2)
        job.process.wait_for_line("saved ")
        pids = [job.pid("shoal-worker", victim) for victim in (0, 1)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        job.process.wait_for_line("no other worker has a copy", 60)
        job.process.wait_for_line("starting it again, restart 1 of 3", 60)
        self.slow.fast(self.data)
        summary = self.expect_end(job, epochs, workers=2, lost=0)
        self.assertGreater(summary["checkpoint"]["resumed_step"], 0)

    def test_a_server_ends_the_job_and_is_named(self):
        for changes in (False, True):
            with self.subTest(changes=changes):
                self.slow.slow(self.data, .2)
                job = self.launch(100)
                job.process.wait_for_line(harness.TRAINED)
                if changes:
                    os.kill(job.pid("shoal-worker", 1), signal.SIGKILL)
                os.kill(job.pid("shoal-ps", 1), signal.SIGKILL)
                self.slow.fast(self.data)
                self.assertEqual(job.process.wait(60), FAILED,
                                 job.process.output()[-6000:])
                self.assertRegex(self.summary()["exit_reason"], r"^ps 1\b")


if __name__ == "__main__":
    harness.main()
