"""One job a directory, on every host: servers of another job are refused, and
harm no checkpoint of the job that is there."""

import os
import signal

import harness
from cluster import PROBE, Cluster
from slow_data import SlowData

ROWS = 20000
EPOCHS = 2
# A server whose coordinator died is gone in 1.5 s; it is waited for so long.
FAST = ["--heartbeat=200ms", "--silent_after=1500ms", "--ps_lease=1s"]
FLAGS = [*PROBE, "--batch_size=16", f"--num_epochs={EPOCHS}",
         "--piece_bytes=16384"]
SAVING = ["--save_checkpoint_steps=200"]


class DirectoriesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = "--training_data_dir=" + self.write(
            "data/tr.libsvm", harness.linear_rows(ROWS))
        self.shared = self.path("second_host")
        # No job is over before it has saved and was frozen or killed.
        self.slow = SlowData(self)
        self.slow.slow("tr.libsvm", 0.2)

    def job(self, name, hosts=None):
        """Two servers, the second with the directory that both jobs have."""
        cluster = Cluster(self, 2, 1, FLAGS + FAST, hosts=hosts,
                          worker_prefix=self.slow.prefix)
        cluster.start_ps(0, *SAVING, "--model_dir=" + self.path(name),
                         "--summary=" + self.path(name + ".json"))
        cluster.start_ps(1, *SAVING, "--model_dir=" + self.shared)
        cluster.start_worker(0, self.data, *SAVING,
                             "--model_dir=" + self.path(name))
        return cluster

    def test_a_second_job_is_refused_and_the_first_goes_on(self):
        first = self.job("first")
        first.ps[0].wait_for_line("saved " + self.path("first"))
        # It stands still, and its servers live, while the other job comes.
        first.workers[0].signal(signal.SIGSTOP)
        second = self.job("second")
        codes = [process.wait(60) for process in second.ps + second.workers]
        alone = self.start("alone", "shoal", "train", self.data, *FLAGS, *FAST,
                           *SAVING, "--model_dir=" + self.shared)
        codes.append(alone.wait(60))
        for process in [*first.workers, *first.ps]:
            process.kill()
        # All of it goes on from what it saved.
        self.slow.fast("tr.libsvm")
        again = self.job("first", hosts=first.hosts)
        again.wait_all()
        self.assertTrue(any("resumed from " + self.path("first") in line
                            for line in again.ps[0].lines),
                        again.ps[0].output())
        summary = self.summary("first.json")
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS * EPOCHS)
        self.run_ok("shoal", "train", self.data, *FLAGS,
                    "--summary=" + self.path("serial.json"))
        self.assertEqual(summary["digest"],
                         self.summary("serial.json")["digest"])
        # The others heard whose the directory is and what to do.
        self.assertNotIn(0, codes)
        for process in [second.ps[0], second.ps[1], alone]:
            self.assertRegex(
                process.output(),
                rf"--model_dir={self.shared} belongs to another job on this "
                rf"host: {self.shared}/LOCK\.ps is locked by start [0-9a-f]+, pid "
                rf"{first.ps[1].popen.pid} on .*; end that job, or give each "
                "job a separate directory")
        stale = [name for _, _, names in os.walk(self.shared)
                 for name in names if ".stale-" in name]
        self.assertEqual(stale, [])

    def test_a_coordinator_that_comes_back_waits_for_its_old_servers(self):
        flags = [*SAVING, "--model_dir=" + self.shared]  # one disk for all
        first = Cluster(self, 2, 1, FLAGS + FAST,
                        worker_prefix=self.slow.prefix)
        for i in range(2):
            first.start_ps(i, *flags)
        first.start_worker(0, self.data)
        first.ps[0].wait_for_line("saved " + self.shared)
        first.ps[0].kill()
        again = Cluster(self, 2, 1, FLAGS + FAST)  # on other ports
        again.start_ps(0, *flags)
        self.assertNotEqual(first.ps[1].wait(30), 0)
        again.start_ps(1, *flags)
        again.start_worker(0, self.data)
        again.wait_all()


if __name__ == "__main__":
    harness.main()
