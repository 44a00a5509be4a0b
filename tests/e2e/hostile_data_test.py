"""Rows that were made, or changed, to harm a job."""

import os

import harness
from cluster import PROBE, Cluster

M64 = 2**64 - 1
HEAD_BYTES = 64 << 10  # of a file, which workers compare when they start


def unshift(x, bits):
    """y with y ^ y >> bits == x."""
    y = x
    for _ in range(64 // bits):
        y = x ^ y >> bits
    return y


def id_of_hash(x):
    """The feature id whose published hash (base/stable_hash.h) is x."""
    x = unshift(x, 31) * pow(0x94D049BB133111EB, -1, 2**64) & M64
    x = unshift(x, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) & M64
    return unshift(x, 30) - 0x9E3779B97F4A7C15 & M64


class CraftedIdsTest(harness.ShoalTest):

    def test_ids_that_hash_alike_take_no_longer_than_others(self):
        rows, fields = 4000, 20
        lines = []
        for row in range(rows):
            lines.append(str(row % 2) + "".join(
                f" {id_of_hash(row * fields + f)}:1" for f in range(fields)))
        data = self.write("data/tr.libsvm", "\n".join(lines) + "\n")
        self.run_ok("shoal", "run", "--ps=1", "--workers=1",
                    "--training_data_dir=" + data, f"--field_size={fields}",
                    "--embedding_size=4", "--deep_layers=8",
                    "--batch_size=1000", "--summary=" +
                    self.path("summary.json"), timeout=30)
        self.expect_whole(self.summary())
        self.assertEqual(self.summary()["samples"]["trained"], rows)


class ChangedFileTest(harness.ShoalTest):

    FLAGS = PROBE + ["--batch_size=16"]

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(20000))

    def change_a_label(self):
        """Of a row far beyond the head; the file's size stays."""
        with open(self.data, "r+b") as f:
            text = f.read()
            at = text.index(b"\n", HEAD_BYTES + len(text) // 2) + 1
            f.seek(at)
            f.write(b"1" if text[at:at + 1] == b"0" else b"0")

    def job(self, epochs):
        cluster = Cluster(
            self, 1, 1, self.FLAGS + [f"--num_epochs={epochs}"],
            ps_flags=["--summary=" + self.path("summary.json")],
            worker_flags=["--log_level=debug",
                          "--training_data_dir=" + self.data]).start_all()
        cluster.workers[0].wait_for_line("push done (1,")
        return cluster

    def expect_named(self, output):
        self.assertIn("tr.libsvm", output)
        self.assertIn("changed", output)

    def test_a_label_that_changes_between_epochs_ends_the_job(self):
        cluster = self.job(1000)
        self.change_a_label()
        self.assertGreater(cluster.ps[0].wait(), 0)
        self.assertGreater(cluster.workers[0].wait(), 0)
        self.expect_named(cluster.ps[0].output())
        self.expect_named(cluster.workers[0].output())

    def test_a_label_that_changes_before_a_resume_is_refused(self):
        flags = ["--training_data_dir=" + self.data, *self.FLAGS,
                 "--model_dir=" + self.path("model")]
        self.run_ok("shoal", "train", *flags)
        self.change_a_label()
        _, output = self.run_fails("shoal", "train", *flags, "--num_epochs=2")
        self.expect_named(output)

    def test_a_new_time_of_change_alone_ends_nothing(self):
        cluster = self.job(6)
        os.utime(self.data)
        cluster.wait_all()
        self.expect_whole(self.summary())
        self.assertEqual(self.summary()["samples"]["trained"], 120000)


if __name__ == "__main__":
    harness.main()
