"""--mode=hybrid over processes: one worker has the weights of a step of one
batch, a job that is stopped goes on with other numbers of servers and workers,
its checkpoints have a file for each shard, and flags that do not fit are
refused."""

import os
import signal

import harness
from cluster import PROBE, Cluster
from slow_data import SlowData

ROWS, EPOCHS = 3000, 3
BATCH = ["--batch_size=16", "--piece_bytes=4096"]
DEEPFM = ["--feature_size=300", "--field_size=4", "--embedding_size=4",
          "--deep_layers=16,8", "--keep_prob=0.8,0.8", "--learning_rate=0.01"]
STOPPED = 3  # docs/commands.md


class HybridTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))

    def run_job(self, command, *flags, name="summary.json"):
        self.run_ok("shoal", command, *BATCH,
                    "--training_data_dir=" + self.data, *flags,
                    "--summary=" + self.path(name))
        summary = self.summary(name)
        self.expect_whole(summary)
        return summary

    def usage_error(self, *args):
        code, output = self.run_fails(*args)
        self.assertEqual(code, 2, output)
        return output

    def test_one_worker_has_the_weights_of_steps_of_one_batch(self):
        for optimizer in ("sgd", "adagrad", "adam"):
            with self.subTest(optimizer=optimizer):
                flags = [*DEEPFM, f"--optimizer={optimizer}"]
                one = self.run_job("train", "--mode=sync", *flags)["digest"]
                self.assertEqual(self.run_job(
                    "train", "--mode=hybrid", *flags)["digest"], one)
                run = self.run_job("run", "--mode=hybrid", "--ps=2",
                                   "--workers=1", *flags)
                self.assertEqual(run["digest"], one)
                self.assertEqual((run["ps"], run["workers"]), (2, 1))
                self.assertEqual(run["staleness"]["max"], 0)
                # The copy of the dense variables counts once.
                self.assertEqual([b["shard"] for b in run["balance"]],
                                 [0, 1, 2])
                self.assertEqual(run["balance"][2]["rows"], 0)

    def test_a_stopped_job_goes_on_with_other_servers_and_workers(self):
        slow = SlowData(self)
        flags = [*PROBE, "--canary", f"--num_epochs={EPOCHS}"]
        serial = self.run_job("train", *flags)["digest"]
        model = self.path("model")
        job = [*flags, *BATCH, "--training_data_dir=" + self.data,
               "--mode=hybrid", "--model_dir=" + model,
               "--save_checkpoint_steps=100",
               "--summary=" + self.path("summary.json")]
        slow.slow(self.data, 0.5)
        first = self.start("first", "shoal", "run", *job, "--ps=2",
                           "--workers=3", prefix=slow.prefix)
        first.wait_for_line("saved ")
        first.signal(signal.SIGTERM)
        self.assertEqual(first.wait(30), STOPPED, first.output()[-3000:])
        newest = os.path.join(model, sorted(
            name for name in os.listdir(model) if name.startswith("ckpt-"))[-1])
        files = [f"shard-0000{k}-of-00003.safetensors" for k in range(3)]
        self.assertEqual(sorted(name for name in os.listdir(newest)
                                if name.startswith("shard-")), files)
        verified = self.run_ok("shoal", "ckpt", "verify", newest)
        self.assertIn("whole: 3 files", verified)
        balance = self.run_ok("shoal", "ckpt", "balance", newest)
        self.assertRegex(balance, r"(?m)^\s*2\b")
        # The second of them finds everything trained.
        for ps, workers in ((1, 2), (3, 4)):
            self.run_ok("shoal", "run", *job, f"--ps={ps}",
                        f"--workers={workers}", f"--num_epochs={EPOCHS}")
            summary = self.summary()
            self.expect_whole(summary)
            self.assertEqual(summary["samples"]["trained"], ROWS * EPOCHS)
            self.assertEqual(summary["digest"], serial)
            self.assertGreater(summary["checkpoint"]["resumed_step"], 0)
            self.assertEqual(len(summary["canary"]), ps + workers)
            for canary in summary["canary"]:
                self.assertEqual((canary["not_one"], canary["smallest"],
                                  canary["largest"]), (0, 1, 1))
        # One process loads it too.
        alone = self.run_ok(
            "shoal", "eval", "--model_dir=" + model,
            "--val_data_dir=" + self.data,
            "--summary=" + self.path("eval.json"))
        self.assertEqual(self.summary("eval.json")["digest"], serial, alone)

    def test_hosts_with_disks_of_their_own_go_on(self):
        """Server k and worker k are on host k. Worker 0 writes the dense
        variables, and the others get them from server 0."""
        serial = self.run_job("train", *PROBE, "--num_epochs=2")["digest"]
        for epochs in (1, 2):
            cluster = Cluster(
                self, 3, 3, [*PROBE, *BATCH, "--mode=hybrid",
                             f"--num_epochs={epochs}",
                             "--training_data_dir=" + self.data],
                ps_flags=["--summary=" + self.path("summary.json")])
            for i in range(3):
                disk = "--model_dir=" + self.path(f"disk{i}", "model")
                cluster.start_ps(i, disk)
                cluster.start_worker(i, disk)
            cluster.wait_all()
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["digest"], serial)
        self.assertGreater(summary["checkpoint"]["resumed_step"], 0)
        for i in range(3):
            self.assertEqual("fetched " in cluster.workers[i].output(), i > 0)
            first = sorted(os.listdir(self.path(f"disk{i}", "model")))
            names = os.listdir(os.path.join(
                self.path(f"disk{i}", "model"),
                next(name for name in first if name.startswith("ckpt-"))))
            self.assertEqual(
                sorted(name for name in names if name.startswith("shard-")),
                [f"shard-0000{k}-of-00004.safetensors" for k in (i, 3)])

    def test_a_killed_server_ends_the_job_and_is_named(self):
        slow = SlowData(self)
        slow.slow(self.data, 1)
        cluster = Cluster(
            self, 2, 2, [*PROBE, *BATCH, "--mode=hybrid", "--num_epochs=1000",
                         "--training_data_dir=" + self.data,
                         "--silent_after=3s", "--ps_lease=3s",
                         "--shutdown_timeout=1s"],
            ps_flags=["--progress_every=100ms",
                      "--summary=" + self.path("summary.json")],
            worker_prefix=slow.prefix).start_all()
        cluster.ps[0].wait_for_line(harness.TRAINED, 60)
        cluster.ps[1].signal(signal.SIGKILL)
        for process in (cluster.ps[0], *cluster.workers):
            self.assertEqual(process.wait(30), 1, process.output()[-3000:])
        self.assertRegex(self.summary()["exit_reason"], r"^ps 1\b")

    def test_flags_that_do_not_fit_are_refused(self):
        hosts = ["--ps_hosts=127.0.0.1:1", "--task_index=0",
                 "--feature_size=9", "--field_size=3",
                 "--training_data_dir=" + self.data, "--mode=hybrid"]
        for program, flags, words in (
                ("shoal-worker", hosts, "needs --worker_hosts"),
                ("shoal-worker", [*hosts, "--worker_hosts=127.0.0.1",
                                  "--coordinator=127.0.0.1:2"],
                 "leave --coordinator out"),
                ("shoal-worker", [*hosts, "--worker_hosts=127.0.0.1",
                                  "--pipeline_depth=1"], "has depth 0")):
            with self.subTest(flags=flags):
                self.assertIn(words, self.usage_error(program, *flags))
        self.assertIn(
            "--bucket_bytes=4096 is for --mode=ring or --mode=hybrid",
            self.usage_error("shoal", "train", "--feature_size=9",
                             "--field_size=3", "--bucket_bytes=4096",
                             "--training_data_dir=" + self.data))


if __name__ == "__main__":
    harness.main()
