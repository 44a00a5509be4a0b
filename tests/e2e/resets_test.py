"""A reset is not a death: a process whose connection to the coordinator breaks
comes back with its life and its state, and nothing is lost. The death of a
killed process is still noticed within a second."""

import os
import signal
import time

import harness
from cluster import PROBE, Cluster
from launched import Launched
from reset_proxy import ResetProxy
from slow_data import SlowData

ROWS = 20000


class ResetsTest(harness.ShoalTest):

    def start_job(self, epochs, *more):
        """A job of two servers and two workers that trains, where all but PS 0
        itself reach PS 0 through a proxy."""
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        self.slow = SlowData(self)
        self.slow.slow(self.data, 0.3)
        flags = ["--batch_size=16", f"--num_epochs={epochs}",
                 "--piece_bytes=16384", *more]
        cluster = Cluster(
            self, 2, 2, PROBE + flags + ["--canary"],
            ps_flags=["--summary=" + self.path("summary.json")],
            worker_flags=["--training_data_dir=" + self.data,
                          "--log_level=debug"],
            worker_prefix=self.slow.prefix)
        # Each process but PS 0 has a proxy of its own.
        ports = harness.free_ports(4)
        proxy_of = {"ps 1": ports[1], "worker 0": ports[2],
                    "worker 1": ports[3]}
        self.proxies = {name: ResetProxy(port, ports[0])
                        for name, port in proxy_of.items()}
        for proxy in self.proxies.values():
            self.addCleanup(proxy.close)

        def hosts(port):
            return f"--ps_hosts=127.0.0.1:{port},{cluster.hosts[1]}"

        common = [flag for flag in cluster.common
                  if not flag.startswith("--ps_hosts")]
        cluster.common = common
        cluster.start_ps(0, hosts(ports[0]))
        cluster.start_ps(1, hosts(proxy_of["ps 1"]))
        for i in range(2):
            cluster.start_worker(i, hosts(proxy_of[f"worker {i}"]))
        for worker in cluster.workers:
            worker.wait_for_line("push done ")
        return cluster

    def test_each_kind_of_session_survives_a_reset(self):
        cluster = self.start_job(8)
        begun = len(cluster.ps[0].lines)
        for name in ("ps 1", "worker 0", "worker 1", "ps 1"):
            start = len(cluster.ps[0].lines)
            self.assertGreater(self.proxies[name].reset(), 0, name)
            cluster.ps[0].wait_for_line(" is back as life ", 5, start)
        self.slow.fast(self.data)
        cluster.wait_all(60)
        said = cluster.ps[0].lines[begun:]
        self.assertEqual([line for line in said if "joined as life" in line],
                         [], "each process kept its life")
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 8 * ROWS)
        for shard in summary["canary"]:
            self.assertEqual(shard["rows"], summary["batches"]["trained"])
            self.assertEqual(shard["not_one"], 0, summary["canary"])
        self.run_ok("shoal", "train", "--training_data_dir=" + self.data,
                    *PROBE, "--batch_size=16", "--num_epochs=8",
                    "--summary=" + self.path("serial.json"))
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])

    def test_a_killed_server_is_known_within_a_second(self):
        cluster = self.start_job(100000)
        cluster.ps[1].signal(signal.SIGKILL)
        killed = time.monotonic()
        cluster.ps[0].wait_for_line("the job failed: ps 1 ", 10)
        self.assertLess(time.monotonic() - killed, 1)
        self.assertEqual(cluster.ps[0].wait(10), 1)
        self.assertIn(" died: ", cluster.ps[0].output())

    def test_a_killed_worker_is_replaced_at_once(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        job = Launched(self, "--ps=2", "--workers=2", "--max_restarts=1",
                       "--training_data_dir=" + data, *PROBE,
                       "--batch_size=16", "--num_epochs=100000")
        job.process.wait_for_line("push done ")
        pid = job.pid("shoal-worker", 1)
        start = len(job.process.lines)
        os.kill(pid, signal.SIGKILL)
        job.process.wait_for_line("worker 1 was killed by SIGKILL", 10, start)
        started = time.monotonic()
        job.process.wait_for_line("worker 1 joined as life", 10, start)
        # With the start of the new process; the old life has 5 s otherwise.
        self.assertLess(time.monotonic() - started, 1)
        job.process.signal(signal.SIGINT)
        job.process.wait(20)


if __name__ == "__main__":
    harness.main()
