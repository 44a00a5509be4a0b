"""Jobs without parameter servers: each worker process is a rank, which holds a
copy of all variables, and rank 0 coordinates the job."""

import os
import signal
import socket

import harness
from cluster import PROBE
from launched import Launched

ROWS = 4000
LOST = 138  # docs/commands.md
USAGE = 2
QUICK = ["--silent_after=2s", "--ps_lease=2s", "--shutdown_timeout=1s"]
SIZES = (1, 2, 3)


class RanksTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))

    def flags(self, epochs=2):
        return [*PROBE, "--mode=ring", "--batch_size=16", "--canary",
                f"--num_epochs={epochs}", "--training_data_dir=" + self.data]

    def serial_digest(self, epochs=2):
        flags = [flag for flag in self.flags(epochs) if flag != "--mode=ring"]
        self.run_ok("shoal", "train", *flags,
                    "--summary=" + self.path("serial.json"))
        return self.summary("serial.json")["digest"]

    def expect_trained(self, summary, ranks, epochs=2):
        self.expect_whole(summary)
        self.assertEqual(summary["mode"], "ring")
        self.assertEqual(summary["workers"], ranks)
        self.assertEqual(summary["samples"]["trained"], ROWS * epochs)
        for canary in summary["canary"]:
            self.assertEqual((canary["not_one"], canary["smallest"],
                              canary["largest"]), (0, 1, 1))

    def start_ranks(self, count, *more, port=None, epochs=2):
        """The ranks, started one by one, the leader last."""
        port = port or harness.free_ports(1)[0]
        hosts = [f"127.0.0.1:{port}"] + ["127.0.0.1"] * (count - 1)
        token = self.token_file()
        return [self.start(f"rank {i}", "shoal-worker",
                           *self.flags(epochs), f"--task_index={i}",
                           f"--token_file={token}",
                           "--worker_hosts=" + ",".join(hosts),
                           "--summary=" + self.path("summary.json"), *more)
                for i in reversed(range(count))][::-1]

    def test_ranks_that_are_started_one_by_one_equal_the_serial_run(self):
        digest = self.serial_digest()
        for count in SIZES:
            ranks = self.start_ranks(count)
            for rank in ranks:
                self.assertEqual(rank.wait(120), 0, rank.output()[-3000:])
            self.expect_trained(self.summary(), count)
            self.assertEqual(self.summary()["digest"], digest)

    def test_a_launcher_starts_workers_alone(self):
        digest = self.serial_digest()
        for count in SIZES:
            out = self.run_ok("shoal", "run", f"--workers={count}",
                              *self.flags(),
                              "--summary=" + self.path("summary.json"))
            self.assertNotIn("shoal-ps", out)
            self.expect_trained(self.summary(), count)
            self.assertEqual(self.summary()["digest"], digest)

    def test_a_job_goes_on_from_its_checkpoint(self):
        digest = self.serial_digest(3)
        count = SIZES[-1]
        for epochs in (1, 3):
            out = self.run_ok(
                "shoal", "run", f"--workers={count}", *self.flags(epochs),
                "--model_dir=" + self.path("model"),
                "--summary=" + self.path("summary.json"))
        self.assertIn("resumed from", out)
        self.expect_trained(self.summary(), count, 3)
        self.assertEqual(self.summary()["digest"], digest)
        self.run_ok("shoal", "ckpt", "verify", self.path("model"))

    def test_the_loss_of_rank_0_ends_the_job(self):
        ranks = self.start_ranks(max(SIZES[-1], 2), *QUICK,
                                 "--model_dir=" + self.path("model0"),
                                 epochs=100000)
        ranks[0].wait_for_line(harness.TRAINED, 60)
        ranks[0].kill()
        for rank in ranks[1:]:
            self.assertEqual(rank.wait(60), LOST, rank.output()[-3000:])

    def test_the_job_goes_on_without_other_lost_ranks(self):
        epochs = 60
        digest = self.serial_digest(epochs)
        count = max(SIZES[-1], 2)
        ranks = self.start_ranks(count, *QUICK, epochs=epochs)
        for victim in range(count - 1, 0, -1):
            ranks[0].wait_for_line(
                harness.TRAINED if victim == count - 1 else
                f"the job goes on with {victim + 1} workers", 60)
            ranks[victim].kill()
        self.assertEqual(ranks[0].wait(120), 0, ranks[0].output()[-3000:])
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS * epochs)
        self.assertEqual(summary["digest"], digest)
        for canary in summary["canary"]:
            self.assertEqual((canary["not_one"], canary["smallest"],
                              canary["largest"]), (0, 1, 1))

    def test_the_launcher_saves_a_job_that_is_stopped(self):
        job = Launched(self, f"--workers={SIZES[-1]}",
                       *self.flags(epochs=100000),
                       "--model_dir=" + self.path("model"))
        job.pid("shoal-worker", SIZES[-1] - 1)
        job.process.wait_for_line(harness.TRAINED, 60)
        os.kill(job.process.popen.pid, signal.SIGINT)
        self.assertEqual(job.process.wait(60), 3, job.process.output()[-3000:])
        self.run_ok("shoal", "ckpt", "verify", self.path("model"))

    def usage_error(self, *args):
        code, out = self.run_fails(*args)
        self.assertEqual(code, USAGE, out)
        return out

    def test_a_newcomers_mistakes_are_named(self):
        worker = ["shoal-worker", *self.flags(), "--task_index=0"]
        self.assertIn("leave --ps out", self.usage_error(
            "shoal", "run", *self.flags(), "--ps=2"))
        self.assertIn("give --worker_hosts, whose first entry has a port",
                      self.usage_error(*worker, "--ps_hosts=127.0.0.1:1",
                                       "--worker_hosts=127.0.0.1"))
        self.assertIn("start shoal-worker alone", self.usage_error(
            "shoal-ps", *self.flags()[:-1], "--task_index=0",
            "--ps_hosts=127.0.0.1:1", "--worker_hosts=127.0.0.1"))
        with socket.socket() as busy:
            busy.bind(("127.0.0.1", 0))
            busy.listen()
            port = busy.getsockname()[1]
            self.assertIn(
                f"cannot listen on 127.0.0.1:{port}: another process",
                self.usage_error(*worker, f"--worker_hosts=127.0.0.1:{port}"))

    def test_a_table_that_each_rank_would_hold_is_refused(self):
        """Each copy alone would fit into no memory that tests run in."""
        large = [flag.replace("size=300", f"size={10**13}")
                 for flag in self.flags()]
        out = self.usage_error("shoal", "run", "--workers=2", *large)
        self.assertRegex(out, r"memory: copy of all variables ~[0-9.]+ .B each")
        self.assertIn("each worker holds all variables", out)
        self.assertIn("each worker holds all variables", self.usage_error(
            "shoal", "train", "--workers=2", *large))

    def test_ranks_of_two_batch_sizes_are_both_named(self):
        first, second = self.start_two("--batch_size=16", "--batch_size=32")
        self.assertEqual(second.wait(30), 1, second.output())
        for rank in (first, second):
            rank.wait_for_line("--batch_size differs: ")
            self.assertRegex(rank.output(),
                             "(worker|ps) 1 has 32, the coordinator has 16")
        # Rank 0 still waits for rank 1, which may be started anew.
        self.assertIsNone(first.popen.poll())

    def start_two(self, *flags):
        """Two ranks, each with a flag of its own."""
        port, = harness.free_ports(1)
        token = self.token_file()
        return [self.start(
            f"rank {i}", "shoal-worker",
            *[f for f in self.flags() if not f.startswith("--batch_size")],
            flag, f"--task_index={i}", f"--token_file={token}",
            f"--worker_hosts=127.0.0.1:{port},127.0.0.1")
                for i, flag in enumerate(flags)]


if __name__ == "__main__":
    harness.main()
