"""Restarts a job again and again under workers of its earlier starts.

  SHOAL_BIN=build/release/bin SHOAL_RESTARTS=200 SHOAL_SEED=1 \\
    python3 -B tests/e2e/restarts_test.py

Each restart kills a server, or all of them, a moment after training began, and
starts what ended again at once on the same ports. Some of the workers are frozen
first and wake up under a later start. After ten restarts at most the job runs to
its end: the digest must be that of one process, and every canary 1. One restart
in ten is that of a `shoal run` and all that it started.
"""

import os
import random
import signal
import threading
import time

import harness
from cluster import PROBE, Cluster
from launched import Launched
from slow_data import SlowData

RESTARTS = int(os.environ.get("SHOAL_RESTARTS", "20"))
SEED = int(os.environ.get("SHOAL_SEED", "1"))
FLAGS = ["--batch_size=16", "--num_epochs=3", "--piece_bytes=8192"]
WORKERS = 2


class RestartsTest(harness.ShoalTest):

    def serial(self):
        """The rows, and the digest of one process."""
        data = self.write("data/tr.libsvm", harness.linear_rows(20000))
        self.run_ok("shoal", "train", "--training_data_dir=" + data, *PROBE,
                    *FLAGS, "--summary=" + self.path("serial.json"))
        return data, self.summary("serial.json")["digest"]

    def expect_as_if_alone(self, digest):
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["digest"], digest)
        for shard in summary["canary"]:
            self.assertEqual(shard["not_one"], 0)

    def test_no_start_changes_another(self):
        chance = random.Random(SEED)
        data, digest = self.serial()
        restarts = 0
        jobs = 0
        while restarts < RESTARTS:
            directory = f"m{jobs}" if chance.random() < 0.5 else None
            restarts += self.run_with_restarts(data, digest, directory, chance)
            jobs += 1
            print(f"seed {SEED}: {restarts} restarts, {jobs} jobs, every digest "
                  f"{digest}", flush=True)

    def run_with_restarts(self, data, digest, directory, chance):
        """One job to its end; returns how often it was restarted."""
        flags = ["--summary=" + self.path("summary.json"),
                 "--log_level=debug"]
        if directory is not None:
            flags += ["--model_dir=" + self.path(directory),
                      "--save_checkpoint_steps=700"]
        cluster = Cluster(
            self, chance.choice([1, 1, 2]), WORKERS, PROBE + FLAGS + ["--canary=true"], ps_flags=flags,
            worker_flags=["--training_data_dir=" + data, "--log_level=debug"])
        cluster.start_all()
        frozen = []
        restarts = 0
        while restarts < 10 and self.trains(cluster):
            threading.Event().wait(chance.uniform(0, 0.4))
            self.restart(cluster, frozen, chance)
            restarts += 1
        self.wake(frozen, len(frozen))
        while cluster.ps[0].popen.poll() is None:
            self.start_missing(cluster, frozen)
            threading.Event().wait(0.2)
        self.assertEqual(cluster.ps[0].wait(), 0,
                         cluster.ps[0].output()[-3000:])
        self.expect_as_if_alone(digest)
        for process in self.processes:
            if process.popen.poll() is None:
                process.kill()
        return restarts

    def restart(self, cluster, frozen, chance):
        if chance.random() < 0.7:
            # So that pushes are on their way when the server dies.
            chance.choice(cluster.ps).signal(signal.SIGSTOP)
            threading.Event().wait(chance.uniform(0, 0.2))
        for worker in cluster.workers:
            what = chance.choice(["stays", "stays", "freezes", "dies"])
            if what == "freezes":
                worker.signal(signal.SIGSTOP)
                frozen.append(worker)
            elif what == "dies":
                worker.kill()
        victims = chance.choice([cluster.ps, [chance.choice(cluster.ps)]])
        for server in victims:
            server.kill()
        for server in cluster.ps:
            # The others end with the job, as its state is lost.
            server.signal(signal.SIGCONT)
            server.wait(20)
        for index in range(len(cluster.ps)):
            cluster.start_ps(index)
        self.start_missing(cluster, frozen)
        threading.Event().wait(chance.uniform(0, 0.3))
        self.wake(frozen, chance.randrange(len(frozen) + 1))

    def start_missing(self, cluster, frozen):
        """A worker may find that a woken one has its place, and give up."""
        for index, worker in enumerate(cluster.workers):
            if worker in frozen or worker.popen.poll() is not None:
                cluster.start_worker(index)

    def trains(self, cluster):
        """Once the newest start has a mark; False if it is through already,
        as from a checkpoint of the end."""
        while cluster.ps[0].popen.poll() is None:
            try:
                cluster.ps[0].wait_for_line("marked (", timeout=2)
                return True
            except AssertionError:
                self.start_missing(cluster, [])
        return False

    def test_nor_does_one_of_the_launcher(self):
        chance = random.Random(SEED)
        data, digest = self.serial()
        flags = ["--ps=2", f"--workers={WORKERS}", *PROBE, *FLAGS,
                 "--canary=true", "--training_data_dir=" + data,
                 "--summary=" + self.path("summary.json"),
                 "--model_dir=" + self.path("launched"),
                 "--save_checkpoint_steps=700"]
        slow = SlowData(self)
        slow.slow(data, 0.3)
        for _ in range(max(2, RESTARTS // 10)):
            job = Launched(self, *flags, prefix=slow.prefix)
            job.process.wait_for_line(harness.TRAINED)
            worker = job.pid("shoal-worker", chance.randrange(WORKERS))
            os.kill(worker, signal.SIGSTOP)
            threading.Event().wait(chance.uniform(0, 0.4))
            servers = [job.pid("shoal-ps", index) for index in range(2)]
            job.process.popen.kill()
            self.wait_until_gone(servers)
            os.kill(worker, signal.SIGCONT)
        self.assertEqual(Launched(self, *flags).process.wait(), 0)
        self.expect_as_if_alone(digest)

    def wait_until_gone(self, pids):
        """They end by themselves, since the launcher did."""
        deadline = time.monotonic() + 20
        while any(Launched.command_line(pid)[0:1] not in ([], [""])
                  for pid in pids):
            self.assertLess(time.monotonic(), deadline, "servers live on")
            threading.Event().wait(0.01)

    def wake(self, frozen, count):
        for _ in range(count):
            worker = frozen.pop(0)
            if worker.popen.poll() is None:
                worker.signal(signal.SIGCONT)


if __name__ == "__main__":
    harness.main()
