"""`shoal token`, and which files of a token are accepted."""

import os
import shutil
import stat
import subprocess

import harness
from cluster import PROBE, Cluster

NOBODY = 65534
SECRETS = 4217  # a group that has no name here
# A command that reads its token and then finds no job.
READER = ["shoal", "ckpt", "save", "--ps_hosts=127.0.0.1:1", "--timeout=100ms"]


def as_other_user():
    """The beginning of a command that runs as nobody in the group SECRETS, or
    the reason why there is none."""
    if os.geteuid() != 0:
        return None, "only root can make a file of root, and change the user"
    if shutil.which("setpriv") is None:
        return None, "setpriv is not installed (Debian package util-linux)"
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
              f"--groups={SECRETS}"]
    tried = subprocess.run(
        prefix + [os.path.join(harness.BIN, "shoal"), "--version"],
        capture_output=True, text=True)
    if tried.returncode != 0:
        return None, "nobody cannot run the programs: " + tried.stderr.strip()
    return prefix, None


class MakeTokenTest(harness.ShoalTest):

    def refused(self, *args, code=2):
        got, output = self.run_fails("shoal", "token", *args)
        self.assertEqual(got, code, output)
        return output

    def test_a_token_is_new_and_only_its_owner_can_read_it(self):
        tokens = set()
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        for name in ("a", "b"):
            path = self.path(name)
            self.assertIn("--token_file=" + path,
                          self.run_ok("shoal", "token", path))
            info = os.stat(path)
            self.assertEqual(stat.S_IMODE(info.st_mode), 0o600)
            with open(path) as file:
                tokens.add(file.read())
        self.assertEqual(len(tokens), 2)
        for token in tokens:
            self.assertRegex(token, r"\A[0-9a-f]{64}\n\Z")

    def test_nothing_is_ever_replaced(self):
        path = self.token_file()
        output = self.refused(path)
        self.assertIn(path, output)
        self.assertIn("choose another name", output)
        with open(path) as file:
            self.assertEqual(file.read(), "a-token-of-the-tests\n")
        # A link to nothing is something: its target could be anywhere.
        os.symlink(self.path("far"), self.path("link"))
        self.refused(self.path("link"))
        self.assertFalse(os.path.exists(self.path("far")))
        self.refused(self.dir)

    def test_mistakes_are_named(self):
        self.assertIn("name the file", self.refused())
        self.assertIn(f"'{self.path('b')}' is a second one",
                      self.refused(self.path("a"), self.path("b")))
        self.assertFalse(os.path.exists(self.path("a")))
        self.assertIn("'-'", self.refused("-"))
        self.assertIn("has no flag", self.refused("-f"))
        missing = self.path("missing", "token")
        self.assertIn(missing, self.refused(missing))
        self.assertIn("--bytes", self.refused(self.path("a"), "--bytes=64"))
        self.assertIn("FILE", self.run_ok("shoal", "token", "--help"))

    def test_a_job_runs_with_it(self):
        self.run_ok("shoal", "token", self.path("made"))
        cluster = Cluster(self, 1, 1, PROBE, worker_flags=[
            "--training_data_dir=" + self.write("data/tr.libsvm",
                                                harness.linear_rows(200))])
        cluster.common[2] = "--token_file=" + self.path("made")
        cluster.start_all().wait_all()


class MountedTokenTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.prefix, reason = as_other_user()
        if reason:
            self.skipTest(reason)
        os.chmod(self.dir, 0o755)

    def secret(self, owner, mode, name="secret"):
        path = self.token_file(name)
        os.chown(path, owner, SECRETS)
        os.chmod(path, mode)
        return path

    def read(self, path):
        """(exit code, output) of a command of nobody that reads the token.
        The code is 1 if it was accepted: there is no job."""
        process = self.start("reader", *READER, "--token_file=" + path,
                             prefix=self.prefix)
        return process.wait(), process.output()

    def test_a_server_of_another_user_reads_what_root_has_mounted(self):
        for mode in (0o440, 0o640):
            cluster = Cluster(
                self, 1, 1, PROBE, ps_prefix=self.prefix, worker_flags=[
                    "--training_data_dir=" + self.write(
                        "data/tr.libsvm", harness.linear_rows(200))])
            secret = self.secret(0, mode)
            cluster.common[2] = "--token_file=" + secret
            cluster.start_all().wait_all()

    def test_who_may_read_it_decides(self):
        accepted = [(0, 0o440), (0, 0o640), (NOBODY, 0o600), (NOBODY, 0o400)]
        refused = [(0, 0o444), (0, 0o644), (0, 0o660), (0, 0o441), (0, 0o450),
                   (NOBODY, 0o440), (NOBODY, 0o640), (NOBODY, 0o604)]
        for owner, mode in accepted:
            code, output = self.read(self.secret(owner, mode))
            self.assertEqual(code, 1, (owner, oct(mode), output))
            self.assertIn("ps 0", output)
        for owner, mode in refused:
            code, output = self.read(self.secret(owner, mode))
            self.assertEqual(code, 2, (owner, oct(mode), output))
            for words in (f"0{mode:o}", "0600", "0440", "chmod 600"):
                self.assertIn(words, output)

    def test_a_link_to_a_mounted_secret_is_followed(self):
        """As Kubernetes mounts them: token -> ..data/token."""
        os.makedirs(self.path("..data"), 0o755)
        self.secret(0, 0o440, "..data/token")
        os.symlink("..data/token", self.path("token"))
        code, output = self.read(self.path("token"))
        self.assertEqual(code, 1, output)

    def test_a_token_of_another_group_cannot_be_opened(self):
        path = self.secret(0, 0o440)
        os.chown(path, 0, 0)
        code, output = self.read(path)
        self.assertEqual(code, 2, output)
        self.assertIn("Permission denied", output)


if __name__ == "__main__":
    harness.main()
