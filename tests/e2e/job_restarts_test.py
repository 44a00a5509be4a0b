"""A job that loses a server, or all of its processes, is started again from its
newest checkpoint by `shoal run`; processes that were started one by one say by
their exit code that the same commands go on."""

import contextlib
import os
import random
import re
import signal
import threading

import harness
from cluster import PROBE, Cluster
from launched import Launched
from slow_data import SlowData

# tools/check.sh --long asks for more.
ROUNDS = int(os.environ.get("SHOAL_JOB_RESTARTS", "1"))
SEED = int(os.environ.get("SHOAL_JOB_RESTARTS_SEED",
                          str(random.randrange(2**32))))
ROWS = 20000
STOPPED = 3  # docs/commands.md
LOST = 138
QUICK = ["--silent_after=2s", "--ps_lease=2s", "--shutdown_timeout=1s"]
PROCESSES = [("shoal-ps", 0), ("shoal-ps", 1), ("shoal-worker", 0),
             ("shoal-worker", 1)]
RESTART = re.compile(
    r"shoal run \| \S+ warning the job failed: (.*); starting it again, restart (\d+) of "
    r"(\d+) since the newest checkpoint, from (?:\S+, step (\d+)|the start, "
    r"since no checkpoint is known)(?:; about (\d+) batches are trained again)?"
    r"$")


class JobRestartsTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        self.model_dir = self.path("model")
        print(f"SHOAL_JOB_RESTARTS_SEED={SEED}", flush=True)
        self.chance = random.Random(SEED)
        # Until all victims are killed, so that none of them is gone before.
        self.slow = SlowData(self)
        self.slow.slow(self.data, 0.3)

    def flags(self, epochs):
        return [*PROBE, "--batch_size=16", f"--num_epochs={epochs}",
                "--piece_bytes=16384", "--training_data_dir=" + self.data]

    def launch(self, epochs, *more):
        return Launched(self, "--ps=2", "--workers=2", "--canary", *QUICK,
                        "--model_dir=" + self.model_dir,
                        "--summary=" + self.path("summary.json"),
                        *self.flags(epochs), *more, prefix=self.slow.prefix)

    @staticmethod
    def kill(job, victims):
        """kill -9, one after the other; none of them if one is gone before."""
        pids = [job.pid(*victim) for victim in victims]
        os.kill(pids[0], signal.SIGKILL)
        for pid in pids[1:]:
            # It may have ended because the first one has.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def wait_for_restart(self, job, start):
        """The match of the launcher's line, and the number of the next line."""
        at = job.process.wait_for_line("; starting it again, restart ", 60,
                                       start)
        match = RESTART.search(job.process.lines[at])
        self.assertIsNotNone(match, job.process.lines[at])
        return match, at + 1

    def expect_exact(self, epochs):
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS * epochs)
        for shard in summary["canary"]:
            self.assertEqual(shard["rows"], summary["batches"]["trained"])
            self.assertEqual(shard["not_one"], 0, summary["canary"])
        self.run_ok("shoal", "train", *self.flags(epochs),
                    "--summary=" + self.path("serial.json"))
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])
        return summary

    def test_a_server_the_coordinator_and_all_are_killed_in_one_run(self):
        victims = [[("shoal-ps", 1)], [("shoal-ps", 0)], PROCESSES] * ROUNDS
        epochs = 6 + 4 * ROUNDS
        job = self.launch(epochs, "--save_checkpoint_steps=500")
        at = 0
        newest = 0
        again = 0
        for victim in victims:
            at = job.process.wait_for_line("; training stood still for", 60,
                                           at) + 1
            job.process.wait_for_line("push done", 30, at)
            threading.Event().wait(self.chance.uniform(0, 0.2))
            self.chance.shuffle(victim)
            self.kill(job, victim)
            match, at = self.wait_for_restart(job, at)
            why, number, most, step, batches = match.groups()
            self.assertIn("killed by SIGKILL", why)
            if len(victim) == 1:
                self.assertIn(victim[0][0][6:] + f" {victim[0][1]} ", why)
            # Each start has made a newer checkpoint than the one before.
            self.assertEqual((number, most), ("1", "3"))
            self.assertGreater(int(step), newest)
            newest = int(step)
            again += int(batches or 0)
            at = job.process.wait_for_line("resumed from", 30, at)
            self.assertIn(f"step {step}", job.process.lines[at])
        self.slow.fast(self.data)
        self.assertEqual(job.process.wait(200), 0,
                         job.process.output()[-4000:])
        self.assertIn(f"started again {len(victims)} times; about {again} "
                      "batches were trained twice", job.process.lines)
        self.expect_exact(epochs)

    def test_a_run_without_a_newer_checkpoint_is_given_up(self):
        job = self.launch(100000, "--max_job_restarts=1",
                          "--save_checkpoint_secs=0")
        job.process.wait_for_line("push done")
        self.kill(job, [("shoal-ps", 1)])
        match, at = self.wait_for_restart(job, 0)
        self.assertEqual(match.groups()[1:4], ("1", "1", None))
        job.process.wait_for_line("push done", 30, at)
        self.kill(job, [("shoal-ps", 1)])
        self.assertEqual(job.process.wait(30), LOST,
                         job.process.output()[-4000:])
        last = job.process.lines[-1]
        self.assertIn("; given up after 1 restart without a newer checkpoint",
                      last)
        self.assertIn(f"; there is no checkpoint in {self.model_dir}, so the "
                      "same command begins from the start", last)

    def test_a_run_that_never_resumes_goes_on_from_its_own_checkpoint(self):
        epochs = 4
        job = self.launch(epochs, "--save_checkpoint_steps=500",
                          "--resume=never")
        job.process.wait_for_line("; training stood still for")
        self.kill(job, [("shoal-ps", 1)])
        match, _ = self.wait_for_restart(job, 0)
        self.slow.fast(self.data)
        self.assertGreater(int(match[4]), 0)
        self.assertEqual(job.process.wait(60), 0, job.process.output()[-4000:])
        self.assertIn("a larger --num_epochs, without --resume=never, trains on "
                      f"from {self.model_dir}", job.process.lines[-1])
        self.expect_exact(epochs)

    def test_a_run_that_never_resumes_takes_no_other_checkpoint(self):
        epochs = 4
        self.run_ok("shoal", "train", *self.flags(1),
                    "--model_dir=" + self.model_dir)
        # Server 0, which is started after the launcher has read it, cannot tell
        # that there is a checkpoint before server 1 is killed.
        self.slow.slow("manifest.json", 5, 0)
        job = self.launch(epochs, "--resume=never")
        self.kill(job, [("shoal-ps", 1)])
        job.process.wait_for_line("ps 1 was killed by SIGKILL")
        self.slow.fast("manifest.json")
        self.assertEqual(job.process.wait(60), 2, job.process.output()[-4000:])
        self.assertNotIn("resumed from", job.process.output())

    def test_a_stop_and_a_mistake_are_no_reason_to_start_again(self):
        job = self.launch(100000)
        job.process.wait_for_line("push done")
        os.kill(job.pid("shoal-ps", 1), signal.SIGTERM)
        self.assertEqual(job.process.wait(30), STOPPED,
                         job.process.output()[-4000:])
        self.assertNotIn("starting it again", job.process.output())
        refused = self.launch(100000, "--resume=never")
        self.assertEqual(refused.process.wait(30), 2)
        self.assertNotIn("starting it again", refused.process.output())

    def test_each_process_says_whether_the_same_commands_go_on(self):
        for victim, more, code in ((1, ["--model_dir=" + self.model_dir], LOST),
                                   (0, ["--model_dir=" + self.model_dir], LOST),
                                   (1, [], 1)):
            cluster = Cluster(self, 2, 2, self.flags(100000) + QUICK + more +
                              ["--log_level=debug"])
            cluster.start_all()
            for worker in cluster.workers:
                worker.wait_for_line("push done ")
            cluster.ps[victim].signal(signal.SIGKILL)
            for process in cluster.ps + cluster.workers:
                if process is cluster.ps[victim]:
                    continue
                self.assertEqual(process.wait(40), code,
                                 process.output()[-2000:])


if __name__ == "__main__":
    harness.main()
