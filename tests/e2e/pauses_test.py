"""A pause is no death: processes that are frozen for longer than --silent_after,
all of them together or the only parameter server alone, go on as if nothing had
been."""

import signal
import threading
import time

import harness
from cluster import PROBE, Cluster


class PausesTest(harness.ShoalTest):

    def start_job(self, ps, workers, *more, epochs=4):
        """A job that trains."""
        self.data = self.write("data/tr.libsvm", harness.linear_rows(20000))
        flags = ["--batch_size=16", f"--num_epochs={epochs}", *more]
        cluster = Cluster(
            self, ps, workers, PROBE + flags + ["--canary"],
            ps_flags=["--summary=" + self.path("summary.json")],
            worker_flags=["--training_data_dir=" + self.data,
                          "--log_level=debug"])
        cluster.start_all()
        for worker in cluster.workers:
            worker.wait_for_line("push done ")
        return cluster

    @staticmethod
    def freeze(processes, seconds):
        for process in processes:
            process.signal(signal.SIGSTOP)
        threading.Event().wait(seconds)
        for process in processes:
            process.signal(signal.SIGCONT)

    def expect_same_as_serial(self, cluster, epochs=4):
        cluster.wait_all(60)
        self.run_ok("shoal", "train", "--training_data_dir=" + self.data,
                    *PROBE, "--batch_size=16", f"--num_epochs={epochs}",
                    "--summary=" + self.path("serial.json"))
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 20000 * epochs)
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])
        for shard in summary["canary"]:
            self.assertEqual(shard["not_one"], 0, summary["canary"])

    def test_all_processes_frozen_together_go_on(self):
        cluster = self.start_job(2, 2)
        self.freeze(cluster.ps + cluster.workers, 8)
        self.expect_same_as_serial(cluster)

    def test_the_only_server_frozen_alone_goes_on(self):
        cluster = self.start_job(1, 2)
        self.freeze(cluster.ps, 8)
        self.expect_same_as_serial(cluster)

    def test_a_server_is_not_lost_before_the_deadlines_that_were_given(self):
        cluster = self.start_job(2, 2, "--silent_after=40s", "--ps_lease=40s")
        self.freeze([cluster.ps[1]], 9)
        self.expect_same_as_serial(cluster)

    def test_ps_0_frozen_alone_among_several_ends_the_job_with_words(self):
        cluster = self.start_job(2, 1, epochs=400)
        cluster.ps[0].signal(signal.SIGSTOP)
        frozen = time.monotonic()
        self.assertEqual(cluster.ps[1].wait(15), 1)
        self.assertGreater(time.monotonic() - frozen, 3)
        self.assertIn("the coordinator has been silent for",
                      cluster.ps[1].lines[-1])
        cluster.ps[0].signal(signal.SIGCONT)
        self.assertEqual(cluster.ps[0].wait(15), 1)
        self.assertIn("ps 1", cluster.ps[0].output())


if __name__ == "__main__":
    harness.main()
