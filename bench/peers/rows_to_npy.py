"""Writes rows of LibSVM files, all with the same number of features, as .npy.

  rows_to_npy.py --libsvm=DIR --out=DIR [--rows=262144]

DIR is of `shoal data gen --format=libsvm`; the first rows of its tr-* files are
taken. Prints how often batches of them repeat an id, and what shares the ids of
a field have, so that it can be seen what was trained on.
"""

import argparse
import glob
import itertools
import os

import numpy as np

from workload import ARRAYS, FIELDS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libsvm", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rows", type=int, default=1 << 18)
    args = parser.parse_args()
    lines = []
    for path in sorted(glob.glob(os.path.join(args.libsvm, "tr-*"))):
        with open(path) as file:
            lines += itertools.islice(file, args.rows - len(lines))
    text = "".join(lines).replace(":", " ")
    table = np.fromstring(text, sep=" ").reshape(len(lines), 1 + 2 * FIELDS)
    ids = table[:, 1::2].astype(np.int64)
    arrays = (ids, table[:, 2::2].astype(np.float32),
              table[:, 0].astype(np.float32))
    os.makedirs(args.out, exist_ok=True)
    for name, array in zip(ARRAYS, arrays):
        np.save(os.path.join(args.out, name + ".npy"),
                np.ascontiguousarray(array))

    constant = sum(len(np.unique(ids[:, f])) == 1 for f in range(FIELDS))
    print(f"{len(ids)} rows, {constant} fields with one id, "
          f"{len(np.unique(ids))} distinct ids")
    for size in (1024, 4096):
        distinct = [len(np.unique(ids[begin:begin + size]))
                    for begin in range(0, 10 * size, size)]
        print(f"batch {size}: {size * FIELDS} ids, "
              f"{np.median(distinct):.0f} distinct")
    # Zipf's law: the k-th commonest id has k^-s of the first one's share.
    for f in range(constant, FIELDS, 5):
        counts = np.sort(np.unique(ids[:, f], return_counts=True)[1])[::-1]
        k = np.arange(1, 51)
        slope = np.polyfit(np.log(k), np.log(counts[:50]), 1)[0]
        print(f"field {f}: first id {counts[0] / len(ids):.4f} of the rows, "
              f"exponent of the 50 commonest {-slope:.3f}")


if __name__ == "__main__":
    main()
