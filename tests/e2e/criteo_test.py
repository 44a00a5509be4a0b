"""Raw and prepared Criteo files as a newcomer uses them: what fits together, and
what is refused with the way out."""

import gzip
import os
import re
import unittest

import data_test
import harness

LR = ["--model=lr", "--batch_size=64", "--field_size=39"]


def without_labels(text):
    return "".join(line.split("\t", 1)[1] for line in text.splitlines(True))


class CriteoTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.rows = data_test.made_up_rows(1000, seed=1)
        self.later = data_test.made_up_rows(300, seed=2)
        self.raw = self.write("raw/train.tsv", self.rows)
        self.raw_later = self.write("raw/later.tsv", self.later)
        self.nolabel = self.write("raw/nolabel.tsv",
                                  without_labels(self.later))
        output = self.prepare("--input=" + self.raw, "--cutoff=5",
                              "--out=" + self.path("p"))
        self.size = re.search(r"--feature_size=(\d+)", output)[0]
        self.features = "--features=" + self.path("p", "_features.txt")

    def prepare(self, *flags):
        return self.run_ok("shoal", "data", "prepare", *flags)

    def train_prepared(self, *flags):
        return self.run_ok("shoal", "train", *LR, self.size,
                           "--training_data_dir=" + self.path("p", "tr*"),
                           "--model_dir=" + self.path("of_prepared"), *flags)

    def train_raw(self, *flags):
        return self.run_ok("shoal", "train", *LR, "--feature_size=1000",
                           "--training_data_dir=" + self.raw,
                           "--model_dir=" + self.path("of_raw"), *flags)

    def expect_refused(self, *command, says):
        code, output = self.run_fails(*command)
        for words in says:
            self.assertIn(words, output)
        return code, output


class KindsOfIdsTest(CriteoTest):
    """An id of a raw row has nothing to do with an id of a prepared one."""

    RAW = "raw Criteo rows, whose ids are made by hashing"
    WRITTEN = "rows that hold their ids (LibSVM, LibFFM or TFRecord)"

    def test_a_model_scores_files_of_its_own_kind_alone(self):
        self.train_prepared()
        self.train_raw()
        packed = self.path("raw", "later.gz")
        with gzip.open(packed, "wt") as f:
            f.write(self.later)
        prepared = self.path("p", "va*")
        predictions = "--predictions_file=" + self.path("predictions")
        for model, own, others, trained in [
                ("of_prepared", prepared, [self.raw_later, packed],
                 self.WRITTEN),
                ("of_raw", self.raw_later, [prepared], self.RAW)]:
            model = self.path(model)
            for command in ["eval"], ["infer", predictions]:
                command = ["shoal", *command, "--model_dir=" + model]
                self.run_ok(*command, "--val_data_dir=" + own)
                for other in others:
                    self.expect_refused(
                        *command, "--val_data_dir=" + other,
                        says=[f"but the checkpoint {model}/ckpt-",
                              "was trained on " + trained])
        self.run_ok("shoal", "eval", "--model_dir=" + self.path("of_raw"),
                    "--val_data_dir=" + packed)
        self.assertFalse([name for name in os.listdir(self.dir)
                          if "unfinished" in name])

    def test_the_tasks_of_a_job_refuse_too(self):
        self.train_prepared()
        for task in ["eval"], ["infer", "--predictions_file=" +
                               self.path("predictions")]:
            self.expect_refused(
                "shoal", "run", "--ps=1", "--workers=2", *LR, self.size,
                "--task_type=" + task[0], *task[1:],
                "--model_dir=" + self.path("of_prepared"),
                "--val_data_dir=" + self.raw_later,
                says=["was trained on " + self.WRITTEN,
                      "(first file: later.tsv) reads " + self.RAW])

    def test_a_training_that_goes_on_evaluates_on_its_own_kind_alone(self):
        self.train_raw()
        self.train_raw("--num_epochs=2", "--val_data_dir=" + self.raw_later)
        self.expect_refused(
            "shoal", "train", *LR, "--feature_size=1000", "--num_epochs=3",
            "--training_data_dir=" + self.raw,
            "--model_dir=" + self.path("of_raw"),
            "--val_data_dir=" + self.path("p", "va*"),
            says=["--training_data_dir has " + self.RAW + ", in " + self.raw,
                  "--val_data_dir has " + self.WRITTEN])

    def test_a_list_of_files_is_of_one_kind(self):
        tr = self.path("p", "tr-00000.libsvm")
        for command in ["train"], ["run", "--ps=1", "--workers=1"]:
            code, output = self.expect_refused(
                "shoal", *command, *LR, self.size,
                f"--training_data_dir={tr},{self.raw}",
                says=[self.RAW + ", in " + self.raw,
                      self.WRITTEN + ", in " + tr, "shoal data prepare"])
            self.assertEqual(code, 2, output)
        # Files without rows are of any kind.
        for empty in "", "# nothing\n":
            path = self.write("none.libsvm", empty)
            self.run_ok("shoal", "train", *LR, "--feature_size=1000",
                        f"--training_data_dir={path},{self.raw}",
                        "--val_data_dir=" + path + "," + self.raw_later)


class NoLabelsTest(CriteoTest):
    """Rows to predict for."""

    def test_they_are_encoded_for_a_prepared_model(self):
        self.train_prepared()
        model = "--model_dir=" + self.path("of_prepared")
        self.prepare("--input=" + self.raw_later, self.features,
                     "--out=" + self.path("with"))
        self.assertFalse([name for name in os.listdir(self.path("with"))
                          if name.startswith("va")])
        self.run_ok("shoal", "infer", model,
                    "--val_data_dir=" + self.path("with", "tr*"),
                    "--predictions_file=" + self.path("expected"))
        expected = data_test.read(self.path("expected"))
        self.assertEqual(expected.count("\n"), 300)
        for form in "libsvm", "tfrecord":
            output = self.prepare("--input=" + self.nolabel, self.features,
                                  "--format=" + form,
                                  "--out=" + self.path("un", form))
            self.assertIn("300 rows, without labels", output)
            self.assertNotIn("train with", output)
            command = re.search(r"shoal infer --model_dir=MODEL_DIR "
                                r"(--val_data_dir='[^']*') --predictions_file",
                                output)[1].replace("'", "")
            self.run_ok("shoal", "infer", model, command,
                        "--predictions_file=" + self.path("predicted"))
            self.assertEqual(data_test.read(self.path("predicted")), expected)

    def test_they_are_counted_by_stat(self):
        output = self.run_ok("shoal", "data", "stat", self.nolabel)
        self.assertIn("300, - positive, 300 without a label; 0 bad", output)
        self.assertIn("can be predicted for (shoal infer), but not trained on",
                      output)
        self.assertIn("--field_size=39", output)
        self.assertNotIn("task_type", output)
        output = self.run_ok("shoal", "data", "stat", self.nolabel, self.raw)
        self.assertIn("300 without a label; 0 bad", output)
        self.assertIn("train with", output)

    def test_the_reason_is_said_once_with_what_takes_such_rows(self):
        _, output = self.run_fails("shoal", "train", *LR,
                                   "--feature_size=1000", "--piece_bytes=0",
                                   "--training_data_dir=" + self.nolabel)
        error, = [line for line in output.splitlines()
                  if "could not be parsed" in line]
        self.assertEqual(error.count("the label is missing"), 1, error)
        self.assertIn("nolabel.tsv:1, nolabel.tsv:2, nolabel.tsv:3, "
                      "nolabel.tsv:4, nolabel.tsv:5: the label is missing",
                      error)
        self.assertIn("shoal infer takes such rows", error)
        _, output = self.run_fails("shoal", "data", "prepare",
                                   "--input=" + self.nolabel,
                                   "--out=" + self.path("out"))
        self.assertIn("are encoded with --features", output)
        self.assertNotIn("task_type", output)


class AdviceTest(CriteoTest):

    def test_a_cutoff_that_leaves_nearly_nothing_is_warned_of(self):
        out = "--out=" + self.path("out")
        output = self.prepare("--input=" + self.raw, "--cutoff=200", out)
        self.assertRegex(output, r"warning: only \d+ of [\d,]+ categories are "
                                 r"in at least 200 rows \(--cutoff\)")
        self.assertIn("--cutoff=2 does", output)
        output = self.prepare("--input=" + self.raw, "--cutoff=2",
                              "--out=" + self.path("more"))
        self.assertNotIn("warning", output)

    def test_held_out_files_are_warned_of(self):
        flags = [*LR, self.size]
        words = ("--training_data_dir has 1 file of rows to validate or to "
                 "test with, " + self.path("p", "va-00000.libsvm"))
        for command in ["train"], ["run", "--ps=1", "--workers=2"]:
            output = self.run_ok("shoal", *command, *flags,
                                 "--training_data_dir=" + self.path("p"))
            self.assertEqual(output.count(words), 1, output)
            output = self.run_ok(
                "shoal", *command, *flags,
                "--training_data_dir=" + self.path("p", "tr*"))
            self.assertNotIn("to validate or to test with", output)


if __name__ == "__main__":
    harness.main()
