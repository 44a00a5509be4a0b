#!/usr/bin/env python3
"""Do two calibrations order the modes alike?

Plans one cluster after another by each of two files compare.json, for example of
two days: up to 32 hosts, for each model, network and mode that both files have.
Prints how many pairs of modes have opposite leads, of more than --lead each, and by
how much samples a second differ.

  bench/e2e/plans_alike.py [--bin=build/release/bin] [--lead=0.03] FIRST.json SECOND.json
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys

import beside

HOSTS = (2, 4, 8, 16, 32)


def plan(bin_dir, path, model, network, cores):
    """Samples a second by mode and number of hosts."""
    text = subprocess.run(
        [os.path.join(bin_dir, "shoal"), "plan", "--json", f"--compare={path}",
         f"--compare_model={model}",
         f"--cluster=hosts={HOSTS[-1]},cores={cores:g},network={network}"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return {(row["mode"], row["hosts"]): row["samples_per_second"]
            for row in json.loads(text)["predictions"]}


def measured_modes(path, model):
    """Modes of the model's cells: a plan has others too, by what is like them."""
    return {cell["mode"] for cell in beside.read(path)["cells"]
            if cell["model"] == model and not cell["grey"]}


def places(path):
    """Models, networks and cores of the cells on several hosts."""
    return {(cell["model"], cell["network"], cell["cores_per_host"])
            for cell in beside.read(path)["cells"] if cell["hosts"] > 1}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--lead", type=float, default=.03)
    args = parser.parse_args()
    pairs, opposite, off = 0, [], []
    for place in sorted(places(args.first) & places(args.second)):
        plans = [plan(args.bin, path, *place)
                 for path in (args.first, args.second)]
        measured = (measured_modes(args.first, place[0]) &
                    measured_modes(args.second, place[0]))
        for hosts in HOSTS:
            modes = sorted(mode for mode, of in plans[0]
                           if of == hosts and mode in measured)
            off += [abs(plans[0][mode, hosts] / plans[1][mode, hosts] - 1)
                    for mode in modes]
            for pair in itertools.combinations(modes, 2):
                pairs += 1
                leads = [found[pair[0], hosts] / found[pair[1], hosts]
                         for found in plans]
                if (min(leads) * (1 + args.lead) < 1 <
                        max(leads) / (1 + args.lead)):
                    opposite.append((*place[:2], hosts, *pair, *leads))
    if not off:
        sys.exit("plans_alike: no model and network is in both files")
    for case in opposite:
        print("{}, {}, {} hosts: {} has {:.2f} of {} by the first file, {:.2f} "
              "by the second".format(*case[:4], case[5], case[4], case[6]))
    print(f"{pairs} pairs of modes, {len(opposite)} with opposite leads; "
          f"samples a second differ by {100 * statistics.median(off):.1f} % "
          f"(median)")


if __name__ == "__main__":
    main()
