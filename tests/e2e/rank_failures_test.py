"""A ring goes on without a rank that was killed, frozen or cut off, whatever the
rank did at that moment: the others end with the serial run's weights, with every
batch applied once on every replica that is left. (hybrid_failures_test.py has hybrid.)"""

import os
import random
import re
import signal
import subprocess
import time

import harness
import namespaces
from exact_jobs import ExactJobsTest
from launched import Launched
from slow_data import SlowData

TEST_ROWS = 2000
SILENT_AFTER = 3  # seconds
# Where a rank is killed: its silence does not name it.
NEVER_SILENT = ["--silent_after=60s", "--ps_lease=60s"]
KILLS = int(os.environ.get("SHOAL_RANK_KILLS", "4"))
OK = 0  # docs/commands.md


class RankFailuresTest(ExactJobsTest):

    def setUp(self):
        super().setUp()
        self.slow = SlowData(self)

    def launch(self, epochs, *more, ranks=4):
        return Launched(self, *self.probe_flags(epochs), "--mode=ring",
                        f"--workers={ranks}", "--canary",
                        f"--silent_after={SILENT_AFTER}s",
                        f"--ps_lease={SILENT_AFTER}s", "--shutdown_timeout=1s",
                        "--progress_every=100ms",
                        "--summary=" + self.path("summary.json"), *more,
                        prefix=self.slow.prefix)

    def expect_end(self, process, epochs, replicas):
        self.assertEqual(process.wait(120), OK, process.output()[-6000:])
        return self.expect_exact(epochs, replicas)

    def lose(self, job, victim, number, within, start=0):
        """Signals the victim's process; returns the index of the line that
        names it. It must come within so many seconds."""
        os.kill(job.pid("shoal-worker", victim), number)
        began = time.monotonic()
        line = job.process.wait_for_line(
            re.compile(rf"worker {victim} (died|was silent)"), 60, start)
        # With room for a busy machine.
        self.assertLess(time.monotonic() - began, within + 5)
        return line

    def test_killed_ranks_are_named_and_the_others_go_on(self):
        epochs = 8
        self.slow.slow(self.data, 1)
        job = self.launch(epochs, *NEVER_SILENT)
        job.process.wait_for_line(harness.TRAINED)
        line = self.lose(job, 2, signal.SIGKILL, within=1)
        line = job.process.wait_for_line(harness.TRAINED, 60, line)
        self.lose(job, 1, signal.SIGKILL, within=1, start=line)
        job.process.wait_for_line(harness.TRAINED, 60, line + 1)
        self.slow.fast(self.data)
        self.expect_end(job.process, epochs, replicas=2)
        # It is started again with the next start of the job.
        self.assertNotIn("starting it again", job.process.output())

    def test_two_ranks_die_at_once(self):
        epochs = 8
        self.slow.slow(self.data, 1)
        job = self.launch(epochs, *NEVER_SILENT)
        job.process.wait_for_line(harness.TRAINED)
        pids = [job.pid("shoal-worker", victim) for victim in (3, 1)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.slow.fast(self.data)
        self.expect_end(job.process, epochs, replicas=2)

    def test_ranks_die_at_any_time(self):
        """The seconds are those of `seed`: to be tried again with it."""
        epochs = 12
        seed = int(os.environ.get("SHOAL_SEED", str(os.getpid())))
        chance = random.Random(seed)
        for kill in range(KILLS):
            with self.subTest(kill=kill, seed=seed):
                self.slow.slow(self.data, .05)
                job = self.launch(epochs, ranks=3)
                job.process.wait_for_line(harness.TRAINED)
                victim = job.pid("shoal-worker", chance.choice((1, 2)))
                time.sleep(chance.uniform(0, .7))  # any moment will do
                os.kill(victim, signal.SIGKILL)
                self.slow.fast(self.data)
                self.assertEqual(job.process.wait(120), OK,
                                 job.process.output()[-6000:])
                self.expect_end(job.process, epochs, replicas=2)

    def test_a_frozen_rank_is_named_and_harms_nothing_when_it_thaws(self):
        epochs = 8
        self.slow.slow(self.data, 1)
        job = self.launch(epochs, ranks=3)
        job.process.wait_for_line(harness.TRAINED)
        pid = job.pid("shoal-worker", 1)
        line = self.lose(job, 1, signal.SIGSTOP, within=SILENT_AFTER + 1)
        job.process.wait_for_line(harness.TRAINED, 60, line + 1)
        os.kill(pid, signal.SIGCONT)
        job.process.wait_for_line(
            "worker 1 was lost, and the job goes on without it", 60, line)
        self.slow.fast(self.data)
        self.expect_end(job.process, epochs, replicas=2)

    def test_a_short_pause_is_no_death(self):
        epochs = 8
        self.slow.slow(self.data, .2)
        job = self.launch(epochs, "--silent_after=20s", "--ps_lease=20s",
                          ranks=3)
        job.process.wait_for_line(harness.TRAINED)
        pid = job.pid("shoal-worker", 2)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(2)  # the length of the pause
        os.kill(pid, signal.SIGCONT)
        self.slow.fast(self.data)
        self.expect_end(job.process, epochs, replicas=3)

    def test_a_rank_dies_while_it_evaluates(self):
        test = self.write("test/te.libsvm", harness.linear_rows(TEST_ROWS))
        epochs = 2
        self.slow.hold(test)
        job = self.launch(epochs, "--val_data_dir=" + test, *NEVER_SILENT,
                          ranks=3)
        job.process.wait_for_line(re.compile(r"\beval \d+ %"), 60)
        self.lose(job, 2, signal.SIGKILL, within=1)
        self.slow.fast(test)
        summary = self.expect_end(job.process, epochs, replicas=2)
        self.assertEqual(summary["eval"]["examples"], TEST_ROWS)

    def test_a_rank_dies_while_the_job_saves(self):
        """The disk of rank 0, which writes, stands still meanwhile."""
        epochs = 8
        model = self.path("model")
        self.slow.hang("sync", ".safetensors")
        self.slow.slow(self.data, .2)
        job = self.launch(epochs, "--model_dir=" + model,
                          "--save_checkpoint_steps=40", ranks=3)
        self.slow.wait_for_hang(job.process)
        line = self.lose(job, 1, signal.SIGKILL, within=1)
        job.process.wait_for_line(harness.TRAINED, 60, line + 1)
        self.slow.let_go()
        self.slow.fast(self.data)
        self.expect_end(job.process, epochs, replicas=2)
        self.run_ok("shoal", "ckpt", "verify", model)

    def test_the_loss_of_rank_0_ends_the_job_and_the_same_command_resumes(self):
        epochs = 8
        more = ["--model_dir=" + self.path("model"),
                "--save_checkpoint_steps=100", "--max_job_restarts=0"]
        self.slow.slow(self.data, .2)
        job = self.launch(epochs, *more, ranks=3)
        job.process.wait_for_line(re.compile("saved|checkpoint .* is complete"))
        os.kill(job.pid("shoal-worker", 0), signal.SIGKILL)
        killed = time.monotonic()
        self.assertNotEqual(job.process.wait(60), OK)
        self.assertLess(time.monotonic() - killed, 10 + 5)
        self.assertRegex(job.process.lines[-1], r"(worker|rank) 0\b")
        self.slow.fast(self.data)
        self.expect_end(self.launch(epochs, *more, ranks=3).process, epochs,
                        replicas=3)

    def test_a_rank_that_is_cut_off_is_named_and_the_others_go_on(self):
        """Three hosts in namespaces; the third one loses its link."""
        reason = namespaces.why_not()
        if reason:
            self.skipTest(reason)
        network = namespaces.Network("10.213.49", 3)
        self.addCleanup(network.remove)
        try:
            network.make()
        except subprocess.CalledProcessError as error:
            self.skipTest(f"{' '.join(error.cmd)}: {error.stderr.strip()}")
        epochs = 8
        self.slow.slow(self.data, 1)
        hosts = [network.addresses[0] + ":2223", *network.addresses[1:]]
        token = self.token_file()
        ranks = [self.start(
            f"rank {i}", "shoal-worker", *self.probe_flags(epochs), "--mode=ring",
            f"--task_index={i}", "--worker_hosts=" + ",".join(hosts),
            "--token_file=" + token, "--canary", "--progress_every=100ms",
            f"--silent_after={SILENT_AFTER}s", f"--ps_lease={SILENT_AFTER}s",
            "--summary=" + self.path("summary.json"),
            prefix=[*network.on(i), *self.slow.prefix]) for i in range(3)]
        ranks[0].wait_for_line(harness.TRAINED)
        namespaces.ip("-n", network.hub, "link", "set", "port2", "down")
        began = time.monotonic()
        line = ranks[0].wait_for_line(
            re.compile("worker 2 (died|was silent)"), 60)
        self.assertLess(time.monotonic() - began, SILENT_AFTER + 1 + 5)
        ranks[0].wait_for_line(harness.TRAINED, 60, line + 1)
        self.slow.fast(self.data)
        self.assertEqual(ranks[1].wait(120), OK, ranks[1].output()[-3000:])
        self.expect_end(ranks[0], epochs, replicas=2)
        # It knows that it has lost the others.
        self.assertNotEqual(ranks[2].wait(120), OK)


if __name__ == "__main__":
    harness.main()
