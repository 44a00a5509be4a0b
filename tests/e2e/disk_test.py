"""Disks that are slow or hang: training goes on while a checkpoint is synced, a
job whose last checkpoint never reaches the disk ends with a message, and writes
and syncs come in the order of docs/checkpoint_format.md."""

import os
import re
import signal
import threading
import time

import harness
from cluster import PROBE, Cluster
from slow_data import PRELOADED, SlowData

STOPPED = 3  # docs/commands.md


class DiskTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.model_dir = self.path("model")
        self.log = self.path("disk.log")
        self.release = self.path("release")

    def preloaded(self, hangs=None):
        """What goes before a command, so that its syncs of `hangs` hang."""
        words = ["env", "LD_PRELOAD=" + PRELOADED,
                 "SHOAL_DISK_LOG=" + self.log]
        if hangs:
            words += ["SHOAL_DISK_HANGS=" + hangs,
                      "SHOAL_DISK_RELEASE=" + self.release]
        return words

    def start_job(self, rows, *flags, ps=2, preloaded=(), hangs=None,
                  worker_prefix=()):
        """Servers, of which some are preloaded, and a worker."""
        data = self.write("data/tr.libsvm", harness.linear_rows(rows))
        cluster = Cluster(
            self, ps, 1,
            PROBE + ["--batch_size=16", "--model_dir=" + self.model_dir,
                     *flags],
            ps_flags=["--summary=" + self.path("summary.json")],
            worker_flags=["--training_data_dir=" + data, "--log_level=debug"],
            worker_prefix=worker_prefix)
        for i in range(ps):
            cluster.ps_prefix = self.preloaded(hangs) if i in preloaded else ()
            cluster.start_ps(i)
        cluster.start_worker(0)
        return cluster

    def wait_for_hang(self, timeout=30):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if os.path.exists(self.log):
                with open(self.log) as f:
                    if "hangs " in f.read():
                        return
            threading.Event().wait(0.02)
        self.fail("nothing was synced; the servers said:\n" +
                  "\n".join(p.output()[-2000:] for p in self.processes))

    @staticmethod
    def expect_pushes(worker, count):
        at = len(worker.lines)
        for _ in range(count):
            at = worker.wait_for_line("push done ", start=at) + 1

    def test_training_goes_on_while_a_sync_hangs(self):
        flags = ["--num_epochs=2000", "--save_checkpoint_steps=500",
                 "--save_timeout=3s"]
        cluster = self.start_job(20000, *flags, preloaded=[1],
                                 hangs="shard-00001")
        ps0, worker = cluster.ps[0], cluster.workers[0]
        self.wait_for_hang()
        self.expect_pushes(worker, 1000)
        late = f"still waits for ps 1 ({cluster.hosts[1]}) to sync its shard"
        ps0.wait_for_line(
            late + " to the disk: does the disk hang? Training goes on")
        self.expect_pushes(worker, 1000)
        _, output = self.run_fails(
            "shoal", "ckpt", "save", "--ps_hosts=" + cluster.hosts[0],
            "--token_file=" + self.path("token"))
        self.assertIn(late, output)
        self.assertNotIn("saved ", ps0.output())
        self.assertEqual(ps0.output().count("still waits"), 1)

        self.write("release", "")
        at = ps0.wait_for_line("saved " + self.model_dir)
        step = int(re.search(r"ckpt-(\d+) at step", ps0.lines[at]).group(1))
        self.assertLess(step, 1000)
        # The next one is due at once.
        ps0.wait_for_line("saved " + self.model_dir, start=at + 1)
        ps0.signal(signal.SIGTERM)
        self.assertEqual(ps0.wait(30), STOPPED)
        for process in [cluster.ps[1], worker]:
            self.assertNotEqual(process.wait(30), 0)
        self.run_ok("shoal", "ckpt", "verify", self.model_dir)
        stopped = self.summary()
        self.assertEqual(stopped["checkpoint"]["step"],
                         stopped["batches"]["trained"])
        self.assertEqual(stopped["checkpoint"]["voided"], 0)

        again = self.start_job(20000, *flags)
        again.ps[0].wait_for_line("resumed from " + self.model_dir)
        again.workers[0].wait_for_line("push done ")
        again.ps[0].signal(signal.SIGTERM)
        self.assertEqual(again.ps[0].wait(30), STOPPED)

    def test_a_last_checkpoint_that_hangs_ends_the_job_with_words(self):
        cluster = self.start_job(2000, "--num_epochs=1", "--save_timeout=2s",
                                 "--shutdown_timeout=1s", preloaded=[1],
                                 hangs="shard-00001")
        for process in cluster.ps + cluster.workers:
            self.assertEqual(process.wait(20), 1, process.output())
        self.assertRegex(
            cluster.ps[0].output(),
            "everything was trained, but it is not saved: the checkpoint at "
            "step 125, begun .* ago, still waits for ps 1 .* to sync")
        self.assertIn("hangs; the process exits without waiting for it",
                      cluster.ps[1].output())
        self.assertEqual(self.summary()["checkpoint"]["saved"], 0)
        self.assertEqual(self.summary()["samples"]["trained"], 2000)

    def test_so_does_a_manifest_that_hangs(self):
        cluster = self.start_job(2000, "--num_epochs=1", "--save_timeout=2s",
                                 "--shutdown_timeout=1s", preloaded=[0],
                                 hangs="manifest.json")
        for process in cluster.ps + cluster.workers:
            self.assertEqual(process.wait(20), 1, process.output())
        self.assertIn("still waits for the manifest to be written",
                      cluster.ps[0].output())
        self.assertIn("hangs; the process exits without waiting for it",
                      cluster.ps[0].output())

    def test_everything_is_synced_before_it_is_relied_on(self):
        slow = SlowData(self)
        slow.slow("tr.libsvm", 0.5)
        cluster = self.start_job(2000, "--num_epochs=4",
                                 "--save_checkpoint_steps=100",
                                 "--piece_bytes=4096", "--keep_checkpoints=1",
                                 ps=1, preloaded=[0],
                                 worker_prefix=slow.prefix)
        cluster.ps[0].wait_for_line("saved " + self.model_dir)
        slow.fast("tr.libsvm")
        cluster.wait_all(60)
        with open(self.log) as f:
            calls = [line.split() for line in f if self.model_dir in line]
        renames = [i for i, call in enumerate(calls) if call[0] == "rename"]
        manifests = [i for i in renames
                     if calls[i][2].endswith("/manifest.json")]
        self.assertGreaterEqual(len(manifests), 2, calls)
        for i in renames:
            _, temporary, name = calls[i]
            self.assertIn(["fsync", temporary], calls[:i])
            self.assertEqual(calls[i + 1], ["fsync", os.path.dirname(name)])
        for i in manifests:
            directory = os.path.dirname(calls[i][2])
            made = calls.index(["mkdir", directory])
            self.assertIn(["fsync", self.model_dir], calls[made:i])
        removed = [i for i, call in enumerate(calls)
                   if call[0] == "unlink" and call[1].endswith("manifest.json")]
        self.assertEqual(len(removed), len(manifests) - 1)
        for n, i in enumerate(removed):
            self.assertGreater(i, manifests[n + 1] + 1)


if __name__ == "__main__":
    harness.main()
