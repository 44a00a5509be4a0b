"""Each mode goes on from any other's checkpoint, with other numbers of ranks and
servers: a job that is stopped anywhere in one mode and goes on in another ends
with the weights of the serial run, each batch applied once on every shard."""

import itertools
import re
import signal

import harness
from cluster import PROBE
from launched import Launched
from slow_data import SlowData

ROWS, EPOCHS = 2000, 4
STOPPED = 3  # docs/commands.md

# For each mode, what a job of it is begun with, and what goes on with it.
MODES = {
    "async": (["--ps=2", "--workers=2"], ["--ps=3", "--workers=3"]),
    "ssp": (["--ps=1", "--workers=3", "--ssp_bound=1"],
            ["--ps=2", "--workers=2", "--ssp_bound=0"]),
    "sync": (["--ps=3", "--workers=2"],
             ["--ps=1", "--workers=3", "--backup_workers=1"]),
    "ring": (["--workers=3"], ["--workers=2", "--reduction=rank_order"]),
    "hybrid": (["--ps=2", "--workers=2"], ["--ps=1", "--workers=3"]),
}
DEEPFM = ["--model=deepfm", "--feature_size=300", "--field_size=4",
          "--embedding_size=3", "--deep_layers=8,4", "--optimizer=adam",
          "--seed=5"]


class ModeChangesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        # Three files, so that pieces of several epochs are open in async.
        for i in range(3):
            self.write(f"data/tr{i}.libsvm",
                       harness.linear_rows(ROWS // 4 * (1 + i % 2)))
        self.files = [self.path(f"data/tr{i}.libsvm") for i in range(3)]

    def flags(self, model=PROBE):
        return [*model, "--batch_size=16", "--piece_bytes=4096",
                f"--num_epochs={EPOCHS}", "--canary",
                "--training_data_dir=" + self.path("data"),
                "--summary=" + self.path("summary.json")]

    def serial_digest(self):
        self.run_ok("shoal", "train", *self.flags())
        return self.summary()["digest"]

    def stop(self, flags, model):
        """A job that is stopped while it trains; the samples that it has
        trained."""
        slow = SlowData(self)
        for file in self.files:
            slow.slow(file, .1)
        job = Launched(self, *flags, "--model_dir=" + model,
                       "--progress_every=100ms", prefix=slow.prefix)
        job.process.wait_for_line(harness.TRAINED, 60)
        job.process.signal(signal.SIGTERM)
        for file in self.files:
            slow.fast(file)
        self.assertEqual(job.process.wait(60), STOPPED, job.process.output())
        return self.summary()["samples"]["trained"]

    def test_every_mode_goes_on_from_the_others_checkpoints(self):
        digest = self.serial_digest()
        for before, after in itertools.product(MODES, MODES):
            with self.subTest(before=before, after=after):
                model = self.path(f"{before}-{after}")
                trained = self.stop([*self.flags(), f"--mode={before}",
                                     *MODES[before][0]], model)
                self.assertGreater(trained, 0)
                self.assertLess(trained, ROWS * EPOCHS)
                shown = self.run_ok("shoal", "ckpt", "show", model)
                self.assertRegex(shown, rf"(?m)^mode +{before}$")
                self.run_ok("shoal", "ckpt", "verify", model)
                self.run_ok("shoal", "ckpt", "balance", model)
                out = self.run_ok("shoal", "run", *self.flags(),
                                  f"--mode={after}", *MODES[after][1],
                                  "--model_dir=" + model, "--resume=must")
                said = re.search(r"resumed from .*?, (\d+) samples? trained"
                                 r"( with --mode=(\w+), and the job goes on "
                                 r"with --mode=(\w+))?", out)
                self.assertIsNotNone(said, out)
                self.assertEqual(int(said[1]), trained)
                if before != after:
                    self.assertEqual((said[3], said[4]), (before, after))
                self.expect_exact(digest)

    def test_a_stopped_job_of_a_synchronous_mode_ends_bit_for_bit_the_same(self):
        for more in (["--mode=sync", "--ps=2", "--workers=3"],
                     ["--mode=ring", "--workers=3"],
                     ["--mode=ring", "--workers=2", "--reduction=rank_order"]):
            with self.subTest(more=more):
                flags = [*self.flags(DEEPFM), *more]
                self.run_ok("shoal", "run", *flags)
                digest = self.summary()["digest"]
                model = self.path("-".join(more))
                for _ in range(2):
                    self.stop(flags, model)
                self.run_ok("shoal", "run", *flags, "--model_dir=" + model,
                            "--resume=must")
                self.expect_exact(digest)

    def expect_exact(self, digest):
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS * EPOCHS)
        for canary in summary["canary"]:
            self.assertEqual(canary["rows"], summary["batches"]["trained"])
            self.assertEqual((canary["not_one"], canary["smallest"],
                              canary["largest"]), (0, 1, 1))
        self.assertEqual(summary["digest"], digest)


if __name__ == "__main__":
    harness.main()
