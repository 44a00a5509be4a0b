#!/usr/bin/env python3
"""Checkpoints, read by PyPI's safetensors package and shown by `shoal ckpt`."""

import test_tools

test_tools.use()

import json  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
import struct  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import unittest  # noqa: E402

BIN = os.environ["SHOAL_BIN"]
SAMPLE = os.path.join(os.path.dirname(BIN), "tests", "sample_checkpoint")
NAME = "ckpt-00000000020"
FILES = [f"shard-0000{s}-of-00002.safetensors" for s in range(2)]


def floats(text):
    return [struct.unpack(">f", bytes.fromhex(text[i:i + 8]))[0]
            for i in range(0, len(text), 8)]


class Checkpoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp()
        subprocess.run([SAMPLE, cls.made], check=True, timeout=60)
        with open(os.path.join(cls.made, "expected.json")) as f:
            cls.expected = json.load(f)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made)

    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        shutil.copytree(os.path.join(self.made, NAME),
                        os.path.join(self.dir, NAME))

    def path(self, *names):
        return os.path.join(self.dir, NAME, *names)

    def ckpt(self, *args, code=0):
        done = subprocess.run([os.path.join(BIN, "shoal"), "ckpt", *args],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def test_the_safetensors_package_reads_the_same_values(self):
        numpy = test_tools.need("numpy")
        safetensors = test_tools.need("safetensors.numpy")
        rows = {}
        dense = {}
        for name in FILES:
            tensors = safetensors.load_file(self.path(name))
            ids = tensors["fm@ids"]
            self.assertEqual(ids.dtype, numpy.int64)
            self.assertTrue((numpy.diff(ids) > 0).all())
            self.assertEqual(tensors["fm_v@adam_m"].shape, (len(ids), 4))
            self.assertEqual(tensors["fm_w@ftrl_linear"].shape, (len(ids), 1))
            self.assertEqual(int(tensors["shoal@count"]), 20)
            # Epoch, piece, first batch, end, verdict.
            self.assertEqual(tensors["shoal@marks"].tolist(),
                             [[0, 0, 0, 8, 1], [0, 1, 0, 8, 1],
                              [0, 2, 0, 4, 1]])
            for i, row in enumerate(ids):
                rows[int(row)] = numpy.concatenate(
                    [tensors["fm_w"][i], tensors["fm_v"][i]])
            for variable in ("deep/weights", "fm_b"):
                if variable in tensors:
                    dense.setdefault(variable, []).append(tensors[variable])
        self.assertEqual(sorted(rows), list(range(1000)))
        for row, text in enumerate(self.expected["rows"]):
            self.assertEqual(rows[row].tobytes(), numpy.array(
                floats(text), dtype=numpy.float32).tobytes(), row)
        flat = numpy.concatenate(
            [numpy.concatenate(dense[v]).reshape(-1)
             for v in ("deep/weights", "fm_b")])
        self.assertEqual(flat.tolist(), floats(self.expected["dense"]))

    def test_the_metadata_is_read_too(self):
        safetensors = test_tools.need("safetensors")
        with safetensors.safe_open(self.path(FILES[1]), "numpy") as f:
            self.assertEqual(f.metadata()["shard"], "1")
            self.assertEqual(f.metadata()["format_version"], "1")

    def test_ls_says_which_are_valid_and_of_the_others_why_not(self):
        os.mkdir(os.path.join(self.dir, "ckpt-00000000030"))
        text = self.ckpt("ls", self.dir)
        lines = text.splitlines()
        self.assertIn("ckpt-00000000030", lines[1])
        self.assertIn("not valid", lines[1])
        self.assertRegex(lines[2], rf"{NAME} +20 .* 2  valid$")
        listed = json.loads(self.ckpt("ls", self.dir, "--json"))
        self.assertEqual([c["valid"] for c in listed], [False, True])
        self.assertEqual(listed[1]["shards"], 2)
        os.remove(self.path(FILES[0]))
        self.assertIn("not all here: the files of shards 0",
                      self.ckpt("ls", self.path()))

    def test_show_has_every_variable_and_tensor(self):
        text = self.ckpt("show", self.dir)
        for name in ("fm_v", "fm_w@ftrl_linear", "deep/weights",
                     "shoal@marks"):
            self.assertIn(name, text)
        shown = json.loads(self.ckpt("show", self.path(), "--json"))
        sizes = {v["name"]: v["bytes"] for v in shown["variables"]}
        self.assertEqual(sizes, {"fm_w": 12_000, "fm_v": 48_000,
                                 "deep/weights": 576, "fm_b": 12})

    def test_balance_tells_even_bytes_from_uneven_lookups(self):
        text = self.ckpt("balance", self.dir)
        print(text)
        balance = json.loads(self.ckpt("balance", self.dir, "--json"))
        skew = balance["max_over_mean"]
        self.assertLess(skew["bytes"], 1.01)
        self.assertGreater(skew["lookups"], 1.5)
        self.assertIn("look-ups are uneven: shard 0", text)
        self.assertNotIn("bytes are uneven", text)
        self.assertIn("--partition=mod", text)
        # fm_b and fm_v against fm_w and the layer.
        self.assertEqual(balance["planned_bytes"]["round_robin"],
                         [48_012, 12_576])
        self.assertIn("round_robin", text)

    def test_verify_names_the_damage_and_exits_1(self):
        self.assertIn("whole", self.ckpt("verify", self.dir))
        with open(self.path(FILES[1]), "r+b") as f:
            f.seek(-100, os.SEEK_END)
            byte = f.read(1)
            f.seek(-1, os.SEEK_CUR)
            f.write(bytes([byte[0] ^ 4]))
        text = self.ckpt("verify", self.dir, code=1)
        self.assertIn(FILES[1], text)
        self.assertRegex(text, r"tensor '.*', bytes \d+ to \d+: block 0")
        report = json.loads(self.ckpt("verify", self.dir, "--json", code=1))
        self.assertEqual(report[0]["damaged"], 1)
        self.assertEqual(report[0]["damage"][0]["file"], FILES[1])
        os.remove(self.path(FILES[1]))
        self.assertIn(FILES[1], self.ckpt("verify", self.path(), code=1))
        self.ckpt("verify", self.path(), "--missing_ok")
        with open(self.path("manifest.json"), "a") as f:
            f.write(" ")
        self.assertIn("manifest.json", self.ckpt("verify", self.dir, code=1))
        self.assertIn("manifest.json", self.ckpt("show", self.dir, code=1))

    def test_what_was_cut_off_is_no_checkpoint_for_show_and_verify_alike(self):
        cut = os.path.join(self.dir, "ckpt-00000000030")
        os.mkdir(cut)
        for command in ("show", "balance", "verify"):
            self.ckpt(command, self.dir, code=0)
            self.assertIn("manifest.json", self.ckpt(command, cut, code=1))
        shutil.rmtree(self.path())
        os.mkdir(os.path.join(self.dir, "ckpt-00000000010"))
        for command in ("show", "balance", "verify"):
            self.assertIn("manifest.json", self.ckpt(command, self.dir, code=1))

    def test_bad_arguments_are_told(self):
        self.assertIn("name a model directory", self.ckpt("ls", code=2))
        self.assertIn("one directory", self.ckpt("ls", "a", "b", code=2))
        self.assertIn("--jsn", self.ckpt("ls", self.dir, "--jsn", code=2))
        self.assertIn("/nowhere", self.ckpt("ls", "/nowhere", code=2))
        self.assertIn("holds no checkpoint",
                      self.ckpt("ls", os.path.dirname(__file__), code=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
