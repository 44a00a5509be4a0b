"""shoal eval and shoal infer: a checkpoint and data are all they need, and what
they say is what the job said that wrote the checkpoint."""

import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import unittest

import harness
from slow_data import SlowData

NOBODY = 65534
OLD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testdata",
                   "checkpoints_0.5.0")
DEEPFM = ["--model=deepfm", "--feature_size=300", "--field_size=4",
          "--embedding_size=4", "--deep_layers=8,6"]
RATES = ["--learning_rate=0.01", "--table_optimizer=adagrad",
         "--wide_optimizer=ftrl", "--seed=5", "--batch_size=50"]


def read_safetensors(path):
    """{name: numbers, row-major} by the format's own description."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        begin, end = info["data_offsets"]
        kind, width = {"F32": ("f", 4), "I64": ("q", 8)}[info["dtype"]]
        tensors[name] = struct.unpack(f"<{(end - begin) // width}{kind}",
                                      data[begin:end])
    return tensors


def flip_a_byte(path, tensor):
    with open(path, "r+b") as file:
        size, = struct.unpack("<Q", file.read(8))
        at = 8 + size + json.loads(file.read(size))[tensor]["data_offsets"][0]
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))


def listing(top):
    """Every name below `top`, with all that a write would change."""
    found = {}
    for directory, names, files in os.walk(top):
        for name in [".", *names, *files]:
            stat = os.stat(os.path.join(directory, name))
            found[os.path.join(directory, name)] = (
                stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    return found


def printed_aucs(output):
    """What stands after AUC in each closing line, without the epoch."""
    return [line.split(", after epoch")[0]
            for line in re.findall(r"^(?:\[.*\] )?(AUC {2,}.*)$", output, re.M)]


class ScoringTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.files = [self.write(f"tr/{i}.libsvm",
                                 harness.linear_rows(1000, seed=i + 1))
                      for i in range(4)]
        # A quarter of its ids are new to the model.
        self.val = self.write("va.libsvm", harness.linear_rows(
            3000, features=400, seed=9))
        self.known = self.write("known.libsvm", harness.linear_rows(
            3000, seed=9))
        self.model = self.path("model")

    def train(self, command, *flags, val=None):
        """A job of three epochs, each of which ends with an evaluation and a
        checkpoint; returns the summary and what was printed."""
        val = val or self.val
        slow = SlowData(self)
        slow.hold(val)
        job = self.start(
            "job", "shoal", *command, *flags, *RATES,
            "--training_data_dir=" + self.path("tr"), "--piece_bytes=0",
            "--val_data_dir=" + val, "--num_epochs=3",
            "--save_checkpoint_steps=80", "--keep_checkpoints=0",
            "--model_dir=" + self.model,
            "--summary=" + self.path("summary.json"), prefix=slow.prefix)
        at = 0
        for step in (80, 160):
            at = job.wait_for_line("evaluating on", start=at) + 1
            # No batch of the next epoch comes before the checkpoint is saved.
            for path in self.files:
                slow.hold(path, 0)
            slow.fast(val)
            job.wait_for_line("saved " + self.checkpoint(step))
            slow.hold(val)
            for path in self.files:
                slow.fast(path)
        slow.fast(val)
        self.assertEqual(job.wait(), 0, job.output())
        return self.summary(), job.output()

    def checkpoint(self, step, model=None):
        return os.path.join(model or self.model, f"ckpt-{step:011d}")

    def expect_the_aucs_again(self, command, *flags, val=None):
        val = val or self.val
        shutil.rmtree(self.model, ignore_errors=True)
        summary, output = self.train(command, *flags, val=val)
        self.assertEqual([e["step"] for e in summary["evals"]], [80, 160, 240])
        said = printed_aucs(output)
        self.assertEqual(len(set(said)), 3, output)
        before = listing(self.model)
        for line, evaluation in zip(said, summary["evals"]):
            path = self.checkpoint(evaluation["step"])
            output = self.run_ok("shoal", "eval", "--checkpoint=" + path,
                                 "--val_data_dir=" + val,
                                 "--summary=" + self.path("eval.json"))
            self.assertEqual(printed_aucs(output), [line], path)
            self.assertIn(f"model      of {path}, step", output)
            for key in ("auc", "examples"):
                self.assertEqual(self.summary("eval.json")["eval"][key],
                                 evaluation[key])
        newest = self.run_ok("shoal", "eval", "--model_dir=" + self.model,
                             "--val_data_dir=" + val, "--workers=3")
        self.assertEqual(printed_aucs(newest), said[-1:])
        self.assertEqual(listing(self.model), before)

    def test_one_server(self):
        self.expect_the_aucs_again(
            ["train"], *DEEPFM, "--keep_prob=0.5,0.9", val=self.known)

    def test_two_servers_with_a_table_that_grows(self):
        self.expect_the_aucs_again(
            ["run", "--ps=2", "--workers=2"], *DEEPFM, "--feature_size=0",
            "--canary")

    def test_three_servers_with_full_tables(self):
        """The shard decides which row an id shares."""
        self.expect_the_aucs_again(
            ["run", "--ps=3", "--workers=2"], "--model=fm", "--field_size=4",
            "--embedding_size=4", "--table_row_limit=60",
            "--table_full=share")

    def test_three_servers_with_an_array(self):
        self.expect_the_aucs_again(
            ["run", "--ps=3", "--workers=1"], *DEEPFM, "--partition=mod",
            val=self.known)

    def test_predictions_are_those_of_the_task(self):
        flags = [*DEEPFM, "--feature_size=0"]
        self.train(["run", "--ps=2", "--workers=2"], *flags)
        data = "--val_data_dir=" + self.val
        task = [*flags, *RATES, "--task_type=infer", data,
                "--model_dir=" + self.model]
        for n, command in enumerate((["train"], ["run", "--ps=3",
                                                 "--workers=2"])):
            self.run_ok("shoal", *command, *task,
                        "--predictions_file=" + self.path(f"task{n}"))
        self.run_ok("shoal", "infer", data, "--model_dir=" + self.model,
                    "--predictions_file=" + self.path("infer"))
        said = self.run_ok(
            "shoal", "infer", data, "--checkpoint=" + self.checkpoint(240),
            "--predictions_format=binary", "--workers=2",
            "--predictions_file=" + self.path("binary"))
        self.assertIn("predicted  3,000 rows", said)
        with open(self.path("infer")) as file:
            text = file.read()
        for n in range(2):
            with open(self.path(f"task{n}")) as file:
                self.assertEqual(file.read(), text)
        values = [float(line) for line in text.splitlines()]
        self.assertGreater(len(set(values)), 2000)
        with open(self.path("binary"), "rb") as file:
            self.assertEqual(file.read(), struct.pack("<3000f", *values))
        # An older one predicts otherwise.
        self.run_ok("shoal", "infer", data,
                    "--checkpoint=" + self.checkpoint(80),
                    "--predictions_file=" + self.path("older"))
        with open(self.path("older")) as file:
            self.assertNotEqual(file.read(), text)

    def test_ids_that_no_training_has_seen(self):
        """By hand, from the numbers in the checkpoint."""
        data = self.write("tiny", "1 1:1 2:0.5\n0 2:2 3:1\n1 1:3 3:1\n" * 4)
        self.run_ok("shoal", "train", "--model=fm", "--field_size=3",
                    "--embedding_size=2", "--learning_rate=0.1",
                    "--batch_size=4", "--training_data_dir=" + data,
                    "--model_dir=" + self.model)
        path = self.checkpoint(3)
        tensors = read_safetensors(
            os.path.join(path, "shard-00000-of-00001.safetensors"))
        ids = tensors["fm@ids"]
        self.assertEqual(sorted(ids), [1, 2, 3])
        rows = [{1: 1, 2: .5}, {3: 2, 99: 1}, {77: 1, 1: .25, 2: 4}, {5: 1}]

        def predicted(row):
            known = {i: x for i, x in row.items() if i in ids}
            at = {i: ids.index(i) for i in known}
            logit = tensors["fm_b"][0] + sum(
                tensors["fm_w"][at[i]] * x for i, x in known.items())
            for k in range(2):
                e = [tensors["fm_v"][2 * at[i] + k] * x
                     for i, x in known.items()]
                logit += (sum(e) ** 2 - sum(v * v for v in e)) / 2
            return 1 / (1 + math.exp(-logit))

        test = self.write("test", "".join(
            "0 " + " ".join(f"{i}:{x}" for i, x in row.items()) + "\n"
            for row in rows))
        before = listing(self.model)

        def infer(*flags):
            self.run_ok("shoal", "infer", "--checkpoint=" + path,
                        "--val_data_dir=" + test, *flags,
                        "--predictions_file=" + self.path("p"))
            with open(self.path("p")) as file:
                return [float(line) for line in file]

        zero = infer("--unseen=zero")
        for value, row in zip(zero, rows):
            self.assertAlmostEqual(value, predicted(row), delta=1e-6)
        initial = infer()
        self.assertEqual(initial, infer("--unseen=initial"))
        self.assertEqual(initial[0], zero[0])
        for i in (1, 2, 3):
            self.assertGreater(abs(initial[i] - zero[i]), 1e-6, i)
        self.assertEqual(listing(self.model), before)

    def test_a_directory_that_may_only_be_read(self):
        self.train(["run", "--ps=2", "--workers=1"], *DEEPFM, val=self.known)
        user = None
        if os.geteuid() == 0:
            try:
                subprocess.run([os.path.join(harness.BIN, "shoal"), "--help"],
                               user=NOBODY, group=NOBODY, extra_groups=[],
                               check=True, capture_output=True)
            except (OSError, subprocess.SubprocessError) as error:
                self.skipTest(f"nobody cannot run the programs: {error}")
            user = NOBODY
        os.makedirs(self.path("out"))
        os.chmod(self.path("out"), 0o777)
        for directory, _, files in os.walk(self.dir):
            if directory != self.path("out"):
                os.chmod(directory, 0o555)
            for name in files:
                os.chmod(os.path.join(directory, name), 0o444)
        try:
            self.run_ok("shoal", "eval", "--model_dir=" + self.model,
                        "--val_data_dir=" + self.known, user=user)
            self.run_ok("shoal", "infer", "--model_dir=" + self.model,
                        "--val_data_dir=" + self.known,
                        "--predictions_file=" + self.path("out", "p"),
                        user=user)
            self.assertTrue(os.path.exists(self.path("out", "p")))
        finally:
            for directory, _, _ in os.walk(self.dir):
                os.chmod(directory, 0o755)

    def test_a_training_that_runs_is_not_disturbed(self):
        job = self.start(
            "train", "shoal", "train", *DEEPFM, *RATES, "--num_epochs=100000",
            "--training_data_dir=" + self.path("tr"),
            "--save_checkpoint_steps=200", "--model_dir=" + self.model)
        job.wait_for_line("saved ")
        job.signal(signal.SIGSTOP)
        self.run_ok("shoal", "eval", "--model_dir=" + self.model,
                    "--val_data_dir=" + self.known)
        at = len(job.lines)
        job.signal(signal.SIGCONT)
        job.wait_for_line("saved ", start=at)
        job.signal(signal.SIGTERM)
        self.assertEqual(job.wait(), 3, job.output())


class OldCheckpointsTest(harness.ShoalTest):
    """tests/testdata/README.md says how the checkpoints were made."""

    def test_they_are_evaluated_as_when_they_were_trained(self):
        with open(os.path.join(OLD, "printed.json")) as file:
            printed = json.load(file)
        self.assertEqual(sorted(printed),
                         ["one_server", "three_servers", "two_servers"])
        for name, told in printed.items():
            with self.subTest(name=name):
                self.run_ok("shoal", "eval", "--checkpoint=" + os.path.join(
                                OLD, name, "ckpt-00000000020"),
                            "--val_data_dir=" + os.path.join(
                                OLD, "evaluation.libsvm"),
                            "--summary=" + self.path("eval.json"))
                got = self.summary("eval.json")["eval"]
                self.assertEqual(got["auc"], told["auc"])
                self.assertAlmostEqual(got["logloss"], told["logloss"],
                                       delta=1e-6)

    def test_training_goes_on_where_dropout_was_the_chance_to_keep(self):
        model = self.path("model")
        shutil.copytree(os.path.join(OLD, "one_server"), model)
        with open(os.path.join(model, "ckpt-00000000020",
                               "manifest.json")) as file:
            self.assertIn(r"\ndropout=0.9\n", file.read())
        shutil.copy(os.path.join(OLD, "training.libsvm"), self.dir)
        flags = ["--model=deepfm", "--feature_size=60", "--field_size=4",
                 "--embedding_size=2", "--deep_layers=4", "--batch_size=10",
                 "--learning_rate=0.05", "--seed=5", "--num_epochs=3",
                 "--training_data_dir=" + self.path("training.libsvm"),
                 "--model_dir=" + model,
                 "--summary=" + self.path("summary.json")]
        _, said = self.run_fails("shoal", "train", *flags, "--dropout=0.2")
        self.assertIn("keep_prob", said)
        self.run_ok("shoal", "train", *flags, "--keep_prob=0.9")
        summary = self.summary()
        self.assertEqual(summary["checkpoint"]["resumed_step"], 20)
        self.assertEqual(summary["samples"]["trained"], 300)


class MistakesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("tr.libsvm", harness.linear_rows(400))
        self.model = self.path("model")
        self.flags = [*DEEPFM, *RATES]
        self.run_ok("shoal", "run", "--ps=2", "--workers=1", *self.flags,
                    "--training_data_dir=" + self.data,
                    "--write_config=" + self.path("flags"),
                    "--model_dir=" + self.model)
        self.checkpoint = self.path("model", "ckpt-00000000008")
        self.val = "--val_data_dir=" + self.data

    def mistake(self, expected, *args, code=2, command="eval"):
        got, output = self.run_fails("shoal", command, *args)
        self.assertIn(expected, output)
        self.assertEqual(got, code, output)
        self.assertNotIn("flags in force", output)

    def test_they_are_named_with_what_to_do(self):
        named = "--checkpoint=" + self.checkpoint
        newest = "--model_dir=" + self.model
        self.mistake("shoal eval needs --val_data_dir: it names the rows",
                     named)
        self.mistake("shoal infer needs --val_data_dir: it names the rows",
                     newest, "--predictions_file=p", command="infer")
        self.mistake("shoal infer needs --predictions_file: it says where",
                     newest, self.val, command="infer")
        self.mistake("give --model_dir, for the newest checkpoint, or "
                     "--checkpoint", self.val)
        self.mistake("give only one of --model_dir", self.val, named, newest)
        self.mistake("did you mean --val_data_dir?", newest,
                     "--val_datadir=" + self.data)
        self.mistake("--num_epochs is a flag of shoal train, shoal run, ",
                     newest, self.val, "--num_epochs=2")
        # The wrong place.
        nowhere = self.path("nowhere")
        for flag in ("model_dir", "checkpoint"):
            self.mistake(f"--{flag}: {nowhere}: No such file or directory",
                         self.val, f"--{flag}={nowhere}")
            self.mistake(f"--{flag}: {self.data}: Not a directory",
                         self.val, f"--{flag}={self.data}")
        os.mkdir(nowhere)
        self.mistake(f"--model_dir: {nowhere}: holds no valid checkpoint; give "
                     "the --model_dir of a training", self.val,
                     "--model_dir=" + nowhere)
        self.mistake(f"--checkpoint: {nowhere}: has no manifest.json",
                     self.val, "--checkpoint=" + nowhere)
        self.mistake(f"{self.checkpoint} is a checkpoint: give it as "
                     f"--checkpoint={self.checkpoint}", self.val,
                     "--model_dir=" + self.checkpoint)
        self.mistake(f"{self.model} is a directory of checkpoints: give it as "
                     "--model_dir", self.val, "--checkpoint=" + self.model)
        # Another model.
        for flag, there in (("embedding_size=8", "embedding_size=4"),
                            ("model=fm", "model=deepfm"),
                            ("feature_size=0", "feature_size=300"),
                            ("deep_layers=8", "deep_layers=8,6"),
                            ("seed=6", "seed=5"),
                            ("optimizer=sgd", "optimizer=adam")):
            self.mistake(f"--{flag} is given, but the model of "
                         f"{self.checkpoint} has --{there}; leave the flag out",
                         newest, self.val, "--" + flag)
        # The same model again, and a file of a training's flags.
        self.run_ok("shoal", "eval", newest, self.val, *self.flags)
        self.run_ok("shoal", "eval", self.val,
                    "--config=" + self.path("flags"))

    def test_no_output_replaces_what_the_command_reads(self):
        newest = "--model_dir=" + self.model
        link = self.path("link")
        os.symlink(self.data, link)
        with open(self.data, "rb") as file:
            rows = file.read()
        for output in (self.data, link):
            self.mistake(f"--predictions_file={output} would replace "
                         f"{self.data}, which this job reads (--val_data_dir)",
                         newest, self.val, "--predictions_file=" + output,
                         command="infer")
            self.mistake(f"--summary={output} would replace {self.data}",
                         newest, self.val, "--summary=" + output)
        for command in (["train"], ["run", "--ps=1", "--workers=1"]):
            self.mistake(f"--summary={link} would replace {self.data}, which "
                         "this job reads (--training_data_dir)", *command[1:],
                         *self.flags, "--training_data_dir=" + self.data,
                         "--summary=" + link, command=command[0])
        manifest = os.path.join(self.checkpoint, "manifest.json")
        self.mistake(f"would change the checkpoint {self.checkpoint}", newest,
                     self.val, "--predictions_file=" + manifest,
                     command="infer")
        with open(self.data, "rb") as file:
            self.assertEqual(file.read(), rows)
        self.run_ok("shoal", "ckpt", "verify", self.model)

    def test_a_checkpoint_that_is_not_whole(self):
        copy = self.path("copies", "ckpt-00000000008")
        shutil.copytree(self.checkpoint, copy)
        both = (("checkpoint", copy), ("model_dir", self.path("copies")))
        shard = os.path.join(copy, "shard-00001-of-00002.safetensors")
        os.rename(shard, self.path("elsewhere"))
        for flag, path in both:
            self.mistake(f"{copy}: 1 of its 2 shard files are not here",
                         self.val, f"--{flag}={path}")
            self.mistake("copy the shard files of all hosts into one "
                         "directory", self.val, f"--{flag}={path}")
        self.mistake("shard-00001-of-00002.safetensors", self.val,
                     "--checkpoint=" + copy)
        os.rename(self.path("elsewhere"), shard)
        self.run_ok("shoal", "eval", self.val, "--checkpoint=" + copy)
        # Damage, in the manifest and in a shard.
        manifest = os.path.join(copy, "manifest.json")
        with open(manifest, "rb") as file:
            whole = file.read()
        with open(manifest, "wb") as file:
            file.write(whole.replace(b"embedding_size=4", b"embedding_size=5"))
        for flag, path in both:
            self.mistake(manifest, self.val, f"--{flag}={path}", code=1)
            self.mistake("`shoal ckpt verify` says more", self.val,
                         f"--{flag}={path}", code=1)
        os.remove(manifest)
        self.mistake(f"--checkpoint: {copy}: has no manifest.json, so it is "
                     "not a checkpoint", self.val, "--checkpoint=" + copy)
        self.mistake("holds no valid checkpoint", self.val,
                     "--model_dir=" + self.path("copies"))
        with open(manifest, "wb") as file:
            file.write(whole)
        flip_a_byte(shard, "fm_v")
        got, output = self.run_fails("shoal", "eval", self.val,
                                     "--checkpoint=" + copy)
        self.assertEqual(got, 1, output)
        self.assertIn(shard, output)
        self.assertIn("take another checkpoint", output)
        self.assertNotIn("resumes", output)
        # Another name.
        os.rename(copy, self.path("copies", "best"))
        self.mistake("which is ckpt-00000000008; give the directory that name "
                     "again", self.val,
                     "--checkpoint=" + self.path("copies", "best"), code=2)

    def test_a_newest_one_that_is_not_whole_is_passed_over_aloud(self):
        newer = self.path("model", "ckpt-00000000009")
        shutil.copytree(self.checkpoint, newer)
        os.remove(os.path.join(newer, "manifest.json"))
        output = self.run_ok("shoal", "eval", self.val,
                             "--model_dir=" + self.model)
        self.assertRegex(output, f"takes {self.checkpoint} in place of a newer "
                         f"one: {newer}/manifest.json")
        self.assertIn(f"model      of {self.checkpoint}, step 8", output)


if __name__ == "__main__":
    harness.main()
