"""A pause is not a death: processes that are frozen for longer than
--silent_after, all of them together or only the single parameter server, go on
as if nothing had happened."""

import signal
import threading
import time

import harness
from cluster import PROBE, Cluster
from slow_data import SlowData


EPOCHS = 4
ROWS = 20000


class PausesTest(harness.ShoalTest):

    def start_job(self, name, ps, workers, *more, epochs=EPOCHS):
        """A job that trains."""
        flags = ["--batch_size=16", f"--num_epochs={epochs}",
                 "--piece_bytes=16384", *more]
        cluster = Cluster(
            self, ps, workers, PROBE + flags + ["--canary"],
            ps_flags=[f"--summary={self.path(name)}.json"],
            worker_flags=["--training_data_dir=" + self.data,
                          "--log_level=debug"],
            worker_prefix=self.slow.prefix)
        cluster.start_all()
        for worker in cluster.workers:
            worker.wait_for_line("push done ")
        return cluster

    @staticmethod
    def freeze(processes):
        for process in processes:
            process.signal(signal.SIGSTOP)

    @staticmethod
    def wake(processes):
        for process in processes:
            process.signal(signal.SIGCONT)

    def expect_same_as_serial(self, cluster, name, digest):
        cluster.wait_all(60)
        summary = self.summary(name + ".json")
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS * EPOCHS)
        self.assertEqual(summary["digest"], digest)
        for shard in summary["canary"]:
            self.assertEqual(shard["not_one"], 0, summary["canary"])

    def test_pauses(self):
        """Four jobs, which are frozen at the same time: a pause takes no
        processor."""
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        self.run_ok("shoal", "train", "--training_data_dir=" + self.data,
                    *PROBE, "--batch_size=16", f"--num_epochs={EPOCHS}",
                    "--summary=" + self.path("serial.json"))
        digest = self.summary("serial.json")["digest"]

        # No job is over before it is frozen.
        self.slow = SlowData(self)
        self.slow.slow(self.data, 0.5)
        # PS 0 alone among several ends the job with words.
        headless = self.start_job("headless", 2, 1, epochs=100000)
        self.freeze(headless.ps[:1])
        began = time.monotonic()
        # A server is not lost before the deadlines that were given.
        patient = self.start_job("patient", 2, 2, "--silent_after=40s",
                                 "--ps_lease=40s")
        self.freeze(patient.ps[1:])
        # All processes of a job go on.
        paused = self.start_job("paused", 2, 2)
        self.freeze(paused.ps + paused.workers)
        # So does a job whose only server was frozen.
        single = self.start_job("single", 1, 2)
        self.freeze(single.ps)
        frozen = time.monotonic()

        self.assertEqual(headless.ps[1].wait(15), 1)
        self.assertGreater(time.monotonic() - began, 3)
        self.assertIn("the coordinator has been silent for",
                      headless.ps[1].lines[-1])
        # More than --silent_after of 5 s, and than 7 s, which is when a
        # connection with the keepalive of that would be given up.
        threading.Event().wait(frozen + 8 - time.monotonic())
        self.wake(single.ps)
        self.wake(paused.ps + paused.workers)
        self.wake(patient.ps[1:])
        self.slow.fast(self.data)
        self.expect_same_as_serial(single, "single", digest)
        self.expect_same_as_serial(paused, "paused", digest)
        self.expect_same_as_serial(patient, "patient", digest)
        self.wake(headless.ps[:1])
        self.assertEqual(headless.ps[0].wait(15), 1)
        self.assertIn("ps 1", headless.ps[0].output())


if __name__ == "__main__":
    harness.main()
