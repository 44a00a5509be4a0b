"""A real run's compute times are recorded, and replayed in place of computing:
in every mode, by each way to start a job, with an exact ledger."""

import json
import os

import harness
from cluster import PROBE, Cluster

ROWS, BATCH = 3200, 16
DEEPFM = ["--feature_size=300", "--field_size=4", "--embedding_size=4",
          "--deep_layers=8,4"]


class StandinTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        self.val = self.write("va.libsvm", harness.linear_rows(300, seed=2))
        self.profile = self.path("profile.json")

    def flags(self, *model):
        return [*(model or DEEPFM), f"--batch_size={BATCH}",
                "--piece_bytes=8192", "--training_data_dir=" + self.data,
                "--val_data_dir=" + self.val,
                "--summary=" + self.path("summary.json")]

    def record(self, *model):
        output = self.run_ok("shoal", "train", *self.flags(*model),
                             "--record_compute=" + self.profile)
        self.assertIn(f"--record_compute={self.profile}: written", output)
        self.assertFalse(self.summary()["compute"]["replayed"])
        self.assertGreater(self.summary()["eval"]["auc"], 0)
        with open(self.profile) as file:
            return json.load(file)

    def replay(self, scale=1, compute="replay"):
        return [f"--compute={compute}", "--compute_profile=" + self.profile,
                *([f"--compute_scale={scale}"] if scale != 1 else [])]

    def expect_replayed(self, output, scale=1.0, canaries=0):
        """The ledger is exact, and no figure of a computation is shown."""
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS)
        self.assertEqual(summary["compute"],
                         {"replayed": True, "profile": self.profile,
                          "scale": scale})
        self.assertEqual(summary["eval"]["examples"], 300)
        for figure in ("auc", "logloss", "calibration"):
            self.assertIsNone(summary["eval"][figure], figure)
        self.assertIsNone(summary["last_loss"])
        for point in summary["curve"]:
            self.assertIsNone(point["loss"])
            self.assertIsNone(point["auc"])
        self.assertEqual(summary["curve"][-1]["samples"], ROWS)
        self.assertGreater(summary["step_seconds"]["count"], 0)
        self.assertIsNone(summary["cpu_seconds"])
        self.assertIn(f"compute    replayed from {self.profile}", output)
        self.assertIn("AUC        -, logloss -", output)
        self.assertNotIn("CPU:", output)
        self.assertEqual(len(summary["canary"] or []), canaries)
        for canary in summary["canary"] or []:
            self.assertEqual(canary["rows"], summary["batches"]["trained"])
            self.assertEqual((canary["not_one"], canary["smallest"],
                              canary["largest"]), (0, 1, 1))
        return summary

    def test_a_replay_ends_with_the_same_weights_in_every_mode(self):
        profile = self.record(*PROBE)
        self.assertEqual(profile["batch_size"], BATCH)
        # The fixed gradient of the probe is exact in any order of updates.
        output = self.run_ok("shoal", "train", *self.flags(*PROBE),
                             *self.replay())
        digest = self.expect_replayed(output)["digest"]
        for mode, shards, compute in (
                ("ring", 2, "replay"), ("sync", 1, "replay"),
                ("ssp", 1, "replay"), ("async", 1, "replay"),
                ("ring", 2, "busy"), ("async", 1, "busy")):
            with self.subTest(mode=mode, compute=compute):
                output = self.run_ok(
                    "shoal", "run", f"--mode={mode}", "--workers=2",
                    *(["--ps=1"] if mode != "ring" else []), "--canary",
                    *self.flags(*PROBE), *self.replay(2, compute))
                # A job whose replicas differ fails.
                summary = self.expect_replayed(output, 2.0, shards)
                self.assertEqual(summary["digest"], digest)
                for worker in (0, 1):
                    self.assertRegex(output, f"worker {worker} .* replayed the "
                                             "compute of [0-9]+ steps: ")

    def test_a_slower_core_trains_the_same_model(self):
        digests = []
        for scale in (1, 3):
            self.run_ok("shoal", "train", *self.flags(),
                        f"--compute_scale={scale}")
            summary = self.summary()
            self.assertEqual(summary["compute"],
                             {"replayed": False, "profile": None,
                              "scale": scale})
            self.assertGreater(summary["eval"]["auc"], 0)
            digests.append(summary["digest"])
        self.assertEqual(digests[0], digests[1])

    def test_processes_by_hand_may_have_different_factors(self):
        self.record()
        job = Cluster(self, 1, 2, [*self.flags(), "--compute=replay",
                                   "--compute_profile=" + self.profile])
        job.start_ps(0)
        job.start_worker(0, "--compute_scale=20")
        job.start_worker(1)
        job.wait_all()
        self.expect_replayed(job.ps[0].output())

    def test_shoal_run_records_worker_0(self):
        self.run_ok("shoal", "run", "--mode=ring", "--workers=2",
                    *self.flags(), "--record_compute=" + self.profile)
        with open(self.profile) as file:
            profile = json.load(file)
        # Half of the batches are those of the other worker.
        self.assertLess(profile["steps_seen"], ROWS / BATCH / 2)
        self.assertEqual(sum(end - begin for begin, end, _ in
                             profile["steps"][0]["final"]),
                         profile["dense_floats"])

    def test_a_file_that_does_not_fit_is_refused_before_the_job(self):
        profile = self.record()
        flag = f"--compute_profile={self.profile}: "

        def refused(command, message, *more):
            code, output = self.run_fails(
                "shoal", *command, *self.flags(), *self.replay(), *more)
            self.assertEqual(code, 2, output)
            self.assertIn(message, output)

        run = ["run", "--ps=1", "--workers=1"]
        for command in (["train"], run):
            refused(command,
                    flag + "the profile was recorded with --batch_size 16, and "
                    "this job has 32; give the profile of a run with this "
                    "job's flags, or record one (--record_compute)",
                    "--batch_size=32")
        refused(["train"], f"whose number of floats is "
                f"{profile['dense_floats']}, and this job has ",
                "--deep_layers=8,5")
        with open(self.profile, "r+") as file:
            text = file.read()
            file.truncate(100)
        refused(run, flag + "not JSON: it ends too early, after byte 100")
        self.write("profile.json", text.replace('"version": 1', '"version": 7'))
        refused(run, flag + "is a compute profile of version 7, and this "
                "program reads version 1; record it again with this program")
        os.remove(self.profile)
        refused(["train"], flag)

    def test_what_is_replayed_is_not_taken_for_the_real_thing(self):
        self.record()
        model = "--model_dir=" + self.path("model")
        self.run_ok("shoal", "train", *self.flags(), *self.replay(), model)
        _, output = self.run_fails("shoal", "train", *self.flags(), model,
                                   "--num_epochs=2")
        self.assertIn("--compute differs: this job does not have it, the "
                      "checkpoint has replay", output)
        _, output = self.run_fails("shoal", "eval", model,
                                   "--val_data_dir=" + self.val)
        self.assertIn("--compute=replay, of the checkpoint's training", output)

    def test_a_run_that_is_too_short_leaves_no_file(self):
        output = self.run_ok(
            "shoal", "train", *self.flags(), "--batch_size=400",
            "--record_compute=" + self.profile)
        self.assertIn(f"--record_compute={self.profile}: nothing was recorded",
                      output)
        self.assertFalse(os.path.exists(self.profile))
        code, output = self.run_fails(
            "shoal", "train", *self.flags(),
            "--record_compute=" + self.path("none", "p.json"))
        self.assertEqual(code, 2)
        self.assertIn("cannot write to", output)
        code, output = self.run_fails("shoal", "train", *self.flags(),
                                      "--record_compute=" + self.data)
        self.assertEqual(code, 2)
        self.assertIn(f"--record_compute={self.data} would replace", output)


if __name__ == "__main__":
    harness.main()
