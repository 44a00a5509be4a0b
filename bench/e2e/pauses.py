#!/usr/bin/env python3
"""How well do the pairs of a lab's comparisons tell what pauses cost?

Reads files pauses.json of `shoal bench compare --lab` (docs/comparing.md, "Pauses").
For each model, dilation and kind of mode it prints the number of pairs, their mean
paused speed (geometric) and its standard deviation. At the end: that of single pairs
within a kind, and that of kinds of the same model at the same dilation, less what
chance makes of it (one-way analysis of variance with groups of unequal sizes).

  bench/e2e/pauses.py FOLDER/pauses.json [...]

A pair that is in several files counts once, as it does when a comparison's pauses.json
was copied to another one.
"""

import argparse
import collections
import json
import math
import statistics


def kind_name(pair):
    if not pair["servers"]:
        return "ring"
    return "hybrid" if pair["copies"] else "async, ssp, sync"


def read(paths):
    """Logarithms of the paused speeds, by settings and dilation, then by kind."""
    pairs = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for pair in json.load(file)["pairs"]:
                pairs[(pair["settings"], pair["ended"])] = pair
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for pair in pairs.values():
        group = (pair["settings"], pair["cores_per_host"], pair["dilation"])
        groups[group][kind_name(pair)].append(
            math.log(pair["unpaused_cpu_seconds_per_sample"] /
                     pair["paused_cpu_seconds_per_sample"]))
    return groups


def deviations(groups):
    """Standard deviations of a pair within its kind, and of kinds within a group;
    None without two pairs of a kind, or two kinds of a group."""
    inside = inside_free = between = between_free = weight = 0.0
    for kinds in groups.values():
        every = [speed for speeds in kinds.values() for speed in speeds]
        mean = statistics.fmean(every)
        for speeds in kinds.values():
            own = statistics.fmean(speeds)
            inside += sum((speed - own)**2 for speed in speeds)
            inside_free += len(speeds) - 1
            between += len(speeds) * (own - mean)**2
        between_free += len(kinds) - 1
        weight += len(every) - sum(
            len(speeds)**2 for speeds in kinds.values()) / len(every)
    if not inside_free:
        return None, None
    inside /= inside_free
    if not between_free:
        return math.sqrt(inside), None
    between = (between / between_free - inside) * between_free / weight
    return math.sqrt(inside), math.sqrt(max(0.0, between))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+")
    groups = read(parser.parse_args().files)
    names = {}  # models, told apart by their settings
    for (settings, _, dilation), kinds in sorted(groups.items()):
        model = names.setdefault(settings, f"model {len(names) + 1}")
        for kind, speeds in sorted(kinds.items()):
            deviation = (f"{statistics.stdev(speeds):.3f}"
                         if len(speeds) > 1 else "")
            print(f"{model:10} t {dilation:<5g} {kind:18} {len(speeds):3} pairs  "
                  f"{math.exp(statistics.fmean(speeds)):.3f}  {deviation}")
    for name, deviation in zip(("pairs of a kind", "kinds of a model"),
                               deviations(groups)):
        if deviation is not None:
            print(f"standard deviation of {name}: {deviation:.3f}")


if __name__ == "__main__":
    main()
