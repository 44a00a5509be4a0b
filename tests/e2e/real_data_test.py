"""Ten thousand real Criteo rows: the model learns, and two workers share."""

import os
import unittest

import harness

FLAGS = ["--feature_size=117581", "--field_size=39", "--embedding_size=8",
         "--deep_layers=128,64,32", "--optimizer=adam", "--learning_rate=1e-3",
         "--l2_reg=0", "--batch_size=256", "--num_epochs=2", "--seed=1"]


class RealDataTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        source = os.path.join(harness.DATA, "aws_deepfm_criteo_val",
                              "val.libsvm")
        if not os.path.exists(source):
            self.skipTest(f"the real rows are not here ({source}); "
                          "README.md says how to get them")
        with open(source) as f:
            rows = f.readlines()
        self.train = self.write("train/tr.libsvm", "".join(rows[:8000]))
        self.test = self.write("test/te.libsvm", "".join(rows[8000:]))

    def data_flags(self):
        return ["--training_data_dir=" + self.path("train"),
                "--val_data_dir=" + self.path("test"),
                "--summary=" + self.path("summary.json")]

    def check(self, summary):
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 16000)
        self.assertEqual(summary["eval"]["examples"], 2000)
        print("AUC", summary["eval"]["auc"], "logloss",
              summary["eval"]["logloss"])
        self.assertGreaterEqual(summary["eval"]["auc"], 0.70)

    def test_one_process(self):
        self.run_ok("shoal", "train", *FLAGS, *self.data_flags())
        self.check(self.summary())

    def test_two_servers_and_two_workers(self):
        output = self.run_ok("shoal", "run", "--ps=2", "--workers=2", *FLAGS,
                             *self.data_flags())
        summary = self.summary()
        self.check(summary)
        self.assertIn("samples 16000 = 16000 trained + 0 rejected + 0 lost",
                      output)
        shares = summary["per_worker"]
        self.assertEqual(sum(shares), 16000)
        self.assertGreaterEqual(min(shares), 0.2 * 16000, shares)


if __name__ == "__main__":
    harness.main()
