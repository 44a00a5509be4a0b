"""Small real files: the model learns what independent implementations learn,
in one process and over two servers and two workers, which share the work."""

import os
import statistics
import unittest

import harness

CRITEO = ["--feature_size=117581", "--field_size=39", "--embedding_size=8",
          "--deep_layers=128,64,32", "--optimizer=adam",
          "--learning_rate=1e-3", "--l2_reg=0", "--batch_size=256",
          "--num_epochs=2"]
A9A = ["--feature_size=124", "--field_size=14", "--embedding_size=8",
       "--deep_layers=64,32", "--optimizer=adam", "--learning_rate=1e-3",
       "--l2_reg=0", "--batch_size=256", "--num_epochs=3"]


class RealDataTest(harness.ShoalTest):

    def source_rows(self, *names):
        source = os.path.join(harness.DATA, *names)
        if not os.path.exists(source):
            self.skipTest(f"the real rows are not here ({source}); "
                          "README.md says how to get them")
        with open(source) as f:
            return f.readlines()

    def use_rows(self, train, test):
        self.write("train/tr.libsvm", "".join(train))
        self.write("test/te.libsvm", "".join(test))
        self.samples = len(train)
        self.test_rows = len(test)

    def run_job(self, *command):
        """Returns the summary of a job that went well, and its output."""
        output = self.run_ok(
            *command, "--training_data_dir=" + self.path("train"),
            "--val_data_dir=" + self.path("test"),
            "--summary=" + self.path("summary.json"))
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["eval"]["examples"], self.test_rows)
        return summary, output


class CriteoTest(RealDataTest):
    """An independent float64 implementation reaches .7124 to .7172 here; the
    standard error of the 2,000 test rows is .014."""

    def setUp(self):
        super().setUp()
        rows = self.source_rows("aws_deepfm_criteo_val", "val.libsvm")
        self.use_rows(rows[:8000], rows[8000:])

    def check(self, summaries):
        aucs = [summary["eval"]["auc"] for summary in summaries]
        mean = statistics.mean(aucs)
        print(f"AUC mean {mean:.4f}:", " ".join(f"{auc:.4f}" for auc in aucs))
        self.assertGreaterEqual(min(aucs), 0.70)
        self.assertGreaterEqual(mean, 0.710)
        for summary in summaries:
            self.assertEqual(summary["samples"]["trained"], 16000)

    def test_one_process(self):
        self.check([
            self.run_job("shoal", "train", *CRITEO, f"--seed={seed}")[0]
            for seed in range(1, 6)])

    def run_two_and_two(self, seeds, *flags):
        summaries = []
        for seed in seeds:
            summary, output = self.run_job(
                "shoal", "run", "--ps=2", "--workers=2", *CRITEO,
                f"--seed={seed}", *flags)
            self.assertIn("samples 16000 = 16000 trained + 0 rejected + 0 lost",
                          output)
            shares = summary["per_worker"]
            self.assertEqual(sum(shares), 16000)
            self.assertGreaterEqual(min(shares), 0.2 * 16000, shares)
            summaries.append(summary)
        self.check(summaries)

    def test_two_servers_and_two_workers(self):
        # The job has 66 steps, so one run differs from the next by more than
        # the five seeds' mean is away from the bound: each seed runs four times.
        self.run_two_and_two(4 * list(range(1, 6)))

    def test_two_servers_and_two_workers_without_a_pipeline(self):
        self.run_two_and_two(range(1, 6), "--pipeline_depth=0")


class A9aTest(RealDataTest):
    """Rows of 11 to 14 features, labels of +1 and -1."""

    def setUp(self):
        super().setUp()
        train = self.source_rows("a9a", "a9a_123d_train.libsvm")
        test = []
        # Counted from 0 and without values.
        for row in self.source_rows("a9a", "a9a_123d_test.dummy"):
            label, *ids = row.split()
            test.append(" ".join([label] + [f"{int(i) + 1}:1" for i in ids]) +
                        "\n")
        self.use_rows(train, test)

    def test_three_servers_and_two_workers(self):
        summary, _ = self.run_job("shoal", "run", "--ps=3", "--workers=2",
                                  *A9A, "--seed=1")
        print("AUC", summary["eval"]["auc"])
        self.assertEqual(summary["samples"]["trained"], 3 * 32561)
        self.assertGreaterEqual(summary["eval"]["auc"], 0.900)


if __name__ == "__main__":
    harness.main()
