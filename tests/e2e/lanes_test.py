"""The data that make the pipelines of others hang, or train and evaluate other
rows than they were given: uneven files, one compressed file, fewer pieces than
ranks, short last batches, files on hosts of their own; and jobs that are stopped
in the middle of an epoch. In every mode each row counts once."""

import gzip
import os
import signal

import harness
from cluster import PROBE, Cluster
from slow_data import SlowData

RANKS, EPOCHS = 3, 3
BATCH = ["--batch_size=16", "--piece_bytes=2048"]
# By file: short ones, one that cannot be cut, and one for two ranks and more.
TRAIN = {"tr0.libsvm": 700, "tr1.libsvm": 13, "tr2.libsvm": 1,
         "tr3.libsvm": 260, "tr4.libsvm.gz": 333}
VALIDATION = {"va0.libsvm": 501, "va1.libsvm.gz": 37}
DEEPFM = ["--feature_size=300", "--field_size=4", "--embedding_size=4",
          "--deep_layers=16,8", "--keep_prob=0.8,0.8", "--optimizer=adam",
          "--learning_rate=0.01"]
MODES = (["--mode=async", "--ps=2"],
         ["--mode=ssp", "--ssp_bound=1", "--ps=1"],
         ["--mode=sync", "--ps=2"],
         ["--mode=sync", "--ps=1", "--backup_workers=1"],
         ["--mode=ring", "--reduction=fast"],
         ["--mode=hybrid", "--ps=2"])
# Those whose steps are the same each time.
STEPPED = (["--mode=sync", "--ps=2"],
           ["--mode=ring", "--reduction=rank_order"],
           ["--mode=ring", "--reduction=fast", "--bucket_bytes=4096"])
STOPPED = 3  # docs/commands.md


class LanesTest(harness.ShoalTest):

    def write_rows(self, name, rows, seed):
        text = harness.linear_rows(rows, seed=seed)
        path = self.write(name, text)
        if name.endswith(".gz"):
            with gzip.open(path, "wt") as file:
                file.write(text)

    def write_files(self, train=None, validation=None, place=""):
        """The files, and the number of rows of both kinds."""
        train = TRAIN if train is None else train
        validation = VALIDATION if validation is None else validation
        for kind, files in (("train", train), ("val", validation)):
            for seed, (name, rows) in enumerate(files.items(), 1 + len(kind)):
                self.write_rows(os.path.join(place, kind, name), rows, seed)
        return sum(train.values()), sum(validation.values())

    def data(self, place=""):
        return ["--training_data_dir=" + self.path(place, "train"),
                "--val_data_dir=" + self.path(place, "val")]

    def run_job(self, *flags, name="summary.json", command="run"):
        self.run_ok("shoal", command, *flags, "--summary=" + self.path(name))
        return self.summary(name)

    def serial(self, *flags):
        return self.run_job(*flags, name="serial.json", command="train")

    def expect_each_row_once(self, summary, rows, serial):
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], rows[0] * EPOCHS)
        self.assertEqual(summary["batches"]["trained"],
                         serial["batches"]["trained"])
        self.assertEqual(summary["digest"], serial["digest"])
        for canary in summary["canary"]:
            self.assertEqual(canary["rows"], summary["batches"]["trained"])
            self.assertEqual((canary["not_one"], canary["smallest"],
                              canary["largest"]), (0, 1, 1))
        self.assertEqual(len(summary["evals"]), len(serial["evals"]))
        for one, other in zip(summary["evals"], serial["evals"]):
            self.assertEqual(one["examples"], rows[1])
            self.assertEqual(sum(one["per_worker"]), rows[1])
            for key in ("epoch", "step", "auc", "logloss", "calibration"):
                self.assertEqual(one[key], other[key], key)

    def expect_in_modes(self, rows, modes, command="run", ranks=RANKS):
        flags = [*PROBE, *BATCH, f"--num_epochs={EPOCHS}", "--canary",
                 *self.data()]
        serial = self.serial(*flags)
        for mode in modes:
            with self.subTest(mode=mode):
                if command == "train":
                    mode = [flag for flag in mode if "--ps" not in flag]
                summary = self.run_job(*mode, f"--workers={ranks}", *flags,
                                       command=command)
                self.expect_each_row_once(summary, rows, serial)

    def test_uneven_and_compressed_files(self):
        self.expect_in_modes(self.write_files(), MODES)

    def test_fewer_pieces_than_ranks(self):
        files = {"tr0.libsvm": 85}  # two pieces of six batches, one of them short
        rows = self.write_files(files, {"va0.libsvm": 5})
        self.expect_in_modes(rows, MODES[2:])
        self.expect_in_modes(rows, MODES, "train", ranks=5)

    def test_one_compressed_file(self):
        rows = self.write_files({"tr0.libsvm.gz": 333}, {"va0.libsvm.gz": 37})
        self.expect_in_modes(rows, MODES)
        self.expect_in_modes(rows, MODES, "train")

    def test_fewer_batches_than_ranks(self):
        rows = self.write_files({"tr0.libsvm": 7}, {"va0.libsvm": 2})
        self.expect_in_modes(rows, MODES[4:])
        self.expect_in_modes(rows, MODES, "train")

    def start_hosts(self, mode, flags):
        """Two ranks on host h1 and one on host h2, each of which sees the files
        of its own host alone. Returns all processes."""
        hosts = ["h1", "h1", "h2"]
        summary = "--summary=" + self.path("summary.json")
        ring = mode[0] == "--mode=ring"
        cluster = Cluster(
            self, 0 if ring else 1, len(hosts), [*mode, *flags],
            ps_flags=[summary], worker_flags=[summary] if ring else [],
            worker_hosts=hosts)
        if ring:
            port, = harness.free_ports(1)
            cluster.common = [flag for flag in cluster.common
                              if not flag.startswith("--ps_hosts")]
            cluster.worker_flags.append(f"--coordinator=127.0.0.1:{port}")
        else:
            cluster.start_ps(0)
        for i, host in enumerate(hosts):
            cluster.start_worker(i, *self.data(host))
        return cluster

    def test_files_that_each_host_has_for_itself(self):
        rows = [self.write_files(place="h1"),
                self.write_files({"tr7.libsvm": 210, "tr8.libsvm.gz": 50},
                                 {"va7.libsvm": 300}, place="h2")]
        flags = [*PROBE, *BATCH, f"--num_epochs={EPOCHS}", "--canary"]
        serial = self.serial(
            *flags, "--training_data_dir=" + self.path("h*", "train"),
            "--val_data_dir=" + self.path("h*", "val"))
        for mode in (["--mode=async"], ["--mode=ssp", "--ssp_bound=1"],
                     ["--mode=sync"], ["--mode=ring"], ["--mode=hybrid"]):
            with self.subTest(mode=mode):
                self.start_hosts(mode, [*flags, "--data_scope=host",
                                        "--val_data_scope=host"]).wait_all()
                summary = self.summary()
                self.expect_each_row_once(
                    summary, [sum(kind) for kind in zip(*rows)], serial)
                first, second, third = summary["per_worker"]
                self.assertEqual(third, rows[1][0] * EPOCHS)
                # The ranks of a host share its files about evenly.
                if mode[0] in ("--mode=sync", "--mode=ring", "--mode=hybrid"):
                    self.assertGreater(min(first, second), rows[0][0])

    def test_the_evaluation_is_that_of_one_process(self):
        rows = self.write_files()
        for mode in (*MODES[:2], *STEPPED, MODES[-1]):
            with self.subTest(mode=mode):
                model = self.path("model" + "".join(mode))
                summary = self.run_job(
                    *mode, *DEEPFM, *BATCH, f"--workers={RANKS}", *self.data(),
                    f"--num_epochs={EPOCHS}", "--model_dir=" + model)
                self.assertEqual(
                    [e["examples"] for e in summary["evals"]],
                    [rows[1]] * EPOCHS)
                alone = self.run_job("--model_dir=" + model, self.data()[1],
                                     BATCH[1], command="eval", name="eval.json")
                for key in ("auc", "logloss", "calibration", "examples"):
                    self.assertEqual(summary["eval"][key], alone["eval"][key])
                self.assertEqual(summary["digest"], alone["digest"])

    def test_a_job_that_is_stopped_takes_the_steps_of_one_that_is_not(self):
        rows = self.write_files({"tr0.libsvm": 2500, "tr1.libsvm.gz": 500}, {})
        slow = SlowData(self)
        slow.slow("tr0.libsvm", 0.5)
        digests = []
        for mode in STEPPED:
            with self.subTest(mode=mode):
                job = ["shoal", "run", *mode, *DEEPFM, *BATCH,
                       f"--workers={RANKS}", f"--num_epochs={EPOCHS}",
                       self.data()[0],
                       "--summary=" + self.path("summary.json")]
                self.run_ok(*job)
                whole = self.summary()
                model = ["--model_dir=" + self.path("model" + "".join(mode)),
                         "--save_checkpoint_steps=100"]
                first = self.start("first", *job, *model, prefix=slow.prefix)
                first.wait_for_line("saved ")
                first.signal(signal.SIGTERM)
                self.assertEqual(first.wait(30), STOPPED,
                                 first.output()[-3000:])
                self.assertLess(self.summary()["batches"]["trained"],
                                whole["batches"]["trained"])
                self.run_ok(*job, *model)
                summary = self.summary()
                self.expect_whole(summary)
                self.assertGreater(summary["checkpoint"]["resumed_step"], 0)
                self.assertEqual(summary["samples"]["trained"], rows[0] * EPOCHS)
                self.assertEqual(summary["digest"], whole["digest"])
                digests.append(summary["digest"])
        # Sync and a ring in the order of the ranks add in the same order.
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[1], digests[2])


if __name__ == "__main__":
    harness.main()
