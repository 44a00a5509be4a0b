"""`shoal data`: independent readers find the rows that it writes, and
independent builders of features write the same."""

import collections
import glob
import gzip
import json
import os
import random
import re
import subprocess
import unittest

import harness
import records

CLIPS = [20, 600, 100, 50, 64000, 500, 100, 50, 500, 10, 10, 10, 50]


def read(path, mode="r"):
    with open(path, mode) as f:
        return f.read()


def fit(rows, cutoff):
    """The encoding of docs/criteo.md."""
    ranges = []
    for i in range(13):
        values = [min(int(row[1 + i]), CLIPS[i]) for row in rows if row[1 + i]]
        ranges.append((min(values), max(values)) if values else (0, 0))
    ranks, offsets = [], [13]
    for c in range(26):
        counts = collections.Counter(row[14 + c] for row in rows)
        del counts[""]
        kept = sorted((-n, value) for value, n in counts.items() if n >= cutoff)
        ranks.append({value: 1 + i for i, (_, value) in enumerate(kept)})
        offsets.append(offsets[-1] + 1 + len(kept))
    return ranges, ranks, offsets


def encode(row, fitted):
    ranges, ranks, offsets = fitted
    words = [row[0]]
    for i, (low, high) in enumerate(ranges):
        value = 0.0
        if row[1 + i] and high != low:
            value = (float(row[1 + i]) - low) / (high - low)
        words.append(f"{i + 1}:" + f"{value:.6f}".rstrip("0").rstrip("."))
    for c in range(26):
        words.append(f"{offsets[c] + ranks[c].get(row[14 + c], 0)}:1")
    return " ".join(words) + "\n"


def raw_rows(text):
    return [line.split("\t") for line in text.splitlines()]


def made_up_rows(count, seed):
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        columns = [str(int(draw.random() < 0.3))]
        for clip in CLIPS:
            columns.append("" if draw.random() < 0.2 else
                           str(int(draw.expovariate(3 / clip)) - 2))
        for c in range(26):
            columns.append("" if draw.random() < 0.1 else
                           f"{int(draw.paretovariate(1)) * 7919 + c:08x}")
        lines.append("\t".join(columns) + "\n")
    return "".join(lines)


M64 = 2**64 - 1


def mix(x):
    x = x + 0x9E3779B97F4A7C15 & M64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def hashed_id(c, value, size):
    """Of category c, from 1, by docs/criteo.md; 8 bytes at most."""
    key = int.from_bytes(value.encode(), "little")
    return 13 + (mix(13 + c ^ mix(key)) * (size - 13) >> 64)


class DataTest(harness.ShoalTest):

    def prepare(self, *flags):
        return self.run_ok("shoal", "data", "prepare", *flags)

    def train(self, *flags):
        """The digest of the model, and the summary."""
        output = self.run_ok(
            "shoal", "train", "--field_size=39", "--embedding_size=8",
            "--deep_layers=64,32", "--learning_rate=1e-3", "--batch_size=256",
            "--num_epochs=2", "--piece_bytes=0",
            "--summary=" + self.path("summary.json"), *flags)
        summary = self.summary()
        self.expect_whole(summary)
        return re.search(r"digest +(\w+)", output)[1], summary


class DirectoryTest(harness.ShoalTest):
    """Files where other tools leave them."""

    FLAGS = ["--model=lr", "--feature_size=300",
             "--field_size=4", "--batch_size=64"]

    def sources(self):
        """The names of the files in the checkpoint."""
        checkpoint, = glob.glob(self.path("model", "ckpt-*", "manifest.json"))
        with open(checkpoint) as f:
            return [s["name"] for s in json.load(f)["data"]["sources"]]

    def test_a_directory_of_partitions_is_trained_under_their_names(self):
        parts = []
        for day in 1, 2, 3:
            for part in 0, 1:
                parts.append(f"dt=2024-01-0{day}/part-0000{part}")
                self.write("hive/" + parts[-1],
                           harness.linear_rows(200, seed=len(parts)))
        self.write("hive/dt=2024-01-02/_SUCCESS", "not a row")
        self.write("hive/_temporary/0/part-00000", "not a row")
        self.write("hive/dt=2024-01-03/part-00001.crc/.hidden", "not a row")
        self.run_ok("shoal", "run", "--ps=1", "--workers=2", *self.FLAGS,
                    "--training_data_dir=" + self.path("hive"),
                    "--model_dir=" + self.path("model"),
                    "--summary=" + self.path("summary.json"))
        self.expect_whole(self.summary())
        self.assertEqual(self.summary()["samples"]["trained"], 1200)
        self.assertEqual(self.sources(), parts)
        # A bad row is known by the same name.
        with open(self.path("hive", parts[2]), "a") as f:
            f.write("a bad row\n")
        _, output = self.run_fails(
            "shoal", "train", *self.FLAGS,
            "--training_data_dir=" + self.path("hive"))
        self.assertIn(parts[2] + ":201: label 'a'", output)

    def test_some_partitions_are_named_by_a_glob(self):
        for day in 1, 2, 3:
            self.write(f"hive/dt={day}/part", harness.linear_rows(100))
        output = self.run_ok(
            "shoal", "train", *self.FLAGS,
            "--training_data_dir=" + self.path("hive", "dt=[12]"),
            "--summary=" + self.path("summary.json"))
        self.assertEqual(self.summary()["samples"]["trained"], 200, output)

    def test_a_flat_directory_keeps_its_names_and_resumes(self):
        for name in "b", "a":
            self.write("data/" + name, harness.linear_rows(100))
        for epochs, data in (1, "*"), (2, ""):
            self.run_ok("shoal", "train", *self.FLAGS,
                        "--training_data_dir=" + self.path("data", data),
                        "--model_dir=" + self.path("model"),
                        f"--num_epochs={epochs}", "--keep_checkpoints=1",
                        "--summary=" + self.path("summary.json"))
            self.assertEqual(self.sources(), ["a", "b"])
        self.assertEqual(self.summary()["samples"]["trained"], 400)

    def test_names_with_commas_and_brackets_are_taken_as_they_are(self):
        names = ["a,b.txt", "part[1].libsvm"]
        for name in names + ["a", "part1.libsvm"]:
            self.write("data/" + name, harness.linear_rows(
                100 if name in names else 7))
        both = ",".join(self.path("data", name) for name in names)
        for data, rows in [(self.path("data", names[0]), 100),
                           (self.path("data", names[1]), 100), (both, 200)]:
            self.run_ok("shoal", "run", "--ps=1", "--workers=1", *self.FLAGS,
                        "--training_data_dir=" + data,
                        "--summary=" + self.path("summary.json"))
            self.assertEqual(self.summary()["samples"]["trained"], rows, data)

    def test_a_circle_of_links_is_refused(self):
        self.write("data/dt=1/part", harness.linear_rows(10))
        os.symlink(self.path("data"), self.path("data", "dt=1", "all"))
        code, output = self.run_fails(
            "shoal", "run", *self.FLAGS,
            "--training_data_dir=" + self.path("data"))
        self.assertEqual(code, 2)
        self.assertIn("--training_data_dir: " +
                      self.path("data", "dt=1", "all") +
                      ": a link makes a circle: it leads back to " +
                      self.path("data") + ";", output)


def libffm(text, fields=None):
    """The rows of LibSVM text with the fields of their features, from 0; or
    with fields[j] for the j-th, in the order of the fields."""
    lines = []
    for line in text.splitlines():
        label, *features = line.split(" ")
        named = sorted((fields[j] if fields else j, feature)
                       for j, feature in enumerate(features))
        lines.append(" ".join([label] + [f"{j}:{f}" for j, f in named]))
    return "\n".join(lines) + "\n"


class LibFfmTest(harness.ShoalTest):

    FLAGS = ["--feature_size=300", "--embedding_size=4", "--deep_layers=8",
             "--learning_rate=0.01", "--batch_size=64", "--piece_bytes=0"]

    def digest(self, text, *flags):
        self.write("data/tr", text)
        output = self.run_ok("shoal", "train", *self.FLAGS,
                             "--training_data_dir=" + self.path("data"),
                             "--summary=" + self.path("summary.json"), *flags)
        self.expect_whole(self.summary())
        self.assertEqual(self.summary()["samples"]["trained"], 500)
        return re.search(r"digest +(\w+)", output)[1]

    def test_the_field_is_the_place_in_the_row(self):
        rows = harness.linear_rows(500)
        expected = self.digest(rows, "--field_size=4")
        self.assertEqual(self.digest(libffm(rows), "--field_size=4"), expected)
        self.assertEqual(self.digest(libffm(rows), "--field_size=4",
                                     "--data_format=libffm"), expected)
        moved = self.digest(libffm(rows, [3, 1, 0, 2]), "--field_size=4")
        self.assertNotEqual(moved, expected)
        # A field that no row has takes its place too.
        rows = harness.linear_rows(500, fields=2)
        near = self.digest(libffm(rows, [0, 1]), "--field_size=3")
        apart = self.digest(libffm(rows, [0, 2]), "--field_size=3")
        self.assertEqual(self.digest(rows, "--field_size=3"), near)
        self.assertNotEqual(apart, near)

    def test_processes_read_it_and_bad_fields_are_named(self):
        data = self.write("data/tr.ffm", libffm(harness.linear_rows(500)) +
                          "1 4:1:1\n1 2:1:1 2:2:1\n")
        flags = ["--field_size=4", "--training_data_dir=" + data,
                 "--summary=" + self.path("summary.json")]
        output = self.run_ok("shoal", "run", "--ps=2", "--workers=2",
                             *self.FLAGS, *flags, "--max_bad_rows=2",
                             "--quarantine_dir=" + self.path("bad"))
        self.assertEqual(self.summary()["samples"]["trained"], 500)
        bad = "".join(read(path) for path in glob.glob(self.path("bad", "*")))
        self.assertIn("field of '4:1:1' is not below --field_size=4", bad)
        self.assertIn("'2:2:1' is a second value of field 2", bad)
        _, output = self.run_fails("shoal", "train", *self.FLAGS, *flags)
        self.assertIn("tr.ffm:501: field of '4:1:1' is not below --field_size=4",
                      output)

    def test_stat_suggests_the_fields_in_use(self):
        self.write("d/a", "1 6:5:1 2:3:0.5\n")
        output = self.run_ok("shoal", "data", "stat", self.path("d"), "--json")
        data = json.loads(output[output.index("{"):])
        self.assertEqual(data["suggested"]["field_size"], 7)
        self.assertEqual(data["files"][0]["format"], "libffm")


class GenTest(DataTest):

    def test_tfrecord_holds_the_rows_of_libsvm(self):
        for form in "libsvm", "tfrecord":
            self.run_ok("shoal", "data", "gen", "--rows=3000",
                        "--test_rows=500", "--ids=20000", "--fields=12",
                        "--files=2", "--format=" + form,
                        "--out=" + self.path(form))
        for name in "tr-00000", "tr-00001", "te":
            rows = records.rows_of_libsvm(
                read(self.path("libsvm", name + ".libsvm")))
            self.assertGreaterEqual(len(rows), 500)
            self.assertEqual(rows, records.rows_of_tfrecord(
                read(self.path("tfrecord", name + ".tfrecords"), "rb")))

    def test_data_of_other_flags_is_not_replaced(self):
        flags = ["shoal", "data", "gen", "--rows=10", "--test_rows=10",
                 "--out=" + self.path("d")]
        self.run_ok(*flags)
        code, output = self.run_fails(*flags, "--format=tfrecord")
        self.assertEqual(code, 2)
        self.assertIn("is there already", output)


class PrepareTest(DataTest):
    """Made-up rows: the bytes are those of the functions above."""

    def setUp(self):
        super().setUp()
        self.text = made_up_rows(2000, seed=1)
        self.raw = self.write("raw/train.txt", self.text)

    def test_the_split_keeps_every_row_once_and_in_order(self):
        output = self.prepare("--input=" + self.raw, "--cutoff=5",
                              "--out=" + self.path("out"))
        rows = raw_rows(self.text)
        fitted = fit(rows, 5)
        expected = [encode(row, fitted) for row in rows]
        train = read(self.path("out", "tr-00000.libsvm")).splitlines(True)
        valid = read(self.path("out", "va-00000.libsvm")).splitlines(True)
        self.assertTrue(140 < len(valid) < 260, len(valid))
        self.assertEqual(sorted(train + valid), sorted(expected))
        # Each part is a subsequence.
        for part in train, valid:
            rest = iter(expected)
            self.assertTrue(all(line in rest for line in part))
        self.assertIn(f"train with --feature_size={fitted[2][-1]} "
                      "--field_size=39", output)

    def test_formats_and_compression_give_the_same_rows(self):
        packed = self.path("raw", "train.gz")
        with gzip.open(packed, "wt") as f:
            f.write(self.text)
        self.prepare("--input=" + self.raw, "--split=0", "--cutoff=5",
                     "--out=" + self.path("a"))
        self.prepare("--input=" + packed, "--split=0", "--cutoff=5",
                     "--out=" + self.path("b"), "--format=tfrecord",
                     "--file_bytes=100000")
        self.assertEqual(read(self.path("a", "_features.txt")),
                         read(self.path("b", "_features.txt")))
        data = b"".join(read(path, "rb") for path in
                        sorted(glob.glob(self.path("b", "tr-*.tfrecords"))))
        self.assertGreater(len(glob.glob(self.path("b", "tr-*"))), 3)
        self.assertEqual(
            records.rows_of_libsvm(read(self.path("a", "tr-00000.libsvm"))),
            records.rows_of_tfrecord(data))

    def test_a_fitted_encoding_is_applied_to_other_rows(self):
        self.prepare("--input=" + self.raw, "--split=0", "--cutoff=5",
                     "--out=" + self.path("a"))
        other = made_up_rows(300, seed=2)
        self.prepare("--input=" + self.write("raw/other.txt", other),
                     "--features=" + self.path("a", "_features.txt"),
                     "--split=0", "--out=" + self.path("b"))
        fitted = fit(raw_rows(self.text), 5)
        self.assertEqual(read(self.path("b", "tr-00000.libsvm")),
                         "".join(encode(row, fitted)
                                 for row in raw_rows(other)))

    def test_mistakes_are_named(self):
        bad = self.write("raw/bad.txt", self.text + "1\t2\n")
        out = "--out=" + self.path("out")
        _, output = self.run_fails("shoal", "data", "prepare", out,
                                   "--input=" + bad)
        self.assertIn("bad.txt, line 2001: 2 columns, 40 are needed", output)
        self.assertIn("--max_bad_rows", output)
        output = self.prepare(out, "--input=" + bad, "--max_bad_rows=1",
                              "--cutoff=5")
        self.assertIn("1 bad row left out", output)
        _, output = self.run_fails("shoal", "data", "prepare", out,
                                   "--input=" + self.raw)
        self.assertIn("is there already", output)
        _, output = self.run_fails(
            "shoal", "data", "prepare", "--out=" + self.path("o"),
            "--input=" + self.raw, "--max_values=10")
        self.assertIn("raise --max_values", output)
        _, output = self.run_fails(
            "shoal", "data", "prepare", "--out=" + self.path("o"),
            "--input=" + self.raw, "--features=" + self.raw)
        self.assertIn("train.txt: line 1: ", output)

    def test_a_full_disk_is_named_and_leaves_nothing(self):
        out = self.path("full")
        os.mkdir(out)
        script = ('mount -t tmpfs -o size=64k tmpfs "$0" || exit 77; "$@"; '
                  'code=$?; ls -A "$0" | wc -l; exit $code')
        mounted = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, out, "true"],
            capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no mount namespaces here")
        run = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, out,
             os.path.join(harness.BIN, "shoal"), "data", "prepare",
             "--input=" + self.raw, "--out=" + out],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("libsvm.partial: No space left on device", run.stderr)
        self.assertEqual(run.stdout.strip(), "0")


class StatTest(DataTest):

    def test_it_counts_what_is_there(self):
        text = harness.linear_rows(3000, features=500)
        self.write("d/a.libsvm", text)
        self.write("d/b.libsvm", "1 600:2.5\nnonsense\n")
        output = self.run_ok("shoal", "data", "stat", self.path("d"), "--json")
        data = json.loads(output[output.index("{"):])
        rows = records.rows_of_libsvm(text)
        ids = collections.Counter(i for _, row, _ in rows for i in row)
        ids[600] += 1
        self.assertEqual(data["rows"], 3001)
        self.assertEqual(data["bad_rows"], 1)
        self.assertEqual(data["ones"], sum(row[0] for row in rows) + 1)
        self.assertEqual(data["features"],
                         {"total": ids.total(), "min": 1, "max": 4})
        self.assertEqual(data["ids"]["distinct"], len(ids))
        self.assertEqual(data["ids"]["max"], 600)
        top = ids.most_common(len(ids) // 100)
        self.assertAlmostEqual(data["ids"]["top_1_percent_share"],
                               sum(n for _, n in top) / ids.total())
        self.assertEqual(data["suggested"],
                         {"feature_size": 601, "field_size": 4})
        self.assertEqual(data["files"][1]["rows"], 1)
        self.assertIn(":2: ", data["files"][1]["first_bad"])

    def test_it_prints_for_people_too(self):
        self.write("d/a.libsvm", harness.linear_rows(100))
        output = self.run_ok("shoal", "data", "stat", self.path("d"),
                             "--field_size", "4")
        self.assertIn("train with --feature_size=", output)
        code, output = self.run_fails("shoal", "data", "stat")
        self.assertEqual(code, 2)
        self.assertIn("no file is named", output)
        self.write("e/b", "what is this")
        code, output = self.run_fails("shoal", "data", "stat", self.path("e"))
        self.assertEqual(code, 1)
        self.assertIn("not read to its end", output)


class RealCriteoTest(DataTest):
    """8,000 raw rows, from the beginning of the Kaggle set."""

    def setUp(self):
        super().setUp()
        self.files = {part: os.path.join(harness.DATA, "criteo_raw",
                                         f"criteo_{part}.tsv")
                      for part in ("train", "dev", "test")}
        for path in self.files.values():
            if not os.path.exists(path):
                self.skipTest(f"the real rows are not here ({path}); "
                              "README.md says how to get them")

    def prepare_as(self, form):
        self.prepare("--input=" + self.files["train"],
                     f"--val_input={self.files['dev']},{self.files['test']}",
                     "--cutoff=10", "--format=" + form,
                     "--out=" + self.path(form))

    def test_prepared_trained_and_evaluated(self):
        self.prepare_as("libsvm")
        self.prepare_as("tfrecord")
        raw = {part: raw_rows(read(path)) for part, path in self.files.items()}
        fitted = fit(raw["train"], 10)
        for name, parts in ("tr", ["train"]), ("va", ["dev", "test"]):
            expected = "".join(encode(row, fitted)
                               for part in parts for row in raw[part])
            self.assertEqual(
                read(self.path("libsvm", f"{name}-00000.libsvm")), expected)
            self.assertEqual(
                records.rows_of_libsvm(expected), records.rows_of_tfrecord(
                    read(self.path("tfrecord", f"{name}-00000.tfrecords"),
                         "rb")))
        digests = []
        for form in "libsvm", "tfrecord":
            digest, summary = self.train(
                f"--feature_size={fitted[2][-1]}",
                f"--training_data_dir={self.path(form)}/tr*",
                f"--val_data_dir={self.path(form)}/va*")
            self.assertEqual(summary["samples"]["trained"], 2 * 7200)
            self.assertEqual(summary["eval"]["examples"], 800)
            # The standard error of 800 rows is .022.
            print(form, "AUC", summary["eval"]["auc"])
            self.assertGreaterEqual(summary["eval"]["auc"], 0.65)
            digests.append(digest)
        self.assertEqual(digests[0], digests[1])

    def stat(self, *flags):
        output = self.run_ok("shoal", "data", "stat", self.files["train"],
                             "--json", *flags)
        return json.loads(output[output.index("{"):])

    def test_ids_of_rows_read_directly_are_those_of_the_document(self):
        rows = raw_rows(read(self.files["train"]))
        values = {(c, row[13 + c]) for row in rows for c in range(1, 27)}
        for size in 0, 50000:
            ids = {hashed_id(c, v, size or 2**64) for c, v in values}
            data = self.stat(f"--feature_size={size}")
            self.assertEqual(data["rows"], 7200)
            self.assertEqual(data["bad_rows"], 0)
            self.assertEqual(data["ids"]["distinct"], 13 + len(ids))
            self.assertEqual(data["ids"]["max"], max(ids))
            self.assertEqual(data["features"]["total"], 39 * 7200)

    def test_read_directly_trained_and_evaluated(self):
        """As they are, packed, and in tables that grow."""
        packed = self.path("raw", "criteo_train.tsv.gz")
        os.mkdir(self.path("raw"))
        with gzip.open(packed, "wb") as f:
            f.write(read(self.files["train"], "rb"))
        held_out = f"--val_data_dir={self.files['dev']},{self.files['test']}"
        digests = []
        for train, *flags in ((self.files["train"], "--feature_size=200000"),
                              (packed, "--feature_size=200000",
                               "--data_format=criteo"),
                              (self.files["train"],)):
            digest, summary = self.train(
                "--training_data_dir=" + train, held_out, *flags)
            self.assertEqual(summary["samples"]["trained"], 2 * 7200)
            self.assertEqual(summary["eval"]["examples"], 800)
            print(flags, "AUC", summary["eval"]["auc"])
            self.assertGreaterEqual(summary["eval"]["auc"], 0.63)
            digests.append(digest)
        self.assertEqual(digests[0], digests[1])


if __name__ == "__main__":
    harness.main()
