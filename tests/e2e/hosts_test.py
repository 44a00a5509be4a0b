"""`shoal run --hosts` over real ssh: hosts are network namespaces, each with an
sshd of its own; a third one is the desk from which jobs are started."""

import os
import shutil
import signal
import subprocess
import threading
import time

import harness
import namespaces
from cluster import PROBE
from slow_data import SlowData

NET = "10.213.48"  # private to the namespaces
SSHD = "/usr/sbin/sshd"
DESK = 2


def shoal_processes(mark):
    """{pid: command line} of shoal-ps and shoal-worker with `mark` in it."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                line = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        name = os.path.basename(line[0])
        if name in ("shoal-ps", "shoal-worker") and mark in " ".join(line):
            found[int(pid)] = " ".join(line)
    return found


class HostsTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        reason = namespaces.why_not()
        if not reason and not os.path.exists(SSHD):
            reason = "sshd is not installed (Debian package openssh-server)"
        if reason:
            self.skipTest(reason)
        self.network = namespaces.Network(NET, 3)
        self.addCleanup(self.network.remove)
        self.sshds = []
        try:
            self.network.make()
        except subprocess.CalledProcessError as error:
            self.skipTest(f"{' '.join(error.cmd)}: {error.stderr.strip()}")
        self.make_keys()
        self.slow = SlowData(self)
        # Where each host sees files of its own: host0 or host1.
        os.makedirs(self.path("own"))
        for host in range(DESK):
            os.makedirs(self.path(f"host{host}"))
            self.start_sshd(host)

    def tearDown(self):
        super().tearDown()
        for sshd in getattr(self, "sshds", []):
            sshd.kill()
            sshd.communicate()

    def make_keys(self):
        for name in ("key", "wrong_key", "host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                            "-f", self.path(name)], check=True)
        shutil.copy(self.path("key.pub"), self.path("authorized_keys"))
        with open(self.path("host_key.pub"), encoding="utf-8") as file:
            kind, key = file.read().split()[:2]
        self.write("known_hosts", "".join(
            f"{address} {kind} {key}\n" for address in self.network.addresses))

    def start_sshd(self, host):
        # Where it puts itself before a user is known.
        os.makedirs("/run/sshd", exist_ok=True)
        config = self.write(f"sshd_config.{host}", "\n".join([
            f"ListenAddress {self.network.addresses[host]}:22",
            "HostKey " + self.path("host_key"),
            "AuthorizedKeysFile " + self.path("authorized_keys"),
            "PidFile none", "StrictModes no", "UsePAM no",
            "PasswordAuthentication no", "PermitRootLogin yes",
            "PermitUserEnvironment no", "LogLevel VERBOSE",
            "SetEnv " + " ".join(self.slow.prefix[1:]), ""]))
        # `ip netns exec` has given the host mounts of its own.
        own = f"mount --bind {self.path(f'host{host}')} {self.path('own')}"
        sshd = subprocess.Popen(
            [*self.network.on(host), "sh", "-c",
             f"{own} && exec {SSHD} -D -e -f {config}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.sshds.append(sshd)
        for line in sshd.stdout:
            if "Server listening" in line:
                break
        else:
            self.fail("sshd did not start")

    def ssh(self, key="key"):
        return " ".join([
            "ssh -F none -o BatchMode=yes -o ConnectTimeout=5",
            "-o StrictHostKeyChecking=yes -o IdentitiesOnly=yes",
            "-o UserKnownHostsFile=" + self.path("known_hosts"),
            "-i " + self.path(key)])

    def start_job(self, *flags, hosts=None, key="key"):
        hosts = hosts or ",".join(self.network.addresses[:DESK])
        return self.start(
            "run", "shoal", "run", "--hosts=" + hosts, *PROBE,
            "--batch_size=16", "--piece_bytes=4096",
            "--ssh_command=" + self.ssh(key), *flags,
            prefix=self.network.on(DESK))

    def data(self, rows=6000):
        return self.write("data/tr.libsvm", harness.linear_rows(rows))

    def mine(self):
        """The job's processes on its hosts, by what only this test reads."""
        return shoal_processes(self.path("data"))

    def expect_nobody(self, timeout=20):
        deadline = time.monotonic() + timeout
        while self.mine():
            self.assertLess(time.monotonic(), deadline, self.mine())
            threading.Event().wait(0.1)

    def test_sigterm_saves_the_job(self):
        flags = ["--training_data_dir=" + self.data(), "--num_epochs=50000",
                 "--model_dir=" + self.path("model")]
        job = self.start_job(*flags)
        job.wait_for_line(harness.TRAINED)
        job.signal(signal.SIGTERM)
        self.assertEqual(job.wait(40), 3, job.output()[-4000:])
        self.assertIn("the same command goes on", job.output())
        self.expect_nobody()
        job = self.start_job(*flags)
        job.wait_for_line("resumed from " + self.path("model"))
        job.signal(signal.SIGTERM)
        self.assertEqual(job.wait(40), 3, job.output()[-4000:])

    def test_a_job_over_two_hosts_survives_a_killed_worker(self):
        data = self.data()
        flags = ["--training_data_dir=" + data, "--num_epochs=20"]
        self.run_ok("shoal", "train", *PROBE, "--batch_size=16",
                    "--piece_bytes=4096", *flags,
                    "--summary=" + self.path("serial.json"))
        self.slow.slow(data, 0.5)
        job = self.start_job(*flags, "--summary=" + self.path("summary.json"))
        job.wait_for_line(harness.TRAINED)
        processes = self.mine()
        self.assertEqual(len(processes), 4, processes)
        for pid, line in processes.items():
            # One of each a host, and the secret is on no command line.
            self.assertIn("--token_file=-", line)
            with open(f"/proc/{pid}/environ", "rb") as file:
                self.assertIn(b"SSH_CONNECTION", file.read())
        victim, = [pid for pid, line in processes.items()
                   if "shoal-worker" in line and "--task_index=1" in line]
        os.kill(victim, signal.SIGKILL)
        job.wait_for_line("starting it again (1 of 3)")
        self.slow.fast(data)
        self.assertEqual(job.wait(120), 0, job.output()[-4000:])
        self.expect_nobody()
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 6000 * 20)
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])
        output = job.output()
        for name in ("ps 0", "ps 1", "worker 0", "worker 1"):
            self.assertRegex(output, rf"(?m)^{name} +\| ")

    def test_two_workers_a_host_share_the_files_of_their_host(self):
        for host in range(2):
            for i in range(4):
                self.write(f"host{host}/train/tr{host}{i}.libsvm",
                           harness.linear_rows(500, seed=1 + 10 * host + i))
            self.write(f"host{host}/val/va.libsvm",
                       harness.linear_rows(300, seed=99))
        flags = ["--num_epochs=2", "--piece_bytes=0"]
        self.run_ok("shoal", "train", *PROBE, "--batch_size=16", *flags,
                    "--training_data_dir=" + self.path("host*", "train"),
                    "--summary=" + self.path("serial.json"))
        first, second = self.network.addresses[:DESK]
        job = self.start_job(*flags, "--worker_per_host=2",
                             "--data_scope=host", "--speculate_after=60s",
                             "--training_data_dir=" + self.path("own/train"),
                             "--val_data_dir=" + self.path("own/val"),
                             "--summary=" + self.path("own/summary.json"),
                             hosts=f"{first}:2,{second}")
        self.assertEqual(job.wait(120), 0, job.output()[-4000:])
        # The first host has it, and the launching one.
        summary = self.summary("host0/summary.json")
        self.assertEqual(self.summary("own/summary.json"), summary)
        self.assertFalse(os.path.exists(self.path("host1/summary.json")))
        self.expect_whole(summary)
        self.assertEqual(summary["ps"], 2)
        self.assertEqual(summary["samples"]["trained"], 2 * 4 * 500 * 2)
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])
        each = summary["per_worker"]
        self.assertEqual([each[0] + each[1], each[2] + each[3]], [4000, 4000])
        self.assertEqual(summary["eval"]["examples"], 300)

    def test_a_ring_has_a_rank_for_each_slot_of_a_host(self):
        flags = ["--training_data_dir=" + self.data(), "--num_epochs=2"]
        self.run_ok("shoal", "train", *PROBE, "--batch_size=16",
                    "--piece_bytes=4096", *flags,
                    "--summary=" + self.path("serial.json"))
        first, second = self.network.addresses[:DESK]
        # As -np 3 -H a:2,b:1 of other launchers; the number may be left out.
        job = self.start_job(*flags, "--mode=ring", "--workers=3",
                             "--summary=" + self.path("summary.json"),
                             hosts=f"{first}:2,{second}:1")
        self.assertEqual(job.wait(120), 0, job.output()[-4000:])
        self.assertNotIn("ps 0 ", job.output())
        for rank, host in enumerate((first, first, second)):
            self.assertRegex(job.output(),
                             rf"rank {rank} of 3, ring address {host}:")
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual((summary["mode"], summary["workers"]), ("ring", 3))
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])

    def test_an_interrupt_leaves_nobody(self):
        job = self.start_job("--training_data_dir=" + self.data(),
                             "--num_epochs=100000")
        job.wait_for_line(harness.TRAINED)
        self.assertEqual(len(self.mine()), 4)
        job.signal(signal.SIGINT)
        self.assertEqual(job.wait(), 3, job.output()[-4000:])
        self.assertIn("SIGINT", job.output())
        self.expect_nobody()

    def test_a_killed_launcher_leaves_nobody(self):
        job = self.start_job("--training_data_dir=" + self.data(),
                             "--num_epochs=100000")
        job.wait_for_line(harness.TRAINED)
        self.assertEqual(len(self.mine()), 4)
        job.signal(signal.SIGKILL)
        job.wait()
        self.expect_nobody()

    def test_a_host_that_cannot_be_reached_is_named_and_nothing_starts(self):
        absent = f"{NET}.99"
        job = self.start_job("--training_data_dir=" + self.data(),
                             hosts=f"{self.network.addresses[0]},{absent}")
        self.assertEqual(job.wait(), 1, job.output())
        last = job.lines[-1]
        self.assertIn(absent, last)
        self.assertRegex(last, r"No route to host|timed out")
        self.assertNotIn("step ", job.output())
        self.expect_nobody()

    def test_a_key_that_is_refused_is_named(self):
        job = self.start_job("--training_data_dir=" + self.data(),
                             key="wrong_key")
        self.assertEqual(job.wait(), 1, job.output())
        self.assertIn(self.network.addresses[0], job.lines[-1])
        self.assertIn("Permission denied", job.lines[-1])
        self.expect_nobody()

    def test_what_a_process_on_a_host_could_not_use_is_the_last_line(self):
        job = self.start_job("--training_data_dir=" + self.data(),
                             "--model_dir=/proc/no_such_place")
        self.assertEqual(job.wait(), 2, job.output()[-4000:])
        self.assertIn("shoal run: the job failed: ps 0 exited with code 2; its "
                      "last words: shoal-ps: --model_dir: the directory cannot "
                      "be made", job.lines[-1])
        self.expect_nobody()

    def test_a_host_without_the_binaries_is_named(self):
        job = self.start_job("--training_data_dir=" + self.data(),
                             "--remote_bin=/no/such/place")
        self.assertEqual(job.wait(), 1, job.output())
        self.assertIn(self.network.addresses[0], job.lines[-1])
        self.assertIn("/no/such/place", job.lines[-1])


if __name__ == "__main__":
    harness.main()
