"""Files and directories that a user may not read or write. Root may all, so
where the tests are root's the programs run as nobody."""

import os
import shutil
import subprocess
import unittest

import harness
from cluster import PROBE

NOBODY = 65534


class PermissionsTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.user = None
        if os.geteuid() == 0:
            self.user = self.nobody()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(200))
        self.model_dir = self.path("model")
        os.makedirs(self.model_dir)
        self.let_in(self.dir)
        self.flags = [*PROBE, "--batch_size=16"]

    def nobody(self):
        """The user that programs run as; they must be in its reach."""
        try:
            subprocess.run([os.path.join(harness.BIN, "shoal"), "--help"],
                           user=NOBODY, group=NOBODY, extra_groups=[],
                           check=True, capture_output=True)
        except (OSError, subprocess.SubprocessError) as error:
            self.skipTest(f"nobody cannot run the programs: {error}")
        return NOBODY

    def let_in(self, top):
        for directory, _, files in os.walk(top):
            os.chmod(directory, 0o755)
            for name in files:
                os.chmod(os.path.join(directory, name), 0o644)

    def expect_denied(self, what, *args):
        """Says so about `what`, as a mistake of the command."""
        code, output = self.run_fails(*args, user=self.user)
        self.assertIn("Permission denied", output)
        self.assertIn(what, output)
        self.assertEqual(code, 2, output)
        return output

    def commands(self, *more):
        return [("shoal", "train", *self.flags, *more),
                ("shoal", "run", "--ps=1", "--workers=1", *self.flags, *more)]

    def test_what_may_be_read_and_written_is(self):
        """So that the tests below fail for their reason alone."""
        shutil.chown(self.model_dir, self.user or os.geteuid())
        for i, command in enumerate(self.commands(
                "--training_data_dir=" + self.data)):
            directory = os.path.join(self.model_dir, str(i))
            self.run_ok(*command, "--model_dir=" + directory, user=self.user)
            self.assertTrue(os.path.exists(os.path.join(directory, "LOCK")))

    def test_a_data_file_that_may_not_be_read(self):
        os.chmod(self.data, 0)
        for command in self.commands("--training_data_dir=" + self.data):
            output = self.expect_denied(self.data, *command)
            self.assertIn("--training_data_dir", output)
        for command in self.commands("--training_data_dir=" +
                                     self.write("more/te.libsvm", "1 2:1\n"),
                                     "--val_data_dir=" + self.data):
            self.let_in(self.path("more"))
            output = self.expect_denied(self.data, *command)
            self.assertIn("--val_data_dir", output)

    def test_one_file_of_a_directory_that_may_not_be_read(self):
        secret = self.write("data/zz.libsvm", harness.linear_rows(10))
        os.chmod(secret, 0)
        for command in self.commands("--training_data_dir=" +
                                     self.path("data")):
            self.expect_denied(secret, *command)

    def test_a_directory_that_may_not_be_listed(self):
        os.chmod(self.path("data"), 0)
        for command in self.commands("--training_data_dir=" +
                                     self.path("data")):
            self.expect_denied(self.path("data"), *command)
        os.chmod(self.path("data"), 0o755)

    def test_a_model_directory_that_may_not_be_written(self):
        for directory in (self.model_dir, os.path.join(self.model_dir, "new")):
            for command in self.commands("--training_data_dir=" + self.data):
                output = self.expect_denied(directory, *command,
                                            "--model_dir=" + directory)
                self.assertIn("--model_dir", output)


if __name__ == "__main__":
    harness.main()
