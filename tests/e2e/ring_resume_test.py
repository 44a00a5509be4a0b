"""A ring whose ranks have a disk each: only rank 0 has the checkpoint's file, and
sends it to the others when the job resumes."""

import glob
import json
import os
import re
import shutil
import struct

import harness
from cluster import PROBE

ROWS = 4000
RANKS = 3
FILE = "shard-00000-of-00001.safetensors"


def flip_a_bit(path):
    """Damages the ids of a table, which are one block; returns its bytes."""
    with open(path, "r+b") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        ids = next(name for name in sorted(header) if name.endswith("@ids"))
        begin, end = header[ids]["data_offsets"]
        file.seek(8 + size + begin)
        byte = file.read(1)
        file.seek(8 + size + begin)
        file.write(bytes([byte[0] ^ 1]))
        return end - begin


class RingResumeTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))

    def flags(self, epochs):
        return [*PROBE, "--mode=ring", "--batch_size=16", "--canary",
                f"--num_epochs={epochs}", "--training_data_dir=" + self.data]

    def serial_digest(self, epochs):
        flags = [f for f in self.flags(epochs) if f != "--mode=ring"]
        self.run_ok("shoal", "train", *flags,
                    "--summary=" + self.path("serial.json"))
        return self.summary("serial.json")["digest"]

    def start_ranks(self, epochs, *more, count=RANKS):
        """The ranks, each with a model directory of its own."""
        port, = harness.free_ports(1)
        hosts = [f"127.0.0.1:{port}"] + ["127.0.0.1"] * (count - 1)
        token = self.token_file()
        return [self.start(f"rank {i}", "shoal-worker", *self.flags(epochs),
                           f"--task_index={i}", f"--token_file={token}",
                           "--worker_hosts=" + ",".join(hosts),
                           "--model_dir=" + self.model(i),
                           "--summary=" + self.path("summary.json"), *more)
                for i in range(count)]

    def train(self, epochs, *more, code=0, count=RANKS):
        ranks = self.start_ranks(epochs, *more, count=count)
        for rank in ranks:
            self.assertEqual(rank.wait(120), code, rank.output()[-3000:])
        return ranks

    def model(self, rank):
        return self.path(f"disk{rank}", "model")

    def newest(self):
        """The name of rank 0's newest checkpoint."""
        return os.path.basename(
            sorted(glob.glob(os.path.join(self.model(0), "ckpt-*")))[-1])

    def file(self, rank):
        """The file of that checkpoint on a rank's disk."""
        return os.path.join(self.model(rank), self.newest(), FILE)

    def fetched(self, rank):
        """Bytes that the rank says it fetched; None: it says nothing."""
        found = re.search(r"fetched (\d+) bytes of ckpt-", rank.output())
        return None if found is None else int(found[1])

    def expect_trained(self, epochs, ranks=RANKS):
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["workers"], ranks)
        self.assertEqual(summary["samples"]["trained"], ROWS * epochs)
        for canary in summary["canary"]:
            self.assertEqual((canary["not_one"], canary["smallest"],
                              canary["largest"]), (0, 1, 1))
        self.assertEqual(summary["digest"], self.serial_digest(epochs))

    def test_ranks_without_the_checkpoint_get_it(self):
        # Stopped after a checkpoint, or over before the signal.
        ranks = self.start_ranks(2, "--save_checkpoint_steps=100")
        ranks[0].wait_for_line("saved ")
        ranks[0].popen.terminate()
        for rank in ranks:
            self.assertIn(rank.wait(120), (0, 3), rank.output()[-3000:])
        began_with = self.newest()
        size = os.path.getsize(self.file(0))
        for i in (1, 2):
            self.assertFalse(os.path.exists(self.file(i)))

        ranks = self.train(3, "--resume=must", "--save_checkpoint_steps=200")
        self.expect_trained(3)
        self.assertIsNone(self.fetched(ranks[0]))
        for i in (1, 2):
            self.assertEqual(self.fetched(ranks[i]), size)
        self.assertNotEqual(self.newest(), began_with)
        self.run_ok("shoal", "ckpt", "verify", self.model(0))

        # A rank that has the file takes nothing, and one with a damaged block
        # takes that block alone.
        for i in (1, 2):
            shutil.copy(self.file(0), self.file(i))
        damaged = flip_a_bit(self.file(2))
        ranks = self.train(4)
        self.expect_trained(4)
        self.assertIsNone(self.fetched(ranks[1]))
        self.assertEqual(self.fetched(ranks[2]), damaged)
        # The number of ranks may change. Each disk keeps the newest checkpoint
        # alone.
        self.train(5, "--keep_checkpoints=1", count=2)
        self.expect_trained(5, 2)
        for i in (0, 1):
            self.assertEqual(os.listdir(self.model(i)).count(self.newest()), 1)
            self.assertEqual(
                len(glob.glob(os.path.join(self.model(i), "ckpt-*"))), 1)

    def test_ranks_get_the_files_of_a_job_with_servers(self):
        flags = [f for f in self.flags(1) if f != "--mode=ring"]
        self.run_ok("shoal", "run", "--ps=3", "--workers=1", *flags,
                    "--model_dir=" + self.model(0))
        files = glob.glob(os.path.join(self.model(0), self.newest(),
                                       "shard-*-of-00003.safetensors"))
        self.assertEqual(len(files), 3)
        ranks = self.train(2, "--resume=must")
        self.expect_trained(2)
        for i in (1, 2):
            self.assertEqual(self.fetched(ranks[i]),
                             sum(map(os.path.getsize, files)))

    def test_a_damaged_file_of_rank_0_is_named(self):
        self.train(1, count=2)
        flip_a_bit(self.file(0))
        # Rank 0 may have ended before rank 1 is there, which then waits.
        ranks = self.train(2, "--start_timeout=10s", code=1, count=2)
        said = "".join(rank.output() for rank in ranks)
        self.assertRegex(said, rf"worker [01]: \S*ckpt-\d+/{FILE}")
        self.assertIn("shoal ckpt verify", said)
        self.assertIn("the same command resumes from the checkpoint before it",
                      said)
        self.assertFalse(os.path.exists(self.file(1)), "a damaged copy")
        # Without the file rank 0 has no checkpoint, and says so.
        os.remove(self.file(0))
        rank, = self.start_ranks(2, count=1)
        self.assertEqual(rank.wait(60), 2, rank.output())
        self.assertIn("1 of its 1 shard files are not here", rank.output())


if __name__ == "__main__":
    harness.main()
