#!/usr/bin/env python3
"""How much do the same cells of two comparisons differ?

Reads two files compare.json of `shoal bench compare` and prints, for each cell
that is in both (model, mode, hosts, batch, network), the samples a second of both
and their ratio: medians of runs, with the least and the most. So it shows how far
a replayed cell is from the computed one, a cell from itself at another dilation,
or on another day.

A second ratio, "equal", is of the same cells if a worker's computation took equally
long in both: then what is left differs for another reason than the speed of the
cores, which others may use meanwhile.

  t      seconds a sample of one host = hosts / (samples a second)
  c      the part of t that its worker computes (state_shares); t, c: means of runs
  equal  (t1 - c1 + c) / (t2 - c2 + c),  c = (c1 + c2) / 2

  bench/e2e/beside.py [--limit=0.05] [--out=FILE.json] FIRST.json SECOND.json

--limit: exits with 1 if a ratio is farther from 1.
"""

import argparse
import json
import statistics
import sys


def cells_of(path):
    with open(path) as file:
        found = json.load(file)
    cells = {}
    for cell in found["cells"]:
        runs = [run for run in cell["runs"]
                if run["ok"] and run["samples_per_second"]]
        if runs and not cell["grey"]:
            key = tuple(cell[name] for name in (
                "model", "mode", "backup_workers", "hosts", "batch_size",
                "network")) + (json.dumps(cell["straggler"]),)
            # The twin of one host is the same cell, replayed.
            cells.setdefault(key, []).append((cell, runs))
    return found, cells


def speeds_of(runs):
    return [run["samples_per_second"] for run in runs]


def split(cell, runs):
    """Seconds a sample of one host that it computes, and all others."""
    seconds = [cell["hosts"] / speed for speed in speeds_of(runs)]
    computing = statistics.mean(
        all_of * run["state_shares"].get("compute", 0)
        for all_of, run in zip(seconds, runs))
    return computing, statistics.mean(seconds) - computing


def equal_ratio(one, other):
    (c1, rest1), (c2, rest2) = split(*one), split(*other)
    c = (c1 + c2) / 2
    return (rest1 + c) / (rest2 + c)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--out")
    args = parser.parse_args()
    (first, ours), (second, theirs) = map(cells_of, (args.first, args.second))
    rows = []
    for key in ours:
        for cell, runs in ours[key]:
            for other, other_runs in theirs.get(key, []):
                speeds, others = speeds_of(runs), speeds_of(other_runs)
                row = {"cell": cell["name"], "compute": cell["compute"],
                       "dilation": cell["dilation"], "speeds": speeds,
                       "other_compute": other["compute"],
                       "other_dilation": other["dilation"],
                       "other_speeds": others,
                       "ratio": (statistics.median(others) /
                                 statistics.median(speeds)),
                       "equal_ratio": equal_ratio((cell, runs),
                                                  (other, other_runs))}
                rows.append(row)
                print(f"{row['cell']:32} {cell['compute']} t="
                      f"{cell['dilation']:.3g} {statistics.median(speeds):9.0f} "
                      f"[{min(speeds):.0f}..{max(speeds):.0f}]   "
                      f"{other['compute']} t={other['dilation']:.3g} "
                      f"{statistics.median(others):9.0f} "
                      f"[{min(others):.0f}..{max(others):.0f}]   "
                      f"{row['ratio']:.3f}, equal "
                      f"{row['equal_ratio']:.3f}")
    if not rows:
        sys.exit("beside: the files have no cell in common")
    off = [abs(row["ratio"] - 1) for row in rows]
    equal = [abs(row["equal_ratio"] - 1) for row in rows]
    print(f"{len(rows)} cells: median difference "
          f"{100 * statistics.median(off):.1f} %, largest "
          f"{100 * max(off):.1f} %; with equal computation "
          f"{100 * statistics.median(equal):.1f} % and "
          f"{100 * max(equal):.1f} %")
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"first": first["command"], "second": second["command"],
                       "first_cpu": first["cpu"], "second_cpu": second["cpu"],
                       "first_started": first["started"],
                       "second_started": second["started"],
                       "cells": rows}, file, indent=1)
            file.write("\n")
    if args.limit and max(off) > args.limit:
        sys.exit(1)


if __name__ == "__main__":
    main()
