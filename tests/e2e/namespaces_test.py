"""Three hosts in network namespaces joined by veth, each with its own address,
one shoal-ps and one shoal-worker a host, started by hand in random order."""

import os
import random
import subprocess
import threading
import time

import harness
import namespaces
from cluster import PROBE

NET = "10.213.47"  # private to the namespaces


class NamespacesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        reason = namespaces.why_not()
        if reason:
            self.skipTest(reason)
        self.network = namespaces.Network(NET, 3)
        self.addCleanup(self.network.remove)
        try:
            self.network.make()
        except subprocess.CalledProcessError as error:
            self.skipTest(f"{' '.join(error.cmd)}: {error.stderr.strip()}")

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
                       prefix=self.network.on(i))
        for process in self.processes[1:]:
            self.assertEqual(process.wait(90), 0, process.output())
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 12000)
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])


if __name__ == "__main__":
    harness.main()
