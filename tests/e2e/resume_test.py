"""Jobs that save, die or are stopped, and go on: over real processes."""

import fcntl
import os
import signal
import subprocess
import time
import unittest

import harness
from cluster import PROBE, Cluster
from launched import Launched
from slow_data import SlowData

ROWS = 20000
EPOCHS = 6
FLAGS = ["--batch_size=16", f"--num_epochs={EPOCHS}", "--piece_bytes=16384"]
STOPPED = 3  # docs/commands.md


class ResumeTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        self.model_dir = self.path("model")
        # A job that is started with the prefix is not over before it is ended.
        self.slow = SlowData(self)
        self.slow.slow(self.data, 0.3)
        self.common = ["--training_data_dir=" + self.data, *PROBE]
        self.saving = [*self.common, *FLAGS, "--canary",
                       "--model_dir=" + self.model_dir,
                       "--summary=" + self.path("summary.json")]

    digest = None  # of each test's job, whose data and flags are the same

    def serial_digest(self):
        if self.digest is None:
            self.run_ok("shoal", "train", *self.common, *FLAGS,
                        "--summary=" + self.path("serial.json"))
            ResumeTest.digest = self.summary("serial.json")["digest"]
        return self.digest

    def expect_each_sample_once(self, digest):
        """The whole job, over all of its runs."""
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS * EPOCHS)
        self.assertEqual(summary["digest"], digest)
        for shard in summary["canary"]:
            self.assertEqual(shard["rows"], summary["batches"]["trained"])
            self.assertEqual(shard["not_one"], 0, summary["canary"])
        return summary

    def expect_resumed(self, summary):
        checkpoint = summary["checkpoint"]
        self.assertIn(self.model_dir, checkpoint["resumed_from"])
        self.assertGreater(checkpoint["resumed_step"], 0)
        self.assertLess(checkpoint["resumed_step"],
                        summary["batches"]["trained"])

    def wait_until_unlocked(self):
        """Until no process holds the model directory: those whose parent dies
        are killed by the system, but may still wait for the disk."""
        with open(os.path.join(self.model_dir, "LOCK"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

    def test_everything_dies_and_goes_on(self):
        """A worker is killed between two checkpoints, and then everything."""
        digest = self.serial_digest()
        job = Launched(self, "--ps=2", "--workers=2", *self.saving,
                       "--save_checkpoint_secs=300ms", prefix=self.slow.prefix)
        at = job.process.wait_for_line("saved " + self.model_dir)
        os.kill(job.pid("shoal-worker", 1), signal.SIGKILL)
        at = job.process.wait_for_line("worker 1 was killed", start=at)
        job.process.wait_for_line("saved " + self.model_dir, start=at)
        job.process.kill()  # and with it all that it started
        self.wait_until_unlocked()
        self.run_ok("shoal", "run", "--ps=2", "--workers=2", *self.saving,
                    "--save_checkpoint_steps=2000")
        self.expect_resumed(self.expect_each_sample_once(digest))

    def test_sigterm_saves_and_other_processes_go_on(self):
        digest = self.serial_digest()
        job = Launched(self, "--ps=2", "--workers=2", *self.saving,
                       "--save_checkpoint_steps=500", prefix=self.slow.prefix)
        job.process.wait_for_line("saved " + self.model_dir)
        begin = time.monotonic()
        job.process.signal(signal.SIGTERM)
        self.assertEqual(job.process.wait(30), STOPPED, job.process.output())
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("the same command goes on", job.process.output())
        step = self.summary()["checkpoint"]["step"]
        self.assertEqual(step, self.summary()["batches"]["trained"])
        self.run_ok("shoal", "run", "--ps=3", "--workers=1", *self.saving)
        summary = self.expect_each_sample_once(digest)
        self.expect_resumed(summary)
        self.assertEqual(summary["checkpoint"]["resumed_step"], step)

    def test_sighup_saves_as_sigterm_does(self):
        """The terminal is gone: of one process, and of a whole job, which
        stays even when each of its processes hears of it, as they do."""
        digest = self.serial_digest()
        job = self.start("train", "shoal", "train", "--log_level=debug",
                         *self.saving, prefix=self.slow.prefix)
        job.wait_for_line("marked (")
        job.signal(signal.SIGHUP)
        self.assertEqual(job.wait(30), STOPPED, job.output()[-3000:])
        self.assertIn("stopped by SIGHUP; saved", job.output())
        step = self.summary()["checkpoint"]["step"]
        self.assertEqual(step, self.summary()["batches"]["trained"])

        job = Launched(self, "--ps=1", "--workers=2", *self.saving,
                       prefix=self.slow.prefix)
        job.process.wait_for_line("marked (")
        job.process.signal(signal.SIGHUP)
        self.assertEqual(job.process.wait(30), STOPPED, job.process.output())
        self.assertIn("stopped by SIGHUP; saved", job.process.output())
        checkpoint = self.summary()["checkpoint"]
        self.assertEqual(checkpoint["resumed_step"], step)
        self.assertGreater(checkpoint["step"], step)
        self.run_ok("shoal", "run", "--ps=2", "--workers=1", *self.saving)
        self.expect_resumed(self.expect_each_sample_once(digest))

    def test_sigterm_of_one_process(self):
        digest = self.serial_digest()
        job = self.start("train", "shoal", "train", "--log_level=debug",
                         *self.saving, prefix=self.slow.prefix)
        job.wait_for_line("marked (")
        job.signal(signal.SIGTERM)
        self.assertEqual(job.wait(30), STOPPED, job.output()[-3000:])
        self.run_ok("shoal", "train", *self.saving)
        self.expect_resumed(self.expect_each_sample_once(digest))

    def test_sigterm_of_the_second_server_saves_too(self):
        digest = self.serial_digest()
        job = Launched(self, "--ps=2", "--workers=2", *self.saving,
                       prefix=self.slow.prefix)
        job.process.wait_for_line("marked (")
        os.kill(job.pid("shoal-ps", 1), signal.SIGTERM)
        self.assertEqual(job.process.wait(60), STOPPED, job.process.output())
        self.assertIn("shoal run: ps 1 was stopped by SIGTERM; saved",
                      job.process.output())
        self.run_ok("shoal", "run", "--ps=2", "--workers=2", *self.saving)
        self.expect_resumed(self.expect_each_sample_once(digest))

    def test_everybody_exits_as_stopped_where_one_server_was(self):
        for stopped in (0, 1):
            cluster = Cluster(
                self, 2, 1, [*PROBE, "--batch_size=16", "--num_epochs=10000",
                             "--log_level=debug",
                             f"--model_dir={self.model_dir}-{stopped}"],
                worker_flags=["--training_data_dir=" + self.data])
            cluster.start_all()
            cluster.workers[0].wait_for_line("push done")
            cluster.ps[stopped].signal(signal.SIGTERM)
            for process in cluster.ps + cluster.workers:
                self.assertEqual(process.wait(30), STOPPED,
                                 process.output()[-3000:])
                self.assertIn(f"the job was stopped: ps {stopped} was stopped "
                              "by SIGTERM; saved", process.lines[-1]
                              if process is not cluster.ps[0]
                              else process.output())

    def test_a_running_job_is_saved_by_a_command(self):
        cluster = Cluster(self, 2, 1, [*PROBE, "--batch_size=16",
                                       "--num_epochs=100000",
                                       "--log_level=debug"],
                          ps_flags=["--model_dir=" + self.model_dir],
                          worker_flags=["--training_data_dir=" + self.data])
        cluster.start_all()
        cluster.workers[0].wait_for_line("push done")
        ask = ["shoal", "ckpt", "save", "--ps_hosts=" + cluster.hosts[0]]
        path = self.run_ok(*ask, "--token_file=" + self.path("token")).strip()
        self.assertTrue(os.path.exists(os.path.join(path, "manifest.json")),
                        path)
        _, output = self.run_fails(*ask, "--token_file=" + self.token_file(
            "other", "another-token-of-the-tests"))
        self.assertIn("token", output)
        cluster.ps[0].signal(signal.SIGINT)
        self.assertEqual(cluster.ps[0].wait(30), STOPPED)

    def test_a_model_directory_is_of_one_job(self):
        first = self.start("first", "shoal", "train", "--log_level=debug",
                           *self.saving, prefix=self.slow.prefix)
        first.wait_for_line("push done")
        code, output = self.run_fails("shoal", "train", *self.saving)
        self.assertEqual(code, 2)
        self.assertIn(f"pid {first.popen.pid} on", output)
        first.signal(signal.SIGINT)
        self.assertEqual(first.wait(30), STOPPED)

    def test_what_does_not_fit_is_refused_by_name(self):
        small = ["--batch_size=16", "--num_epochs=1",
                 "--model_dir=" + self.model_dir]
        _, output = self.run_fails("shoal", "train", *self.common, *small,
                                   "--resume=must")
        self.assertIn("--resume=must", output)
        output = self.run_ok("shoal", "train", *self.common, *small)
        self.assertIn("starts from initial weights", output)
        _, output = self.run_fails("shoal", "train", *self.common, *small,
                                   "--shuffle_rows=32")
        self.assertIn("--shuffle_rows differs", output)
        _, output = self.run_fails("shoal", "train", *self.common, *small,
                                   "--resume=never")
        self.assertIn("--resume=never", output)
        with open(self.data, "a") as file:
            file.write(harness.linear_rows(1, seed=2))
        _, output = self.run_fails("shoal", "train", *self.common, *small)
        self.assertIn("the checkpoint was trained on 'tr.libsvm'", output)

    def test_a_file_whose_bytes_changed_is_named(self):
        """Behind the part that is compared at the start, and as many rows."""
        flags = ["--batch_size=64", "--model_dir=" + self.model_dir]
        self.run_ok("shoal", "train", *self.common, *flags, "--num_epochs=1")
        os.utime(self.data, (1, 1))
        self.run_ok("shoal", "train", *self.common, *flags, "--num_epochs=2")
        with open(self.data, "r+b") as file:
            text = file.read()
            at = text.rindex(b":1")
            file.seek(at)
            file.write(b":2")
        self.assertGreater(at, 65536)
        _, output = self.run_fails("shoal", "train", *self.common, *flags,
                                   "--num_epochs=3")
        self.assertIn("tr.libsvm", output)
        self.assertIn("has other bytes", output)

    def mount_model_dir(self, size):
        """A disk of this size in the place of the model directory."""
        os.makedirs(self.model_dir)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs",
             self.model_dir], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("no tmpfs can be mounted here")
        # Lazily: a process that a failed test leaves may still use it.
        self.addCleanup(subprocess.run, ["umount", "-l", self.model_dir],
                        check=True)

    def test_a_full_disk_that_has_space_again_costs_nothing(self):
        self.mount_model_dir("2m")
        job = self.start("run", "shoal", "run", "--ps=2", "--workers=2",
                         *self.saving, prefix=self.slow.prefix)
        job.wait_for_line(harness.TRAINED)
        filler = os.path.join(self.model_dir, "filler")
        with open(filler, "wb", buffering=0) as file:
            with self.assertRaises(OSError):
                while True:
                    file.write(b"x" * 4096)
        self.slow.fast(self.data)
        job.wait_for_line("the last checkpoint is tried again in 2s")
        os.remove(filler)
        self.assertEqual(job.wait(), 0, job.output()[-3000:])
        self.assertGreaterEqual(self.summary()["checkpoint"]["voided"], 1)
        self.run_ok("shoal", "ckpt", "verify", self.model_dir)

    def test_a_full_disk_ends_no_training_but_the_job_says_so(self):
        self.mount_model_dir("40k")
        wide = [flag.replace("--embedding_size=3", "--embedding_size=64")
                for flag in self.saving]
        job = self.start("run", "shoal", "run", "--ps=2", "--workers=2", *wide,
                         "--save_checkpoint_steps=500",
                         "--save_retry_timeout=3s", prefix=self.slow.prefix)
        job.wait_for_line("No space left")
        self.slow.fast(self.data)
        self.assertEqual(job.wait(), 1, job.output()[-3000:])
        self.assertIn("the last checkpoint is tried again in 2s", job.output())
        summary = self.summary()
        self.assertEqual(summary["samples"]["trained"], ROWS * EPOCHS)
        self.assertGreaterEqual(summary["checkpoint"]["voided"], 2)


if __name__ == "__main__":
    harness.main()
