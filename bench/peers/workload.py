"""The work of every peer: the nets, the rows, and the count of its progress.

Needs only numpy, which every peer's environment has.
"""

import mmap
import os
import struct

import numpy as np

FIELDS = 39
NETS = {"A": (16, (400, 400, 400)), "B": (32, (256, 128, 64))}
ARRAYS = ("ids", "values", "labels")  # int64 and float32 [rows, 39], float32


def add_flags(parser):
    """Adds the flags that all peers have."""
    parser.add_argument("--data", required=True,
                        help="output directory of rows_to_npy.py")
    parser.add_argument("--progress", required=True, help="file of Progress")
    parser.add_argument("--net", choices=sorted(NETS), default="A")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ids", type=int, default=1_000_000)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--table_learning_rate", type=float, default=0.02)
    parser.add_argument("--initial_accumulator", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=0,
                        help="passes before the end, at which the AUC of the "
                             "test rows is printed; 0: no end")


def load(directory, prefix=""):
    return [np.load(os.path.join(directory, prefix + name + ".npy"))
            for name in ARRAYS]


def batches(args, part=0, parts=1):
    """Full batches of the part-th of `parts` equal runs of rows: in a new order
    for each of --epochs, or without end in one order."""
    arrays = load(args.data)
    rows = len(arrays[0]) // parts
    arrays = [array[part * rows:(part + 1) * rows] for array in arrays]
    begins = range(0, rows - args.batch + 1, args.batch)
    for epoch in range(args.epochs):
        order = np.random.default_rng([epoch, part]).permutation(rows)
        for begin in begins:
            chosen = order[begin:begin + args.batch]
            yield [array[chosen] for array in arrays]
    while args.epochs == 0:
        for begin in begins:
            yield [array[begin:begin + args.batch] for array in arrays]


def auc_of_test_rows(args, score):
    """The AUC; `score` is a function (ids, values) -> logits."""
    ids, values, labels = load(args.data, "test_")
    logits = np.concatenate([
        score(ids[begin:begin + 4096], values[begin:begin + 4096])
        for begin in range(0, len(labels), 4096)])
    _, rank, count = np.unique(logits, return_inverse=True, return_counts=True)
    below = np.cumsum(count) - count / 2  # ties count half
    ones = labels > 0.5
    pairs = below[rank[ones]].sum() - ones.sum() ** 2 / 2
    return pairs / (ones.sum() * (~ones).sum())


class Progress:
    """A count of samples in a file that another process maps and reads."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 8)
        self.done = 0

    def add(self, samples):
        self.done += samples
        struct.pack_into("<q", self.memory, 0, self.done)
