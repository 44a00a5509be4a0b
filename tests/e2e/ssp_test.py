"""--mode=ssp: workers that keep within --ssp_bound steps of the slowest end with
the weights of the serial run; a frozen worker holds the others up until it is
taken for dead; a checkpoint waits for no pace."""

import signal
import threading
import time

import harness
from cluster import PROBE, Cluster
from slow_data import SlowData

ROWS = 8000
BATCH = ["--batch_size=16"]


class SspTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))

    def serial_digest(self, epochs):
        self.run_ok("shoal", "train", "--training_data_dir=" + self.data,
                    *PROBE, *BATCH, f"--num_epochs={epochs}",
                    "--summary=" + self.path("serial.json"))
        return self.summary("serial.json")["digest"]

    def expect_exact(self, summary, epochs, digest):
        self.expect_whole(summary)
        self.assertEqual(summary["mode"], "ssp")
        self.assertEqual(summary["samples"]["trained"], ROWS * epochs)
        self.assertEqual(summary["digest"], digest)
        for shard in summary["canary"]:
            self.assertEqual(shard["rows"], summary["batches"]["trained"])
            self.assertEqual((shard["smallest"], shard["largest"]), (1, 1))

    def start_job(self, ps, workers, epochs, *flags, ps_flags=(),
                  worker_prefix=()):
        """A job whose workers all train."""
        cluster = Cluster(
            self, ps, workers,
            PROBE + BATCH + ["--mode=ssp", "--canary", *flags,
                             f"--num_epochs={epochs}", "--piece_bytes=16384"],
            ps_flags=["--summary=" + self.path("summary.json"), *ps_flags],
            worker_flags=["--training_data_dir=" + self.data,
                          "--log_level=debug"],
            worker_prefix=worker_prefix)
        cluster.start_all()
        for worker in cluster.workers:
            worker.wait_for_line("push done ")
        return cluster

    @staticmethod
    def steps(worker):
        return sum("push done " in line for line in list(worker.lines))

    @staticmethod
    def steps_before(worker, peer):
        """The steps that a worker had logged when its peer pushed first; all
        processes log by one clock."""
        first = next(line for line in list(peer.lines) if "push sent " in line)
        return sum("push done " in line and line.split()[0] < first.split()[0]
                   for line in list(worker.lines))

    def settled(self, worker):
        """The steps of a worker that goes no further."""
        steps = -1
        while steps != (steps := self.steps(worker)):
            threading.Event().wait(0.7)
        return steps

    def test_every_number_of_servers_and_workers_ends_with_the_same_weights(self):
        digest = self.serial_digest(2)
        for command, ps, workers, bound in (
                ("run", 1, 4, 0), ("run", 2, 2, 3), ("run", 3, 3, 1),
                ("train", None, 3, 0), ("train", None, 1, 2)):
            with self.subTest(command=command, ps=ps, workers=workers):
                self.run_ok(
                    "shoal", command, f"--workers={workers}",
                    *([] if ps is None else [f"--ps={ps}"]), *PROBE, *BATCH,
                    "--mode=ssp", f"--ssp_bound={bound}", "--canary",
                    "--num_epochs=2", "--piece_bytes=16384",
                    "--training_data_dir=" + self.data,
                    "--summary=" + self.path("summary.json"))
                self.expect_exact(self.summary(), 2, digest)

    def test_a_killed_worker_changes_nothing(self):
        epochs = 8
        digest = self.serial_digest(epochs)
        slow = SlowData(self)
        slow.slow(self.data, 0.5)
        cluster = self.start_job(2, 3, epochs, "--ssp_bound=2",
                                 worker_prefix=slow.prefix)
        cluster.workers[1].signal(signal.SIGKILL)
        self.assertEqual(cluster.workers[1].wait(), -signal.SIGKILL)
        cluster.ps[0].wait_for_line("its pieces may be leased again")
        cluster.start_worker(1).wait_for_line("push done ")
        slow.fast(self.data)
        cluster.wait_all()
        self.expect_exact(self.summary(), epochs, digest)

    def test_a_frozen_worker_holds_the_others_up_until_it_is_taken_for_dead(self):
        bound = 5
        depth = 1  # of the pipeline, over the network
        cluster = self.start_job(
            1, 3, 100000, f"--ssp_bound={bound}", "--silent_after=15s",
            "--ps_lease=15s")
        frozen, *others = [cluster.workers[i] for i in (2, 0, 1)]
        frozen.signal(signal.SIGSTOP)
        began = time.monotonic()
        waiting = [self.settled(worker) for worker in others]
        done = self.settled(frozen)
        self.assertLess(time.monotonic() - began, 14, "it may be dead by now")
        # The frozen one began at the clock of the slowest of the others, which
        # may have trained a step whose end was not logged yet. So may the
        # frozen one when it was stopped.
        for worker, steps in zip(others, waiting):
            first = self.steps_before(worker, frozen) + 1
            self.assertLessEqual(steps,
                                 first + done + 1 + bound + 1 + depth)
        cluster.ps[0].wait_for_line("worker 2 was silent for more than 15s", 30)
        deadline = time.monotonic() + 20
        while any(self.steps(worker) < steps + 10 * bound
                  for worker, steps in zip(others, waiting)):
            self.assertLess(time.monotonic(), deadline, "they still wait")
            threading.Event().wait(0.1)
        before = len(cluster.ps[0].lines)
        frozen.signal(signal.SIGCONT)
        cluster.ps[0].wait_for_line("worker 2 joined as life", start=before)

    def test_a_checkpoint_waits_for_no_pace(self):
        directory = self.path("model")
        cluster = self.start_job(
            1, 2, 100000, "--ssp_bound=0",
            ps_flags=["--model_dir=" + directory, "--save_checkpoint_secs=0s"])
        ahead, frozen = cluster.workers
        for _ in range(2):
            frozen.signal(signal.SIGSTOP)
            self.settled(ahead)
            save = self.start("save", "shoal", "ckpt", "save", directory)
            # The worker that waits for the other one is held now, and the
            # other one as soon as it goes on.
            threading.Event().wait(0.5)
            frozen.signal(signal.SIGCONT)
            self.assertEqual(save.wait(30), 0, save.output())
            self.run_ok("shoal", "ckpt", "verify", save.lines[-1].strip())
            after = self.steps(ahead)
            deadline = time.monotonic() + 20
            while self.steps(ahead) < after + 20:
                self.assertLess(time.monotonic(), deadline, "it still waits")
                threading.Event().wait(0.05)
        cluster.ps[0].signal(signal.SIGTERM)
        self.assertEqual(cluster.ps[0].wait(), 3)

    def test_a_job_goes_on_with_another_bound_and_without_one(self):
        job = ["shoal", "train", "--workers=2", *PROBE, *BATCH,
               "--training_data_dir=" + self.data,
               "--model_dir=" + self.path("model"),
               "--summary=" + self.path("summary.json")]
        self.run_ok(*job, "--mode=ssp", "--ssp_bound=1")
        self.run_ok(*job, "--num_epochs=2", "--mode=ssp", "--ssp_bound=6")
        self.run_ok(*job, "--num_epochs=3")
        self.assertEqual(self.summary()["digest"], self.serial_digest(3))

    def test_a_bound_without_the_mode_is_refused(self):
        code, output = self.run_fails(
            "shoal", "run", *PROBE, "--training_data_dir=" + self.data,
            "--ssp_bound=1")
        self.assertEqual(code, 2, output)
        self.assertIn("--ssp_bound=1 is for --mode=ssp", output)


if __name__ == "__main__":
    harness.main()
