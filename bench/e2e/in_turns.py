#!/usr/bin/env python3
"""How much do the cells of two comparisons differ that are made in turns?

A machine that others use too is not equally fast for long, so two comparisons
made one after the other differ by that as well. This runs `shoal bench compare`
cell by cell: one run of a cell with the flags of --first, at once one of the same
cell with those of --second, then the next cell. Each round takes the cells in
random order and changes the order of the two, and there are --rounds of them.
Then it prints the table of beside.py, with the same limit and file of figures, and
for each cell a third ratio, "in turns": the median over the rounds of the ratios of
the two runs of a round, which were made one right after the other. Cells that are
grey on a side are left out and named.

  bench/e2e/in_turns.py --folder=FOLDER --rounds=8 [--limit=0.05] [--out=FILE.json]
      [--first='FLAGS'] --second='FLAGS' -- build/release/bin/shoal bench compare
      --lab --check_dilation=false --allreduce=false --models='A:...;B:...'
      --modes=async,ring --hosts=1,2 --networks=1gbit,10gbit ...

Computed beside replayed cells: --second=--replay_hosts=1. Dilations:
--first=--dilation=1.11 --second=--dilation=4. Each cell has two folders in FOLDER,
so that a command that was stopped goes on when it is given again. The order is
random and the same each time. A command makes one cell of each model, mode, number
of hosts and network, so --batch_sizes has one value, and --straggler is not for it.
--limit: exits with 1 if a ratio in turns is farther from 1, or a cell is left out.
"""

import argparse
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import time

import beside

# Flags of `shoal bench compare` whose lists make the grid.
GRID = {"models": ";", "modes": ",", "hosts": ",", "networks": ","}


def cells_of(command):
    """The command's flags without the grid, and the grid's cells: the flags of
    each, and the name of its folders."""
    flags, lists = [], {}
    for argument in command:
        name = argument.partition("=")[0].removeprefix("--")
        if name in GRID:
            lists[name] = argument.partition("=")[2].split(GRID[name])
        else:
            flags.append(argument)
    for name in ("modes", "hosts", "networks"):
        if name not in lists:
            sys.exit(f"in_turns: the command needs --{name}=…")
    cells = {}
    for model in lists.get("models", [""]):
        for mode in lists["modes"]:
            for hosts in lists["hosts"]:
                # One host has no network.
                networks = lists["networks"][:1 if hosts == "1" else None]
                for network in networks:
                    name = "_".join((model.partition(":")[0] or "model", mode,
                                     hosts, network))
                    cells[name] = ([f"--models={model}"] if model else []) + [
                        f"--modes={mode}", f"--hosts={hosts}",
                        f"--networks={network}"]
    return flags, cells


def read(folder):
    """The comparison in this folder, or None."""
    path = os.path.join(folder, "compare.json")
    return beside.read(path) if os.path.exists(path) else None


def share_pauses(source, target):
    """What pauses cost was measured in one comparison: the next one need not.
    The newer file stays."""
    ours, theirs = (os.path.join(folder, "pauses.json")
                    for folder in (source, target))
    if not os.path.exists(ours) or (
            os.path.exists(theirs)
            and os.path.getmtime(theirs) >= os.path.getmtime(ours)):
        return
    os.makedirs(target, exist_ok=True)
    shutil.copy2(ours, theirs + ".part")
    os.replace(theirs + ".part", theirs)


def run(command, path, number):
    """Makes run `number` of the comparison of one cell, unless it is there. Its
    output becomes FOLDER.log."""
    found = read(path)
    if found and all(len(cell["runs"]) >= number for cell in found["cells"]):
        return
    share_pauses(os.path.dirname(path), path)
    with open(path + ".log", "w") as log:
        status = subprocess.run(
            [*command, f"--repeats={number}", f"--out={path}"], stdout=log,
            stderr=subprocess.STDOUT).returncode
    # A run that failed is in the file, and greys its cell.
    if status != 0 and (status != 1 or read(path) is None):
        sys.exit(f"in_turns: {path}.log tells why this failed: "
                 f"{shlex.join(command)}")
    share_pauses(path, os.path.dirname(path))
    if len(read(path)["cells"]) != 1:
        sys.exit(f"in_turns: the command makes several cells in {path}")


def turn_ratio(ours, theirs):
    """The median ratio of two runs of a round, of two cells without bad runs.
    None: no round has two runs that were long enough for a speed."""
    first, second = ({run["repeat"]: run["samples_per_second"]
                      for run in cell["runs"] if run["samples_per_second"]}
                     for cell in (ours, theirs))
    ratios = [second[number] / first[number]
              for number in first.keys() & second.keys()]
    return statistics.median(ratios) if ratios else None


def rows_of(folder, cells):
    """A row for each cell that is not grey, and the names of the others."""
    rows, grey = [], []
    for name in cells:
        found = [read(os.path.join(folder, f"{name}.{side}"))
                 for side in ("first", "second")]
        of_cell = beside.rows_of(*map(beside.cells_of, found))
        ratio = of_cell and turn_ratio(*(one["cells"][0] for one in found))
        if not ratio:
            grey.append(name)
            continue
        row, = of_cell
        row["turn_ratio"] = ratio
        rows.append(row)
    return rows, grey


def keep_settings(folder, settings):
    """A folder has the figures of one command."""
    path = os.path.join(folder, "settings.json")
    if not os.path.exists(path):
        beside.write(path, settings)
    elif beside.read(path) != settings:
        sys.exit(f"in_turns: {folder} has figures of another command "
                 f"(settings.json); give another --folder")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--first", default="")
    parser.add_argument("--second", required=True)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--out")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    flags, cells = cells_of(args.command)
    sides = [("first", shlex.split(args.first)),
             ("second", shlex.split(args.second))]
    os.makedirs(args.folder, exist_ok=True)
    keep_settings(args.folder, {"command": flags, "sides": [
        [name, more] for name, more in sides]})
    chance = random.Random(1)
    for number in range(1, args.rounds + 1):
        order = list(cells)
        chance.shuffle(order)
        for cell in order:
            for side, more in sides if number % 2 else reversed(sides):
                run([*flags, *cells[cell], *more],
                    os.path.join(args.folder, f"{cell}.{side}"), number)
        print(time.strftime("%H:%M:%S"), f"round {number} of {args.rounds}",
              flush=True)

    rows, grey = rows_of(args.folder, cells)
    for cell in grey:
        print(f"{cell}: left out, grey or without a good run on one side")
    if not rows:
        sys.exit("in_turns: no cell is left")
    beside.show(rows)
    if args.out:
        beside.write(args.out, {
            "command": shlex.join(sys.argv),
            "cpu": read(os.path.join(args.folder,
                                     f"{next(iter(cells))}.first"))["cpu"],
            "grey": grey, "cells": rows})
    sys.exit(beside.exceeds(rows, args.limit) or bool(args.limit and grey))


if __name__ == "__main__":
    main()
