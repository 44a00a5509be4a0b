"""Three hosts in network namespaces joined by veth, each with its own address,
one shoal-ps and one shoal-worker a host, started by hand in random order."""

import os
import random
import shutil
import subprocess
import threading
import time
import unittest

import harness
from cluster import PROBE

NET = "10.213.47"  # private to the namespaces


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)


def why_not():
    """Why namespaces cannot be made here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "the `ip` command is not installed (Debian package iproute2)"
    try:
        ip("netns", "add", "shoal-probe")
        ip("netns", "del", "shoal-probe")
    except subprocess.CalledProcessError as error:
        return "ip netns add: " + error.stderr.strip()
    return None


class NamespacesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        reason = why_not()
        if reason:
            self.skipTest(reason)
        tag = f"shoal{os.getpid()}"
        self.names = [f"{tag}-{i}" for i in range(3)]
        self.hub = f"{tag}-hub"
        self.addCleanup(self.remove)
        try:
            self.make_hosts()
        except subprocess.CalledProcessError as error:
            self.skipTest(f"{' '.join(error.cmd)}: {error.stderr.strip()}")

    def make_hosts(self):
        ip("netns", "add", self.hub)
        ip("-n", self.hub, "link", "add", "br0", "type", "bridge")
        ip("-n", self.hub, "link", "set", "br0", "up")
        for i, name in enumerate(self.names):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "add", "eth0", "type", "veth", "peer",
               "name", f"port{i}", "netns", self.hub)
            ip("-n", self.hub, "link", "set", f"port{i}", "master", "br0")
            ip("-n", self.hub, "link", "set", f"port{i}", "up")
            ip("-n", name, "addr", "add", f"{NET}.{i + 1}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")

    def remove(self):
        for name in self.names + [self.hub]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def test_three_hosts_started_in_random_order_train_and_end(self):
        seed = int(os.environ.get("SHOAL_SEED", random.randrange(10**6)))
        print(f"SHOAL_SEED={seed}")
        draw = random.Random(seed)
        data = self.write("data/tr.libsvm", harness.linear_rows(6000))
        digest_flags = PROBE + ["--batch_size=16", "--num_epochs=2"]
        self.run_ok("shoal", "train", "--training_data_dir=" + data,
                    *digest_flags, "--summary=" + self.path("serial.json"))
        common = digest_flags + [
            "--ps_hosts=" + ",".join(f"{NET}.{i + 1}:2223" for i in range(3)),
            "--worker_hosts=" + ",".join(f"{NET}.{i + 1}" for i in range(3)),
            "--token_file=" + self.token_file(),
            "--piece_bytes=4096", "--worker_grace=30s",
        ]
        plan = [(draw.uniform(0, 10), role, i)
                for role in ("shoal-ps", "shoal-worker") for i in range(3)]
        start = time.monotonic()
        for at, role, i in sorted(plan):
            # The delay is the thing under test: processes come when they come.
            threading.Event().wait(max(0, start + at - time.monotonic()))
            more = ["--training_data_dir=" + data] if role.endswith(
                "worker") else []
            if role == "shoal-ps" and i == 0:
                more.append("--summary=" + self.path("summary.json"))
            self.start(f"{role} {i}", role, f"--task_index={i}", *common, *more,
                       prefix=("ip", "netns", "exec", self.names[i]))
        for process in self.processes[1:]:
            self.assertEqual(process.wait(90), 0, process.output())
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 12000)
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])


if __name__ == "__main__":
    harness.main()
