"""Evaluation over real processes: after every epoch, every row once, also when
workers are killed in it; and the commands that only evaluate or predict."""

import math
import os
import re
import signal
import struct

import harness
from cluster import PROBE
from launched import Launched
from slow_data import SlowData

DEEPFM = ["--feature_size=300", "--field_size=4", "--embedding_size=4",
          "--deep_layers=8"]


def line_values(path):
    with open(path) as file:
        return [float(line) for line in file]


class EvaluationTest(harness.ShoalTest):

    def data(self, train, test):
        self.write("train/tr.libsvm", harness.linear_rows(train))
        self.write("test/te.libsvm", harness.linear_rows(test, seed=2))
        return ["--training_data_dir=" + self.path("train"),
                "--val_data_dir=" + self.path("test")]

    def train(self, *flags):
        """In one process; returns the summary and the output."""
        output = self.run_ok("shoal", "train", *flags,
                             "--summary=" + self.path("serial.json"))
        return self.summary("serial.json"), output

    def expect_same(self, evals, expected):
        """The probe's arithmetic is exact, so the figures are the same."""
        self.assertEqual(len(evals), len(expected))
        for one, other in zip(evals, expected):
            for key in ("epoch", "step", "auc", "logloss", "calibration",
                        "examples"):
                self.assertEqual(one[key], other[key], key)
            self.assertEqual(sum(one["per_worker"]), one["examples"])

    def test_after_every_epoch_and_the_same_over_processes(self):
        flags = self.data(20000, 5000) + PROBE + [
            "--batch_size=64", "--num_epochs=3"]
        serial, output = self.train(*flags)
        self.assertEqual([e["epoch"] for e in serial["evals"]], [1, 2, 3])
        self.assertEqual(serial["evals"][-1], serial["eval"])
        for epoch in (1, 2, 3):
            self.assertRegex(output, rf"AUC +0\.\d{{5}}, logloss .* on 5000 "
                                     rf"examples, after epoch {epoch}")
        output = self.run_ok("shoal", "run", "--ps=2", "--workers=2", *flags,
                             "--summary=" + self.path("summary.json"))
        summary = self.summary()
        self.expect_same(summary["evals"], serial["evals"])
        self.assertEqual(summary["digest"], serial["digest"])
        # Only at the end: the same model.
        ended, _ = self.train(*flags, "--eval_every_epochs=0")
        self.assertEqual(len(ended["evals"]), 1)
        self.expect_same([ended["eval"]], [serial["eval"]])
        self.assertEqual(ended["digest"], serial["digest"])

    def test_beyond_the_limit_the_auc_is_printed_with_its_error(self):
        flags = self.data(5000, 5000) + PROBE + ["--batch_size=64"]
        exact, _ = self.train(*flags)
        self.assertEqual(exact["eval"]["auc_error"], 0)
        bounded, output = self.train(*flags, "--auc_exact_rows=4999")
        self.assertRegex(output, r"AUC +0\.\d{5} ± 0\.\d{5} \(histogram\), ")
        error = bounded["eval"]["auc_error"]
        self.assertLess(abs(bounded["eval"]["auc"] - exact["eval"]["auc"]),
                        error + 1e-12)
        self.assertEqual(bounded["eval"]["logloss"], exact["eval"]["logloss"])

    def test_workers_killed_in_an_evaluation_change_nothing(self):
        """Each is killed while held data keep the evaluation from ending, so
        that it holds a piece of it."""
        rows = 120000
        epochs = 3
        flags = self.data(4000, rows) + PROBE + [
            "--batch_size=32", "--piece_bytes=65536",
            f"--num_epochs={epochs}"]
        serial, _ = self.train(*flags)
        slow = SlowData(self)
        job = Launched(self, "--ps=2", "--workers=2", "--canary", *flags,
                       "--summary=" + self.path("summary.json"),
                       prefix=slow.prefix)
        at = 0
        for epoch in range(1, epochs + 1):
            slow.hold("te.libsvm", os.path.getsize(
                self.path("test", "te.libsvm")) // 2)
            slow.fast("tr.libsvm")
            at = job.process.wait_for_line("evaluating on", start=at) + 1
            victim = epoch % 2
            os.kill(job.pid("shoal-worker", victim), signal.SIGKILL)
            job.process.wait_for_line(f"worker {victim} was killed by SIGKILL",
                                      start=at)
            # The next epoch does not end before its evaluation is held too.
            slow.hold("tr.libsvm")
            slow.fast("te.libsvm")
            job.process.wait_for_line(f"after epoch {epoch}: AUC", start=at)
        slow.fast("tr.libsvm")
        self.assertEqual(job.process.wait(120), 0, job.process.output()[-4000:])
        summary = self.summary()
        self.expect_whole(summary)
        self.expect_same(summary["evals"], serial["evals"])
        self.assertEqual(summary["digest"], serial["digest"])
        self.assertEqual(sum(p["scored"] for p in summary["processes"]),
                         rows * epochs)
        print(f"{epochs} workers killed in an evaluation:",
              [e["per_worker"] for e in summary["evals"]])


class PredictionsTest(harness.ShoalTest):

    def usage_error(self, *flags):
        code, output = self.run_fails("shoal", "train", *PROBE, *flags)
        self.assertEqual(code, 2, output)
        return output

    def test_what_cannot_be_written_is_named_at_the_start(self):
        data = self.write("te.libsvm", harness.linear_rows(10))
        infer = ["--task_type=infer", "--resume=never",
                 "--val_data_dir=" + data]
        self.assertIn("--predictions_file", self.usage_error(*infer))
        for path in (self.path("no", "such", "p"), self.dir):
            output = self.usage_error(*infer, "--predictions_file=" + path)
            self.assertIn("--predictions_file", output)
            self.assertIn(path, output)
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        self.assertIn("FIFO", self.usage_error(
            *infer, "--predictions_file=" + fifo))

    def test_two_inferences_do_not_write_one_file(self):
        data = self.write("te.libsvm", harness.linear_rows(200000))
        out = self.path("predictions")
        flags = DEEPFM + ["--task_type=infer", "--resume=never",
                          "--val_data_dir=" + data,
                          "--predictions_file=" + out, "--batch_size=16"]
        slow = SlowData(self)
        slow.hold(data)
        first = self.start("first", "shoal", "train", *flags,
                           "--progress_every=50ms", prefix=slow.prefix)
        first.wait_for_line("samples/s")
        first.popen.send_signal(signal.SIGSTOP)
        for command in (["train"], ["run", "--ps=2", "--workers=2"]):
            code, output = self.run_fails("shoal", *command, *flags)
            self.assertEqual(code, 2, output)
            self.assertIn(out, output)
            self.assertIn(f"pid {first.popen.pid}", output)
        first.popen.send_signal(signal.SIGCONT)
        slow.fast(data)
        self.assertEqual(first.wait(), 0, first.output())
        self.assertEqual(len(line_values(out)), 200000)

    def test_a_checkpoint_is_no_model_directory(self):
        data = self.write("tr.libsvm", harness.linear_rows(200))
        flags = DEEPFM + ["--training_data_dir=" + data,
                          "--val_data_dir=" + data]
        self.run_ok("shoal", "train", *flags, "--model_dir=" + self.path("m"))
        checkpoint, = [name for name in os.listdir(self.path("m"))
                       if name.startswith("ckpt-")]
        held = os.listdir(self.path("m", checkpoint))
        for task in ("train", "eval", "infer"):
            code, output = self.run_fails(
                "shoal", "train", *flags, "--task_type=" + task,
                "--predictions_file=" + self.path("p"),
                "--model_dir=" + self.path("m", checkpoint))
            self.assertEqual(code, 2, output)
            self.assertIn("is a checkpoint; give the directory", output)
        self.assertEqual(os.listdir(self.path("m", checkpoint)), held)

    def test_what_is_to_be_read_must_be_given(self):
        for task in ("eval", "infer"):
            self.assertIn("--val_data_dir", self.usage_error(
                "--task_type=" + task, "--resume=never",
                "--predictions_file=p"))

    def test_a_checkpoint_is_needed(self):
        data = self.write("te.libsvm", harness.linear_rows(10))
        for task in ("eval", "infer"):
            flags = ["--task_type=" + task, "--val_data_dir=" + data,
                     "--predictions_file=" + self.path("p")]
            self.assertIn("--model_dir", self.usage_error(*flags))
            output = self.usage_error(*flags,
                                      "--model_dir=" + self.path("none"))
            self.assertIn(self.path("none"), output)

    def test_they_keep_the_order_of_the_rows_and_the_place_of_bad_ones(self):
        rows = harness.linear_rows(5000).splitlines()
        rows[17] = "1 no-feature"
        rows[4999] = "what is this"
        for i in range(2):
            self.write(f"data/te-{i}.libsvm",
                       "\n".join(rows[2500 * i:2500 * (i + 1)]) + "\n")
        flags = DEEPFM + ["--task_type=infer", "--resume=never",
                          "--batch_size=64", "--piece_bytes=20000", "--max_bad_rows=2",
                          "--val_data_dir=" + self.path("data")]
        self.run_ok("shoal", "train", *flags,
                    "--predictions_file=" + self.path("one"))
        output = self.run_ok("shoal", "run", "--ps=2", "--workers=2", *flags,
                             "--predictions_file=" + self.path("many"),
                             "--summary=" + self.path("summary.json"))
        self.assertIn("predicted  5,000 rows, 2 of them nan", output)
        one = line_values(self.path("one"))
        self.assertEqual(len(one), 5000)
        bad = [i for i, value in enumerate(one) if math.isnan(value)]
        self.assertEqual(bad, [17, 4999])
        self.assertGreater(len(set(one)), 4000)
        with open(self.path("one")) as a, open(self.path("many")) as b:
            self.assertEqual(a.read(), b.read())
        summary = self.summary()
        self.assertEqual(summary["predicted"], {"rows": 5000, "nan": 2})
        self.assertEqual(sum(p["scored"] for p in summary["processes"]), 5000)
        self.run_ok("shoal", "train", *flags, "--predictions_format=binary",
                    "--predictions_file=" + self.path("binary"))
        with open(self.path("binary"), "rb") as file:
            data = file.read()
        self.assertEqual(len(data), 4 * 5000)
        for value, text in zip(struct.unpack("<5000f", data), one):
            if not math.isnan(text):
                self.assertAlmostEqual(value, text, delta=1e-9)
        self.assertEqual([n for n in os.listdir(self.dir)
                          if "unfinished" in n], [])

    def test_rows_without_labels_are_predicted_for_and_never_trained_on(self):
        rows = harness.linear_rows(300).splitlines()
        criteo = ["\t".join([str(i % 2), str(i)] + [""] * 12 +
                            [f"{i % (c + 2):x}" for c in range(26)])
                  for i in range(300)]
        # Files of the same rows: with labels, without, and with some.
        for name, lines, cuts in [
                ("libsvm", rows, [2]), ("criteo", criteo, [1, 2])]:
            flags = ["--model=lr", "--feature_size=300",
                     f"--field_size={39 if name == 'criteo' else 4}",
                     "--batch_size=64"]
            paths = [self.write(name + "/labelled", "\n".join(lines) + "\n")]
            for cut in cuts:
                paths.append(self.write(
                    f"{name}/without{cut}",
                    "\n".join(line[cut:] for line in lines) + "\n"))
                paths.append(self.write(
                    f"{name}/mixed{cut}",
                    "\n".join(line[cut * (i % 2):]
                              for i, line in enumerate(lines)) + "\n"))
            model = "--model_dir=" + self.path(name, "model")
            self.run_ok("shoal", "train", *flags, model,
                        "--training_data_dir=" + paths[0])
            predicted = set()
            for path in paths:
                self.run_ok("shoal", "run", "--ps=1", "--workers=2", *flags,
                            model, "--task_type=infer",
                            "--val_data_dir=" + path,
                            "--predictions_file=" + self.path("predicted"))
                self.assertEqual(len(line_values(self.path("predicted"))), 300)
                with open(self.path("predicted")) as f:
                    predicted.add(f.read())
            self.assertEqual(len(predicted), 1, name)
            for path in paths[1:]:
                for task in (["--training_data_dir=" + path],
                             ["--task_type=eval", model,
                              "--val_data_dir=" + path]):
                    _, output = self.run_fails("shoal", "train", *flags, *task)
                    self.assertIn("the label is missing", output)
                    self.assertIn("shoal infer takes such rows", output)

    def test_what_a_killed_inference_left_is_replaced(self):
        data = self.write("te.libsvm", harness.linear_rows(200000))
        out = self.path("predictions")
        flags = DEEPFM + ["--task_type=infer", "--resume=never",
                          "--val_data_dir=" + data,
                          "--predictions_file=" + out]
        slow = SlowData(self)
        slow.hold(data)
        job = self.start("infer", "shoal", "train", *flags,
                         "--batch_size=16", "--progress_every=50ms",
                         prefix=slow.prefix)
        job.wait_for_line("samples/s")
        job.kill()
        self.assertEqual(sorted(os.listdir(self.dir)),
                         [".predictions.lock", "predictions.unfinished",
                          "te.libsvm"])
        output = self.run_ok("shoal", "train", *flags)
        self.assertEqual(sorted(os.listdir(self.dir)),
                         [".predictions.lock", "predictions", "te.libsvm"])
        self.assertEqual(len(line_values(out)), 200000)
        # It trained nothing, and says nothing of training.
        self.assertNotIn("samples 0", output)
        self.assertNotIn("staleness", output)

    def test_a_full_disk_ends_the_job_and_says_so(self):
        data = self.write("te.libsvm", harness.linear_rows(20000))
        # Beyond the limit a write fails; without the trap a signal would end
        # the process.
        process = self.start(
            "train", "shoal", "train", *DEEPFM, "--task_type=infer",
            "--resume=never",
            "--val_data_dir=" + data, "--predictions_file=" + self.path("p"),
            prefix=["sh", "-c", "trap '' XFSZ; exec prlimit --fsize=100000 -- "
                    '"$@"', "sh"])
        code = process.wait()
        self.assertEqual(code, 1, process.output())
        self.assertRegex(process.output(),
                         re.escape(self.path("p")) + ".*File too large")
        self.assertEqual(sorted(os.listdir(self.dir)),
                         [".p.lock", "te.libsvm"])


if __name__ == "__main__":
    harness.main()
