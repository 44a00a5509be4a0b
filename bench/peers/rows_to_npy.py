"""Writes rows of LibSVM files, all with the same number of features, as .npy.

  rows_to_npy.py --libsvm=DIR --out=DIR [--rows=262144]

--libsvm is a directory of `shoal data gen --format=libsvm`. The first rows of
its tr-* files are for training, those of te.libsvm for scoring. Prints how
often batches repeat an id, and the shares of the ids of a field, to document
the distribution of the rows.
"""

import argparse
import glob
import itertools
import os

import numpy as np

from workload import ARRAYS, FIELDS


def write(files, rows, out, prefix):
    """Writes the arrays. Returns the ids."""
    lines = []
    for path in sorted(glob.glob(files)):
        with open(path) as file:
            lines += itertools.islice(file, rows - len(lines))
    table = np.fromstring("".join(lines).replace(":", " "), sep=" ")
    table = table.reshape(len(lines), 1 + 2 * FIELDS)
    ids = np.ascontiguousarray(table[:, 1::2], np.int64)
    arrays = (ids, np.ascontiguousarray(table[:, 2::2], np.float32),
              table[:, 0].astype(np.float32))
    os.makedirs(out, exist_ok=True)
    for name, array in zip(ARRAYS, arrays):
        np.save(os.path.join(out, prefix + name + ".npy"), array)
    return ids


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libsvm", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rows", type=int, default=1 << 18)
    args = parser.parse_args()
    ids = write(os.path.join(args.libsvm, "tr-*"), args.rows, args.out, "")
    write(os.path.join(args.libsvm, "te.*"), args.rows, args.out, "test_")

    constant = sum(len(np.unique(ids[:, f])) == 1 for f in range(FIELDS))
    print(f"{len(ids)} rows, {constant} fields with one id, "
          f"{len(np.unique(ids))} distinct ids")
    for size in (1024, 4096):
        batches = range(0, min(10 * size, len(ids)) - size + 1, size)
        distinct = [len(np.unique(ids[begin:begin + size]))
                    for begin in batches] or [0]
        print(f"batch {size}: {size * FIELDS} ids, "
              f"{np.median(distinct):.0f} distinct")
    # Zipf's law: the share of the k-th most frequent id is k^-s times that of
    # the first.
    for f in range(constant, FIELDS, 5):
        counts = np.sort(np.unique(ids[:, f], return_counts=True)[1])[::-1]
        k = np.arange(1, 51)
        slope = np.polyfit(np.log(k), np.log(counts[:50]), 1)[0]
        print(f"field {f}: first id {counts[0] / len(ids):.4f} of the rows, "
              f"exponent of the 50 commonest {-slope:.3f}")


if __name__ == "__main__":
    main()
