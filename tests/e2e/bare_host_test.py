"""A bare Debian 12, on which nothing but Shoal's package is installed, takes
part in a job. debootstrap makes the tree; the programs run in it by chroot, on
this host's loopback. Takes minutes, and a mirror of Debian."""

import os
import re
import shutil
import subprocess
import sys

import harness
from cluster import PROBE, Cluster

CONFIG = os.environ.get("SHOAL_CPACK_CONFIG", "")
COMPILERS = ["cc", "gcc", "g++", "clang", "cmake", "ninja", "make", "protoc"]


def why_not():
    """Why a tree cannot be made here, or None."""
    if os.geteuid() != 0:
        return "debootstrap and chroot need root"
    for program in ("debootstrap", "unshare", "chroot", "cpack"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return None


class BareHostTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        reason = why_not()
        if reason:
            self.skipTest(reason)
        self.tree = self.path("tree")
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", "bookworm", self.tree],
            capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("debootstrap: " + made.stdout[-500:] + made.stderr)
        self.inside = ("unshare", "--mount", "sh", "-c",
                       f'mount -t proc proc "{self.tree}/proc" && '
                       f'exec chroot "{self.tree}" "$@"', "sh")

    def call(self, *command):
        done = subprocess.run([*self.inside, *command], capture_output=True,
                              text=True, env={"PATH": "/usr/bin:/usr/sbin:"
                                              "/bin:/sbin", "LC_ALL": "C",
                                              "DEBIAN_FRONTEND":
                                              "noninteractive"})
        self.assertEqual(done.returncode, 0,
                         f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def packages(self):
        return set(self.call("dpkg-query", "-W", "-f",
                             "${Package}\n").split())

    def install(self):
        """Names of the packages that came with Shoal's."""
        made = subprocess.run(
            ["cpack", "--config", CONFIG, "-B", self.path("deb")],
            capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        deb, = [name for name in os.listdir(self.path("deb"))
                if name.endswith(".deb")]
        shutil.copy(self.path("deb", deb), os.path.join(self.tree, "tmp"))
        before = self.packages()
        self.call("apt-get", "update", "-q")
        self.call("apt-get", "install", "-q", "-y", "--no-install-recommends",
                  "/tmp/" + deb)
        return self.packages() - before

    def test_a_host_with_the_package_alone_runs_a_worker_of_a_job(self):
        added = self.install()
        print(f"{len(added)} packages: {' '.join(sorted(added))}",
              file=sys.stderr)
        self.assertIn("shoal", added)
        self.assertFalse([name for name in added if name.endswith("-dev")])
        for compiler in COMPILERS:
            self.assertFalse(os.path.exists(
                os.path.join(self.tree, "usr/bin", compiler)), compiler)
        self.assertRegex(self.call("shoal", "--version"), r"^shoal \d+\.")

        # Part of the job lives on this host, part of it on the bare one.
        data = self.write("tree/data/tr.libsvm", harness.linear_rows(4000))
        cluster = Cluster(
            self, 2, 2, PROBE + ["--batch_size=16"],
            ps_flags=["--summary=" + self.path("summary.json")])
        shutil.copy(self.path("token"), os.path.join(self.tree, "token"))
        inside = [re.sub(re.escape(self.path("token")), "/token", flag)
                  for flag in cluster.common]
        cluster.start_ps(0)
        cluster.start_worker(0, "--training_data_dir=" + data)
        cluster.ps[1] = self.start("ps 1", "/usr/bin/shoal-ps",
                                   "--task_index=1", *inside,
                                   prefix=self.inside)
        cluster.workers[1] = self.start(
            "worker 1", "/usr/bin/shoal-worker", "--task_index=1", *inside,
            "--training_data_dir=/data/tr.libsvm", prefix=self.inside)
        cluster.wait_all()
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 4000)

        # And a whole job there.
        self.call("shoal", "token", "/tmp/token")
        self.call("shoal", "data", "gen", "--out=/data/gen", "--rows=5000",
                  "--test_rows=500", "--fields=6", "--ids=500")
        self.assertIn("samples 5000 = 5000 trained", self.call(
            "shoal", "run", "--ps=1", "--workers=1", "--feature_size=500",
            "--field_size=6", "--training_data_dir=/data/gen/tr*"))


if __name__ == "__main__":
    harness.main()
