"""Workers that are killed or frozen at any moment change nothing that is
counted; a parameter server that dies ends the job with a message that names
the server."""

import os
import random
import re
import signal
import threading
import time
import unittest

import harness
import launched
from cluster import PROBE, Cluster
from slow_data import SlowData

# tools/check.sh --long asks for more.
KILLS = int(os.environ.get("SHOAL_KILLS", "5"))
SILENT_AFTER = 4
WORKER_LEASE = 5
# Seconds from, to: less than --silent_after, more than a lease; and with many
# kills, between the two, and more than the lease's default.
FREEZES = [(0.5, 1), (6, 7)] + ([(4.3, 4.9), (11, 15)] if KILLS > 5 else [])
SENT = re.compile(r"push sent (\S+)")
DONE = re.compile(r"push done (\S+)")


class Launched(launched.Launched):

    def push_in_flight(self, worker, start):
        """The newest push that the worker's life, whose lines begin at
        `start`, sent and had no answer to, once it says nothing more; None if
        it waits for something else."""
        mine = f"worker {worker} "
        count = -1
        while True:
            lines = [line for line in self.process.lines[start:]
                     if line.startswith(mine)]
            if len(lines) == count:
                break
            count = len(lines)
            threading.Event().wait(0.1)
        sent = [m.group(1) for m in map(SENT.search, lines) if m]
        done = {m.group(1) for m in map(DONE.search, lines) if m}
        return sent[-1] if sent and sent[-1] not in done else None


class KillsTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        # A job reads at full speed only in the moments in which a worker is to
        # be caught with a push in flight, so that the job outlives all of them.
        self.slow = SlowData(self)

    def data(self, rows):
        return self.write("data/tr.libsvm", harness.linear_rows(rows))

    digests = {}  # by flags: the data are the same

    def serial_digest(self, data, flags):
        if tuple(flags) not in self.digests:
            self.run_ok("shoal", "train", "--training_data_dir=" + data,
                        *PROBE, *flags,
                        "--summary=" + self.path("serial.json"))
            self.digests[tuple(flags)] = self.summary("serial.json")["digest"]
        return self.digests[tuple(flags)]

    def expect_each_push_once(self, summary, samples, digest):
        self.expect_whole(summary)
        # Beyond this sums might be rounded (models/linear_probe.h).
        self.assertLess(samples, 2**22)
        self.assertEqual(summary["samples"]["trained"], samples)
        self.assertEqual(summary["digest"], digest)
        for shard in summary["canary"]:
            self.assertEqual(shard["rows"], summary["batches"]["trained"])
            self.assertEqual(shard["not_one"], 0, summary["canary"])

    def test_workers_killed_with_a_push_in_flight(self):
        """Each victim holds a lease and a push that PS 0 may have applied and
        PS 1, frozen at that moment, cannot have answered."""
        data = self.data(40000)
        epochs = 4 + 6 * KILLS // 5
        flags = ["--batch_size=16", f"--num_epochs={epochs}",
                 "--piece_bytes=16384"]
        digest = self.serial_digest(data, flags)
        self.slow.slow(data, 0.3)
        job = Launched(self, "--ps=2", "--workers=2", "--canary",
                       f"--max_restarts={KILLS}",
                       "--training_data_dir=" + data, *PROBE, *flags,
                       "--summary=" + self.path("summary.json"),
                       prefix=self.slow.prefix)
        chance = random.Random(1)
        kills = 0
        begun = [0, 0]  # where the log of each worker's newest life begins
        while kills < KILLS:
            victim = chance.randrange(2)
            job.process.wait_for_line("push done ", start=begun[victim])
            ps = job.pid("shoal-ps", 1)
            pid = job.pid("shoal-worker", victim)
            self.slow.fast(data)
            threading.Event().wait(chance.uniform(0, 0.2))
            os.kill(ps, signal.SIGSTOP)
            self.slow.slow(data, 0.3)
            try:
                batch = job.push_in_flight(victim, begun[victim])
                if batch is not None:
                    begun[victim] = len(job.process.lines)
                    os.kill(pid, signal.SIGKILL)
                    if kills % 2 == 0:
                        # Often PS 1 has the push in its buffers and marks it
                        # before the lease is given out again. Not this one.
                        job.process.wait_for_line(
                            f"worker {victim} joined as life", 4,
                            start=begun[victim])
                        # It asks for a lease next, which no line tells.
                        threading.Event().wait(0.3)
            finally:
                os.kill(ps, signal.SIGCONT)
            if batch is not None:
                kills += 1
                job.process.wait_for_line(
                    f"worker {victim} was killed by SIGKILL",
                    start=begun[victim])
        self.slow.fast(data)
        self.assertEqual(job.process.wait(240), 0, job.process.output()[-4000:])
        summary = self.summary()
        self.expect_each_push_once(summary, 40000 * epochs, digest)
        batches = summary["batches"]
        self.assertGreater(batches["recomputed"] + batches["repeats_refused"],
                           0, summary)
        print(f"{kills} kills: {batches}")

    def test_a_frozen_worker_that_wakes_up_harms_nothing(self):
        """It holds a lease and has a push in flight each time."""
        data = self.data(40000)
        epochs = 6 + 2 * len(FREEZES)
        flags = ["--batch_size=16", f"--num_epochs={epochs}",
                 "--piece_bytes=16384"]
        digest = self.serial_digest(data, flags)
        self.slow.slow(data, 0.3)
        chance = random.Random(2)
        job = Launched(self, "--ps=2", "--workers=2", "--canary",
                       f"--silent_after={SILENT_AFTER}s",
                       f"--ps_lease={SILENT_AFTER}s",
                       f"--worker_lease={WORKER_LEASE}s",
                       "--training_data_dir=" + data, *PROBE, *flags,
                       "--summary=" + self.path("summary.json"),
                       prefix=self.slow.prefix)
        begun = 0  # where the log of the worker's life begins
        silences = 0
        for low, high in FREEZES:
            seconds = chance.uniform(low, high)
            job.process.wait_for_line("push done ", start=begun)
            self.freeze_with_a_push_in_flight(job, 1, begun, seconds, data)
            if seconds > SILENT_AFTER:
                silences += 1
                # It finds that its life is over, and joins with a new one.
                begun = 1 + job.process.wait_for_line("worker 1 joined as life",
                                                      start=self.woken)
        self.slow.fast(data)
        self.assertEqual(job.process.wait(120), 0, job.process.output()[-4000:])
        self.expect_each_push_once(self.summary(), 40000 * epochs, digest)
        output = job.process.output()
        # Once by PS 0; the worker may hear of it, and say so, too.
        self.assertEqual(
            output.count("is taken for dead; its work is given to other"),
            silences)
        self.assertEqual(output.count("worker 1 joined as life"), 1 + silences)
        print(f"{len(FREEZES)} freezes:", self.summary()["batches"])

    def freeze_with_a_push_in_flight(self, job, worker, start, seconds, data):
        """Of the life whose log begins at line `start`."""
        ps = job.pid("shoal-ps", 1)
        pid = job.pid("shoal-worker", worker)
        chance = random.Random(3)
        for _ in range(100):
            # At another moment of its step than the last time.
            self.slow.fast(data)
            threading.Event().wait(chance.uniform(0, 0.1))
            os.kill(ps, signal.SIGSTOP)
            self.slow.slow(data, 0.3)
            try:
                batch = job.push_in_flight(worker, start)
                if batch is not None:
                    os.kill(pid, signal.SIGSTOP)
            finally:
                os.kill(ps, signal.SIGCONT)
            if batch is not None:
                threading.Event().wait(seconds)
                self.woken = len(job.process.lines)
                os.kill(pid, signal.SIGCONT)
                return
        self.fail("the worker was not caught with a push in flight")

    def test_a_killed_server_is_named_by_every_process(self):
        data = self.data(20000)
        for victim in (1, 0):
            cluster = Cluster(
                self, 2, 2, PROBE + ["--batch_size=16", "--num_epochs=100000"],
                worker_flags=["--training_data_dir=" + data,
                              "--log_level=debug"])
            cluster.start_all()
            for worker in cluster.workers:
                worker.wait_for_line("push done ")
            cluster.ps[victim].signal(signal.SIGKILL)
            killed = time.monotonic()
            for process in cluster.ps + cluster.workers:
                code = process.wait(30)
                if process is cluster.ps[victim]:
                    continue
                self.assertEqual(code, 1, process.output()[-2000:])
                self.assertIn(f"ps {victim}", process.lines[-1])
            self.assertLess(time.monotonic() - killed, 30)

    def test_a_second_interrupt_ends_all_at_once(self):
        data = self.data(20000)
        job = Launched(self, "--ps=2", "--workers=2",
                       "--shutdown_timeout=60s", "--training_data_dir=" + data,
                       *PROBE, "--batch_size=16", "--num_epochs=100000")
        job.process.wait_for_line("push done ")
        pids = [job.pid(binary, index) for index in (0, 1)
                for binary in ("shoal-ps", "shoal-worker")]
        # A frozen server cannot stop in an orderly way.
        os.kill(job.pid("shoal-ps", 1), signal.SIGSTOP)
        job.process.signal(signal.SIGINT)
        job.process.wait_for_line("a second SIGINT (Ctrl-C) ends it at once")
        job.process.signal(signal.SIGINT)
        self.assertEqual(job.process.wait(10), 3, job.process.output()[-3000:])
        for pid in pids:
            self.assertFalse(os.path.exists(f"/proc/{pid}"), pid)


if __name__ == "__main__":
    harness.main()
