"""What a job says of itself: dropout by both its names, the flags at the start,
the file of --write_config, the summary's facts, event files, short batches."""

import datetime
import glob
import json
import os
import re
import socket

import harness
from cluster import PROBE
from records import crc32c, payloads

MODEL = ["--feature_size=300", "--field_size=4", "--embedding_size=3",
         "--deep_layers=8,4"]
DEEP = [*MODEL, "--batch_size=100"]


class DropoutTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(2000))

    def digest(self, *flags):
        output = self.run_ok("shoal", "train", *DEEP, *flags,
                             "--training_data_dir=" + self.data)
        return re.search(r"digest +(\w+)", output)[1]

    def test_keep_prob_is_one_minus_dropout(self):
        kept = self.digest("--keep_prob=0.9,0.7")
        self.assertEqual(self.digest("--dropout=0.1,0.3"), kept)
        self.assertEqual(self.digest("--dropout=0.1,0.3",
                                     "--keep_prob=0.9,0.7"), kept)
        self.assertNotEqual(self.digest("--dropout=0.3,0.1"), kept)
        self.assertNotEqual(self.digest(), kept)

    def test_a_chance_that_may_be_meant_otherwise_is_refused(self):
        for flags, words in (
                (["--dropout=0.9,0.9"], "write --keep_prob=0.9,0.9"),
                (["--dropout=0.5,0.5,0.5"], "give one entry per layer"),
                (["--dropout=0.1,0.1", "--keep_prob=0.5,0.5"], "differ")):
            for command in ("train", "run"):
                code, output = self.run_fails(
                    "shoal", command, *DEEP, *flags,
                    "--training_data_dir=" + self.data,
                    "--model_dir=" + self.path("m"))
                self.assertEqual(code, 2, output)
                self.assertIn(words, output)
                self.assertFalse(os.path.exists(self.path("m")))

    def test_a_checkpoint_that_calls_it_dropout_goes_on(self):
        job = ["shoal", "train", *DEEP, "--training_data_dir=" + self.data,
               "--model_dir=" + self.path("m")]
        self.run_ok(*job, "--keep_prob=0.9,0.7")
        manifest, = glob.glob(self.path("m", "*", "manifest.json"))
        with open(manifest, encoding="utf-8") as file:
            text = file.read()
        config = json.loads(text)["config"]
        self.assertIn("\nkeep_prob=0.9,0.7\n", config)
        self.assertNotIn("dropout", config)
        # As release 0.5.0 wrote it.
        lines = config.splitlines()
        lines.remove("keep_prob=0.9,0.7")
        lines = sorted(lines + ["dropout=0.9,0.7"])
        old = text.replace(json.dumps(config),
                           json.dumps("".join(line + "\n" for line in lines)))
        self.assertNotEqual(old, text)
        with open(manifest, "w", encoding="utf-8") as file:
            file.write(self.sealed(old))
        more = [*job, "--num_epochs=2"]
        code, output = self.run_fails(*more, "--dropout=0.3,0.1")
        self.assertIn("--keep_prob differs: this job has 0.7,0.9, the "
                      "checkpoint has 0.9,0.7", output)
        output = self.run_ok(*more, "--dropout=0.1,0.3")
        self.assertIn("resumed ", output)
        self.assertIn("samples 4000 = 4000 trained", output)
        output = self.run_ok("shoal", "ckpt", "ls", self.path("m"))
        self.assertNotIn("not valid", output)

    @staticmethod
    def sealed(manifest):
        """The manifest with a last line that has the CRC of the others."""
        body, last = manifest.rsplit(",\n", 1)
        crc = crc32c(body.encode())
        return body + ",\n" + re.sub(r'"[0-9a-f]{8}"', f'"{crc:08x}"', last)


class StartTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.job = ["shoal", "train", *PROBE, "--training_data_dir=" +
                    self.write("data/tr.libsvm", harness.linear_rows(100))]

    def test_the_flags_given_are_shown_and_the_rest_on_request(self):
        output = self.run_ok(*self.job)
        self.assertIn("seed=5", output)
        self.assertNotIn("parse_threads", output)
        self.assertIn("memory: ", output)
        output = self.run_ok(*self.job, "--print_config=all")
        self.assertIn("seed*=5", output)
        self.assertIn("parse_threads=1", output)
        self.assertNotIn("batch_norm", output)
        output = self.run_ok(*self.job, "--print_config=false")
        self.assertNotIn("seed", output)
        self.assertNotIn("memory: ", output)
        # Alone, and as older scripts have it.
        for flag in ("--print_config", "--print_config=true"):
            self.assertIn("seed=5", self.run_ok(*self.job, flag))
        code, output = self.run_fails(*self.job, "--print_config=some")
        self.assertEqual(code, 2)
        self.assertIn("true", output)

    def test_a_flag_that_does_not_work_yet_is_not_in_help(self):
        for command in (["shoal", "train"], ["shoal", "run"], ["shoal-ps"],
                        ["shoal-worker"]):
            self.assertNotIn("batch_norm", self.run_ok(*command, "--help"))
        # Scripts of the reference pass it.
        self.run_ok(*self.job, "--batch_norm=False")
        code, output = self.run_fails(*self.job, "--batch_norm=True")
        self.assertEqual(code, 2)
        self.assertIn("not there yet", output)

    def test_write_config_overwrites_nothing_and_does_not_name_itself(self):
        config = self.path("job.textproto")
        job = [*self.job, "--write_config=" + config]
        self.run_ok(*job)
        with open(config, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("write_config", text)
        self.assertIn("seed: 5\n", text)
        # The same command again, and a job from the file.
        self.run_ok(*job)
        self.run_ok("shoal", "train", "--config=" + config)
        # Another config, and a file of another kind.
        code, output = self.run_fails(*job, "--seed=6")
        self.assertEqual(code, 2)
        self.assertIn(f"--write_config={config}: the file exists already",
                      output)
        with open(config, encoding="utf-8") as file:
            self.assertEqual(file.read(), text)
        notes = self.write("notes", "")
        self.run_fails(*self.job, "--write_config=" + notes)
        self.assertEqual(os.path.getsize(notes), 0)
        # A file of an older release names itself.
        older = self.write("older.textproto", text + "batch_norm: false\n"
                           f'write_config: "{self.path("older.textproto")}"\n')
        self.run_ok("shoal", "train", "--config=" + older)


class SummaryTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.train = self.write("tr/tr.libsvm", harness.linear_rows(1000))
        self.write("tr/tr2.libsvm", harness.linear_rows(500))
        self.val = self.write("va/va.libsvm", harness.linear_rows(300))
        self.job = [*MODEL, "--training_data_dir=" + self.path("tr"),
                    "--val_data_dir=" + self.val, "--batch_size=64",
                    "--num_epochs=2",
                    "--summary=" + self.path("summary.json")]

    def test_it_holds_the_facts_of_the_run(self):
        before = datetime.datetime.now(datetime.timezone.utc)
        version = self.run_ok("shoal", "--version").split()[1].rstrip(",")
        for command in (["train"], ["run", "--ps=1", "--workers=2"]):
            output = self.run_ok("shoal", *command, *self.job)
            summary = self.summary()
            self.assertEqual(summary["version"], version)
            start = datetime.datetime.strptime(summary["start"],
                                               "%Y-%m-%dT%H:%M:%S.%f%z")
            self.assertLess(before, start + datetime.timedelta(seconds=1))
            self.assertLess(start, datetime.datetime.now(
                datetime.timezone.utc))
            flags = summary["flags"]
            self.assertEqual(flags["batch_size"], "64")
            self.assertEqual(flags["training_data_dir"], self.path("tr"))
            self.assertNotIn("parse_threads", flags)
            places = {"ps_hosts", "worker_hosts", "token_file", "task_index"}
            self.assertEqual(set(flags) - places,
                             {flag[2:].split("=")[0] for flag in self.job})
            data = summary["data"]
            validation = data.pop("validation")
            sizes = [os.path.getsize(self.path("tr", name))
                     for name in ("tr.libsvm", "tr2.libsvm")]
            # A file is a piece: 15 batches and 40 rows, 7 and 52.
            self.assertEqual(data, {
                "files": 2, "rows": 1500, "bytes": sum(sizes), "batches": 24,
                "short_batches": 2})
            self.assertEqual(validation, {
                "files": 1, "rows": 300, "bytes": os.path.getsize(self.val),
                "batches": 5, "short_batches": 1})
            self.assertEqual(data["batches"] * 2,
                             summary["batches"]["trained"])
            self.assertIn("batches    24 an epoch, 2 of them short", output)
            self.assertGreater(summary["last_loss"], 0)
            self.assertLess(summary["last_loss"], 10)
            self.assertEqual(summary["host"], socket.gethostname())
            self.assertEqual(summary["balance"][0]["host"], summary["host"])

    def test_a_command_that_scores_has_the_flags_that_were_typed(self):
        self.run_ok("shoal", "train", *self.job,
                    "--model_dir=" + self.path("m"))
        trained = self.summary()["checkpoint"]["path"]
        typed = {"model_dir": self.path("m"), "val_data_dir": self.val,
                 "summary": self.path("summary.json")}
        self.run_ok("shoal", "eval",
                    *(f"--{name}={value}" for name, value in typed.items()))
        summary = self.summary()
        self.assertEqual(summary["flags"], typed)
        self.assertEqual(summary["checkpoint"]["resumed_from"], trained)

    def test_what_is_not_known_is_null(self):
        self.run_ok("shoal", "train", *MODEL, "--task_type=eval",
                    "--resume=never", "--val_data_dir=" + self.val,
                    "--summary=" + self.path("summary.json"))
        summary = self.summary()
        self.assertIsNone(summary["last_loss"])
        data = summary["data"]
        self.assertEqual(data.pop("validation")["rows"], 300)
        self.assertEqual(set(data.values()), {None})
        # The job ends in its first file.
        self.write("tr/a.libsvm", "no row\n" * 2)
        self.run_fails("shoal", "train", *self.job, "--shuffle=false",
                       "--data_format=libsvm")
        summary = self.summary()
        self.assertEqual(summary["data"]["files"], 3)
        self.assertIsNone(summary["data"]["rows"])
        self.assertIsNone(summary["last_loss"])
        self.assertEqual(summary["flags"]["shuffle"], "false")

    def test_events_hold_the_rate_and_the_calibration(self):
        self.run_ok("shoal", "train", *self.job,
                    "--tensorboard_dir=" + self.path("events"))
        file, = glob.glob(self.path("events", "*"))
        with open(file, "rb") as events:
            records = list(payloads(events.read()))
        for tag, points in ((b"samples_per_second", 1),
                            (b"calibration/evaluation", 2),
                            (b"auc/evaluation", 2)):
            count = sum(tag in record for record in records)
            self.assertGreaterEqual(count, points, tag)


class ShortBatchesTest(harness.ShoalTest):

    def summary_of(self, *flags):
        self.output = self.run_ok("shoal", "train", *PROBE, *flags,
                                  "--summary=" + self.path("summary.json"))
        summary = self.summary()
        self.expect_whole(summary)
        return summary

    def test_pieces_are_made_for_large_batches(self):
        # Rows of 560 bytes: a 32nd of the data holds 125 of them.
        self.write("tr/tr.libsvm", harness.linear_rows(4000, fields=100))
        job = ["--training_data_dir=" + self.path("tr"), "--batch_size=200",
               "--field_size=100"]
        data = self.summary_of(*job)["data"]
        self.assertEqual(data["rows"], 4000)
        # 16 batches at most, 8 at least: two pieces.
        self.assertLessEqual(data["batches"], 21)
        self.assertLessEqual(data["short_batches"], 2)
        self.assertNotIn("rows in the mean, and", self.output)
        # The user's word counts.
        data = self.summary_of(*job, "--piece_bytes=64KiB")["data"]
        self.assertEqual(data["short_batches"], data["batches"])
        self.assertIn("and --batch_size=200: a batch ends where its piece of "
                      "the data ends; for larger batches give "
                      "--piece_bytes=", self.output)
        # The value that it names holds 16 batches of 200 rows.
        enough = re.search(r"--piece_bytes=(\d+[KM]iB), which holds 16 batches",
                           self.output).group(1)
        data = self.summary_of(*job, "--piece_bytes=" + enough)["data"]
        self.assertLessEqual(data["short_batches"], 2)
        self.assertLessEqual(data["batches"], 21)

    def test_small_files_are_warned_of_with_the_mean_batch(self):
        for i in range(10):
            self.write(f"tr/{i}.libsvm", harness.linear_rows(30, seed=i + 1))
        job = ["--training_data_dir=" + self.path("tr"), "--batch_size=100"]
        summary = self.summary_of(*job)
        self.assertEqual(summary["data"]["short_batches"], 10)
        self.assertEqual(self.output.count(
            "batches have 30.0 rows in the mean, and --batch_size=100"), 1)
        self.assertIn("batches    10 an epoch, 10 of them short", self.output)
        self.assertEqual(self.output.count("--piece_bytes="), 1)

    def test_a_job_goes_on_with_the_pieces_of_its_checkpoint(self):
        self.write("tr/tr.libsvm", harness.linear_rows(20000))
        job = ["--training_data_dir=" + self.path("tr"), "--batch_size=500",
               "--model_dir=" + self.path("m")]
        before = self.summary_of(*job, "--piece_bytes=50000")
        # By itself the job would cut pieces of 64 KiB.
        after = self.summary_of(*job, "--num_epochs=2")
        self.assertEqual(after["data"]["batches"], before["data"]["batches"])
        self.assertEqual(after["samples"]["trained"], 40000)
        self.assertEqual(after["checkpoint"]["resumed_samples"], 20000)


if __name__ == "__main__":
    harness.main()
