"""`shoal ckpt save MODEL_DIR` reaches the job that holds the directory, and says
why where it cannot."""

import os
import re
import shutil
import signal
import stat

import harness
from cluster import PROBE
from launched import Launched

ROWS = 4000


class LocalSavesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        self.model_dir = self.path("model")

    def endless(self):
        return [*PROBE, "--batch_size=16", "--num_epochs=1000000",
                "--save_checkpoint_secs=0s",
                "--training_data_dir=" + self.data,
                "--model_dir=" + self.model_dir]

    def save(self, directory=None):
        return self.run_ok("shoal", "ckpt", "save",
                           directory or self.model_dir).strip()

    def expect_refused(self, code, why, *args, **keywords):
        exit_code, said = self.run_fails("shoal", "ckpt", "save", *args,
                                         **keywords)
        self.assertIn(why, said)
        self.assertEqual(exit_code, code, said)

    def expect_saved(self, directory=None):
        path = self.save(directory)
        self.assertRegex(os.path.basename(path), r"^ckpt-\d{11}$")
        self.run_ok("shoal", "ckpt", "verify", path)
        return path

    def socket(self):
        """The socket that LOCK names."""
        with open(os.path.join(self.model_dir, "LOCK")) as lock:
            return re.search(r"save socket on \S+: (\S+)", lock.read())[1]

    def test_jobs_of_many_processes_and_of_one_are_saved(self):
        for name, command in (
                ("run", ["shoal", "run", "--ps=2", "--workers=1"]),
                ("train", ["shoal", "train"])):
            job = self.start(name, *command, *self.endless())
            job.wait_for_line(harness.TRAINED)
            first = self.expect_saved()
            # Any name of the directory does.
            link = self.path("link " + name)
            os.symlink(self.model_dir, link)
            self.assertGreater(self.expect_saved(link + "/"), first)
            path = self.socket()
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            self.assertEqual(
                stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700)
            job.signal(signal.SIGTERM)
            self.assertEqual(job.wait(), 3)
            self.assertFalse(os.path.exists(os.path.dirname(path)))
            self.expect_refused(1, "no job holds " + self.model_dir,
                                self.model_dir)

    def test_a_job_that_was_killed_is_gone_and_the_next_one_is_saved(self):
        job = self.start("first", "shoal", "train", *self.endless())
        job.wait_for_line(harness.TRAINED)
        stale = self.socket()
        job.kill()
        self.assertTrue(os.path.exists(stale))
        self.expect_refused(1, "the job that held " + self.model_dir +
                            " is gone", self.model_dir)
        job = self.start("second", "shoal", "train", *self.endless())
        job.wait_for_line(harness.TRAINED)
        self.expect_saved()
        self.assertFalse(os.path.exists(os.path.dirname(stale)))
        # A copy of the directory is not the job's.
        copy = self.path("copy")
        shutil.copytree(self.model_dir, copy)
        self.expect_refused(1, "no job holds " + copy, copy)
        os.kill(job.popen.pid, signal.SIGINT)
        self.assertEqual(job.wait(), 3)

    def test_a_server_zero_that_was_killed_is_gone(self):
        job = Launched(self, "--ps=2", "--workers=1", "--max_job_restarts=0",
                       *self.endless())
        job.process.wait_for_line("push done")
        path = self.socket()
        os.kill(job.pid("shoal-ps", 0), signal.SIGKILL)
        # The other server may still hold its lock.
        self.expect_refused(1, " is gone: pid ", self.model_dir)
        self.assertNotEqual(job.process.wait(30), 0)
        # The launcher removes what the killed server has left.
        self.assertFalse(os.path.exists(os.path.dirname(path)))

    def test_what_is_no_job_is_refused_with_its_reason(self):
        self.expect_refused(2, "name the job")
        self.expect_refused(2, "a second one", "a", "b")
        self.expect_refused(2, "names the job already", "a",
                            "--ps_hosts", "h:1")
        self.expect_refused(2, "No such file", self.path("none"))
        self.expect_refused(2, "is not a model directory", self.dir)
        self.run_ok("shoal", "train", *PROBE, "--batch_size=16",
                    "--training_data_dir=" + self.data,
                    "--model_dir=" + self.model_dir)
        self.expect_refused(1, "no job holds", self.model_dir)
        checkpoint = next(name for name in os.listdir(self.model_dir)
                          if name.startswith("ckpt-"))
        self.expect_refused(2, "is a checkpoint; give the directory that "
                            "holds it: " + self.model_dir,
                            os.path.join(self.model_dir, checkpoint))
        self.expect_refused(2, "data", self.data)

    def test_another_user_is_refused(self):
        if os.getuid() != 0:
            self.skipTest("needs root, to be another user")
        job = self.start("train", "shoal", "train", *self.endless())
        job.wait_for_line(harness.TRAINED)
        os.chmod(self.dir, 0o755)
        os.chmod(self.model_dir, 0o755)
        self.expect_refused(2, "runs as another user", self.model_dir,
                            user=65534)
        self.expect_saved()
        job.signal(signal.SIGTERM)
        self.assertEqual(job.wait(), 3)


if __name__ == "__main__":
    harness.main()
