"""Reproducible bit for bit; asynchronous and serial runs of exact arithmetic
end with the same weights; a killed worker changes nothing."""

import random
import signal
import threading
import unittest

import harness
from cluster import PROBE, Cluster


class ExactTest(harness.ShoalTest):

    def probe_data(self, rows=6000):
        return self.write("data/tr.libsvm", harness.linear_rows(rows))

    def serial_digest(self, data, flags):
        self.run_ok("shoal", "train", "--training_data_dir=" + data, *PROBE,
                    *flags, "--summary=" + self.path("serial.json"))
        serial = self.summary("serial.json")
        self.expect_whole(serial)
        return serial["digest"]

    def test_one_process_run_twice_gives_the_same_bits(self):
        data = self.write("data/tr.libsvm",
                          harness.linear_rows(4000, features=500, fields=6))
        digests = []
        for name in ("a.json", "b.json"):
            self.run_ok(
                "shoal", "train", "--training_data_dir=" + data,
                "--feature_size=500", "--field_size=6", "--embedding_size=8",
                "--deep_layers=32,16", "--keep_prob=0.8,0.8", "--batch_size=128",
                "--num_epochs=2", "--summary=" + self.path(name))
            digests.append(self.summary(name)["digest"])
        self.assertEqual(digests[0], digests[1])
        # Another seed trains another model, so the digest can tell.
        self.run_ok(
            "shoal", "train", "--training_data_dir=" + data, "--seed=2",
            "--feature_size=500", "--field_size=6", "--embedding_size=8",
            "--deep_layers=32,16", "--keep_prob=0.8,0.8", "--batch_size=128",
            "--num_epochs=2", "--summary=" + self.path("c.json"))
        self.assertNotEqual(self.summary("c.json")["digest"], digests[0])

    def test_seven_processes_equal_the_serial_run(self):
        data = self.probe_data()
        flags = ["--batch_size=16", "--num_epochs=3"]
        digest = self.serial_digest(data, flags)
        for partition in ("fixed_size", "mod", "hash"):
            # Hash is of dynamic tables, which have no feature_size.
            probe = [flag for flag in PROBE if partition != "hash"
                     or not flag.startswith("--feature_size")]
            cluster = Cluster(
                self, 3, 4,
                probe + flags + ["--partition=" + partition, "--canary=true",
                                 "--piece_bytes=4096"],
                ps_flags=["--summary=" + self.path("summary.json")],
                worker_flags=["--training_data_dir=" + data])
            cluster.start_all().wait_all()
            summary = self.summary()
            self.expect_whole(summary)
            self.assertEqual(summary["samples"]["trained"], 18000)
            self.assertEqual(summary["digest"], digest, partition)
            self.assertGreater(summary["staleness"]["max"], 0)
            self.assertEqual(
                summary["canary"],
                [{"shard": shard, "rows": summary["batches"]["trained"],
                  "not_one": 0, "smallest": 1, "largest": 1}
                 for shard in range(3)])

    def test_hosts_with_files_of_their_own_equal_the_serial_run(self):
        paths = [self.write(f"host{i}/tr{i}.libsvm",
                            harness.linear_rows(3000, seed=i + 1))
                 for i in range(2)]
        flags = ["--batch_size=16", "--num_epochs=3", "--piece_bytes=0"]
        digest = self.serial_digest(",".join(paths), flags)
        cluster = Cluster(
            self, 2, 2, PROBE + flags + ["--data_scope=host"],
            ps_flags=["--summary=" + self.path("summary.json")],
            worker_hosts=["h1", "h2"])
        for i in range(2):
            cluster.start_ps(i)
            # Each sees its own files alone.
            cluster.start_worker(i, "--training_data_dir=" + paths[i])
        cluster.wait_all()
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["digest"], digest)
        self.assertEqual(summary["per_worker"], [9000, 9000])

    def test_a_worker_killed_with_a_push_in_flight_changes_nothing(self):
        data = self.probe_data(40000)
        flags = ["--batch_size=16", "--num_epochs=2"]
        digest = self.serial_digest(data, flags)
        # One piece in each of two epochs for three workers: one of them is idle
        # and takes over what the killed one held.
        for _ in range(10):
            cluster = Cluster(
                self, 2, 3,
                PROBE + flags + ["--piece_bytes=0",
                                 "--speculate_after=60s", "--worker_grace=20s",
                                 "--log_level=debug"],
                ps_flags=["--summary=" + self.path("summary.json")],
                worker_flags=["--training_data_dir=" + data])
            cluster.start_all()
            victim, batch = self.catch_push_in_flight(cluster)
            if batch:
                break
            cluster.wait_all()  # it was over before
        self.assertTrue(batch, "no worker was caught with a push in flight")
        cluster.workers[victim].signal(signal.SIGKILL)
        self.assertEqual(cluster.workers[victim].wait(), -signal.SIGKILL)
        at = cluster.ps[0].wait_for_line("its pieces may be leased again")
        self.assertIn(f"worker {victim}", cluster.ps[0].lines[at])
        # The idle worker now holds the lease, its batch not yet complete.
        cluster.ps[1].signal(signal.SIGCONT)
        cluster.start_worker(victim)
        cluster.wait_all()
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 80000)
        self.assertEqual(summary["digest"], digest)
        batches = summary["batches"]
        self.assertGreater(batches["recomputed"] + batches["repeats_refused"],
                           0, f"killed with {batch} in flight: {summary}")

    def catch_push_in_flight(self, cluster):
        """Freezes PS 1 so that some worker has a push which PS 0 has applied
        and PS 1 cannot have. Returns the worker's index and the batch, or
        (None, None) if the job is over before."""
        cluster.ps[0].wait_for_line("marked (")
        chance = random.Random(1)
        while cluster.ps[0].popen.poll() is None:
            # At another moment of a step than the last time.
            threading.Event().wait(chance.uniform(0, 0.1))
            cluster.ps[1].signal(signal.SIGSTOP)
            for index, worker in enumerate(cluster.workers):
                batch = self.stuck_push(worker)
                if batch:
                    cluster.ps[0].wait_for_line("marked " + batch)
                    return index, batch
            cluster.ps[1].signal(signal.SIGCONT)
        return None, None

    def stuck_push(self, worker):
        """The newest push that `worker` sent and has no answer to, once it has
        been waiting for a while and says nothing more; None if it waits for
        something else."""
        lines = len(worker.lines)
        while True:
            threading.Event().wait(0.3)
            if len(worker.lines) == lines:
                break
            lines = len(worker.lines)
        sent, done = (
            [line.split(word)[1] for line in worker.lines if word in line]
            for word in ("push sent ", "push done "))
        return sent[-1] if sent and sent[-1] not in done else None


if __name__ == "__main__":
    harness.main()
