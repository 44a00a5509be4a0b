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


def read(path):
    with open(path) as file:
        return json.load(file)


def cells_of(found):
    """The cells of a comparison that are not grey, by what they are."""
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
    return cells


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


def rows_of(ours, theirs):
    """A row for each cell of `ours` that is in `theirs` too (see cells_of)."""
    rows = []
    for key in ours:
        for cell, runs in ours[key]:
            for other, other_runs in theirs.get(key, []):
                speeds, others = speeds_of(runs), speeds_of(other_runs)
                rows.append({
                    "cell": cell["name"], "compute": cell["compute"],
                    "dilation": cell["dilation"], "speeds": speeds,
                    "other_compute": other["compute"],
                    "other_dilation": other["dilation"],
                    "other_speeds": others,
                    "ratio": (statistics.median(others) /
                              statistics.median(speeds)),
                    "equal_ratio": equal_ratio((cell, runs),
                                               (other, other_runs))})
    return rows


def side_text(compute, dilation, speeds):
    return (f"{compute} t={dilation:.3g} {statistics.median(speeds):9.0f} "
            f"[{min(speeds):.0f}..{max(speeds):.0f}]")


def show(rows):
    """Prints a line for each row, and what all of them differ by."""
    for row in rows:
        turns = f", in turns {row['turn_ratio']:.3f}" if "turn_ratio" in row else ""
        ours = side_text(row["compute"], row["dilation"], row["speeds"])
        theirs = side_text(row["other_compute"], row["other_dilation"],
                           row["other_speeds"])
        print(f"{row['cell']:32} {ours}   {theirs}   {row['ratio']:.3f}, "
              f"equal {row['equal_ratio']:.3f}{turns}")
    texts = []
    for key, name in (("ratio", ""), ("equal_ratio", "with equal computation "),
                      ("turn_ratio", "in turns ")):
        off = [abs(row[key] - 1) for row in rows if key in row]
        if off:
            texts.append(f"{name}median difference "
                         f"{100 * statistics.median(off):.1f} %, largest "
                         f"{100 * max(off):.1f} %")
    print(f"{len(rows)} cells: {'; '.join(texts)}")


def exceeds(rows, limit):
    """Whether there is a limit and a cell differs by more."""
    return bool(limit) and any(
        abs(row.get("turn_ratio", row["ratio"]) - 1) > limit for row in rows)


def write(path, content):
    with open(path, "w") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--out")
    args = parser.parse_args()
    first, second = map(read, (args.first, args.second))
    rows = rows_of(cells_of(first), cells_of(second))
    if not rows:
        sys.exit("beside: the files have no cell in common")
    show(rows)
    if args.out:
        write(args.out, {
            "first": first["command"], "second": second["command"],
            "first_cpu": first["cpu"], "second_cpu": second["cpu"],
            "first_started": first["started"],
            "second_started": second["started"], "cells": rows})
    sys.exit(exceeds(rows, args.limit))


if __name__ == "__main__":
    main()
