"""Training that diverges ends at once, saves nothing more, and names the
checkpoint from before that."""

import os
import random
import re

import harness

FIELDS = 4
FEATURES = 300


def rows(count, seed, worst=1):
    """LibSVM rows whose labels follow their first feature. Every 40th row has
    one value of `worst`."""
    chance = random.Random(seed)
    lines = []
    for i in range(count):
        ids = [chance.randrange(FEATURES) for _ in range(FIELDS)]
        label = int((ids[0] % 2 == 0) != (chance.random() < 0.1))
        value = worst if i % 40 == 0 else 1
        lines.append(" ".join([str(label), f"{ids[0]}:{value:g}",
                               *(f"{i}:1" for i in ids[1:])]))
    return "\n".join(lines) + "\n"


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class DivergenceTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.model_dir = self.path("model")

    def flags(self, data, rate, *more):
        return [f"--feature_size={FEATURES}", f"--field_size={FIELDS}",
                "--embedding_size=4", "--deep_layers=8", "--batch_size=10",
                "--optimizer=sgd", f"--learning_rate={rate}",
                "--training_data_dir=" + data, "--model_dir=" + self.model_dir,
                "--summary=" + self.path("summary.json"), *more]

    def checkpoints(self):
        return sorted(name for name in os.listdir(self.model_dir)
                      if name.startswith("ckpt-"))

    def expect_diverged(self, words, *command):
        job = self.start("diverges", *command)
        self.assertEqual(job.wait(), 1, job.output()[-3000:])
        self.assertIn("training diverged: ", job.lines[-1])
        self.assertIn(words, job.lines[-1])
        self.assertIn("training diverged: ", self.summary()["exit_reason"])
        return job

    def test_an_absurd_rate_ends_the_job_and_the_good_checkpoint_is_kept(self):
        data = self.write("data/tr.libsvm", rows(20000, 1))
        for name, command in (("run", ["run", "--ps=2", "--workers=2"]),
                              ("train", ["train"])):
            self.model_dir = self.path("model " + name)
            shoal = ["shoal", *command]
            self.run_ok(*shoal, *self.flags(data, 0.05))
            good = self.checkpoints()
            self.assertEqual(len(good), 1)
            step = self.summary()["checkpoint"]["step"]
            # The same command with more epochs goes on from the checkpoint.
            self.expect_diverged(
                "the same command with a smaller --learning_rate goes on from "
                + os.path.join(self.model_dir, good[0]),
                *shoal, *self.flags(data, 1e6, "--num_epochs=1000"))
            self.assertEqual(self.checkpoints(), good)
            self.run_ok(*shoal, *self.flags(data, 0.05, "--num_epochs=2"))
            summary = self.summary()
            self.assertEqual(summary["checkpoint"]["resumed_step"], step)
            self.assertEqual(summary["samples"]["trained"], 40000)

    def auc(self, test_data):
        self.run_ok("shoal", "eval", "--model_dir=" + self.model_dir,
                    "--val_data_dir=" + test_data,
                    "--summary=" + self.path("eval.json"))
        return self.summary("eval.json")["eval"]["auc"]

    def test_nothing_is_saved_between_the_first_bad_batch_and_the_end(self):
        data = self.write("data/tr.libsvm", rows(20000, 1))
        test_data = self.write("te.libsvm", rows(2000, 5))
        often = ["--save_checkpoint_steps=20", "--keep_checkpoints=0"]
        # From the start: the first checkpoint is due after bad batches.
        for name, command in (("run", ["run", "--ps=2", "--workers=2"]),
                              ("train", ["train"])):
            self.model_dir = self.path("model " + name)
            self.expect_diverged(
                f"there is no checkpoint in {self.model_dir}: begin again with "
                "a smaller --learning_rate", "shoal", *command,
                *self.flags(data, 1e6, *often))
            self.assertEqual(self.checkpoints(), [])
        # The advice is followed.
        self.run_ok("shoal", "train", *self.flags(data, 0.05, *often[1:],
                                                  "--num_epochs=2"))
        good = self.checkpoints()
        first = self.auc(test_data)
        self.assertGreater(first, 0.6)
        # On from a checkpoint: it is named, and it trains again.
        epochs = "--num_epochs=6"
        said = self.expect_diverged(
            "the same command with a smaller --learning_rate goes on from " +
            os.path.join(self.model_dir, good[-1]), "shoal", "train",
            *self.flags(data, 1e6, *often, epochs)).lines[-1]
        self.assertNotIn("remove", said)
        self.assertEqual(self.checkpoints(), good)
        self.run_ok("shoal", "train", *self.flags(data, 0.05, *often, epochs))
        self.assertEqual(self.summary()["samples"]["trained"], 120000)
        self.assertEqual(self.summary()["samples"]["rejected"], 0)
        self.assertGreater(self.auc(test_data), first)

    def test_a_checkpoint_of_the_diverging_time_is_not_named_again(self):
        data = self.write("data/tr.libsvm", rows(4000, 1))
        for epochs in (1, 2):  # each ends with a checkpoint
            self.run_ok("shoal", "train", *self.flags(
                data, 0.05, "--save_checkpoint_steps=100",
                "--keep_checkpoints=0", f"--num_epochs={epochs}"))
        older, newest = self.checkpoints()[-2:]
        # As one that was saved on request, while training diverged.
        path = os.path.join(self.model_dir, newest, "manifest.json")
        with open(path, "rb") as file:
            body = file.read().rsplit(b",\n \"manifest_crc32c\"", 1)[0]
        body, count = re.subn(rb'"notes": \{\}',
                              b'"notes": {"diverging": "true"}', body)
        self.assertEqual(count, 1)
        with open(path, "wb") as file:
            file.write(body + b',\n "manifest_crc32c": "%08x"\n}\n' %
                       crc32c(body))
        diverges = self.flags(data, 1e6, "--num_epochs=1000")
        said = self.expect_diverged(
            "with a smaller --learning_rate goes on from " +
            os.path.join(self.model_dir, older), "shoal", "train",
            *diverges).lines[-1]
        self.assertIn("remove " + os.path.join(self.model_dir, newest), said)

    def test_a_job_that_is_over_within_a_second_is_judged_at_its_end(self):
        data = self.write("data/tr.libsvm", rows(400, 2))
        self.expect_diverged(f"there is no checkpoint in {self.model_dir}: "
                             "begin again with a smaller --learning_rate",
                             "shoal", "train", *self.flags(data, 1e6))
        self.assertEqual(self.checkpoints(), [])

    def test_single_rejected_batches_end_no_job(self):
        # The square of the value is no float32: a quarter of the batches.
        data = self.write("data/tr.libsvm", rows(4000, 3, worst=1e30))
        self.run_ok("shoal", "run", "--ps=2", "--workers=2",
                    *self.flags(data, 0.05))
        summary = self.summary()
        self.assertEqual(summary["exit_reason"], "done")
        rejected = summary["samples"]["rejected"]
        self.assertGreater(rejected, 900)  # 10 rows a batch, or fewer
        self.assertLessEqual(rejected, 1000)
        self.assertEqual(len(self.checkpoints()), 1)


if __name__ == "__main__":
    harness.main()
