#!/usr/bin/env python3
"""Runs micro-benchmarks with repeats and writes medians and their spread.

  bench/micro/run.py ps_bench data_bench rpc_bench
      [--bin=build/release/bin] [--filter=REGEX] [--repeats=5] [--in_turns]
      [--out=FILE.json]
  bench/micro/run.py --results=amd_epyc [table wire data served collective]
      measures the micro-benchmarks of bench/results, or the named files of them
      (table_amd_epyc.json …): 3 repeats, seven minutes on an idle machine;
      served takes two more, and needs ps_lite_bench (bench/peers/README.md)

The file holds, for every benchmark, the median, least and largest of each
figure, the CPU, the command and the meaning of the figures: the comment at the
head of the program, which has the formulas and ceilings. Programs measure
processor time, and their ceilings in the same run; figures still vary less on a
quiet machine. Programs that are compared with one another run in turns: one
repeat of each, then the next.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "e2e"))
from quality import cpu_name  # noqa: E402

# The content of a file of results: programs, a filter, and whether they run in
# turns.
RESULTS = {
    "table": (["ps_bench"],
              "FirstTouch|(Gather|Apply)/|(Pull|Push)/.*/1GiB/", False),
    "wire": (["rpc_bench"], "Wire|Served.*/(1GiB|A/4GiB)/", False),
    "data": (["data_bench", "merge_bench"], "", False),
    "collective": (["collective_bench"], "", False),
    "served": (["rpc_bench", "ps_lite_bench"],
               "Served(Pull|Push)/(none|array/A/1GiB|hash/A/1GiB)", True),
}

# Keys of a run in the library's output that are not figures.
NOT_FIGURES = {"name", "run_name", "run_type", "family_index",
               "per_family_instance_index", "repetitions",
               "repetition_index", "threads", "iterations", "time_unit",
               "label", "aggregate_name", "aggregate_unit", "error_occurred",
               "error_message"}


def meaning(program):
    """The comment at the head of the program's source."""
    lines = []
    with open(os.path.join(HERE, program + ".cc")) as source:
        for line in source:
            if not line.startswith("//"):
                break
            lines.append(line[2:].rstrip().removeprefix(" "))
    return lines


def flags_of(args, repeats):
    flags = [f"--benchmark_repetitions={repeats}"]
    if args.filter:
        flags.append(f"--benchmark_filter={args.filter}")
    return flags


def run(program, args, repeats):
    """Runs the program. Returns its output."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run(
            [os.path.join(args.bin, program), *flags_of(args, repeats),
             f"--benchmark_out={file.name}", "--benchmark_out_format=json"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if os.path.getsize(file.name) == 0:
            sys.exit(f"{program}: --filter={args.filter} matches nothing")
        return json.load(file)


def summarise(printed):
    """Median, least and largest over all outputs, by benchmark and figure."""
    figures = {}
    for row in (row for run in printed for row in run["benchmarks"]):
        if row["run_type"] != "iteration":
            continue
        if row.get("error_occurred"):
            sys.exit(f"{row['name']}: {row['error_message']}")
        of = figures.setdefault(row["run_name"], {})
        for key, value in row.items():
            if key in NOT_FIGURES:
                continue
            unit = row["time_unit"] if key.endswith("_time") else None
            of.setdefault(f"{key}_{unit}" if unit else key, []).append(value)
    return {name: {key: {"median": float(f"{statistics.median(all):.5g}"),
                         "least": float(f"{min(all):.5g}"),
                         "largest": float(f"{max(all):.5g}")}
                   for key, all in of.items()}
            for name, of in figures.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--filter", default="")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--in_turns", action="store_true",
                        help="run one repeat of each program, then the next")
    parser.add_argument("--out")
    parser.add_argument("--results", metavar="CPU",
                        help="measure the files of bench/results again")
    args = parser.parse_args()
    if args.repeats is None:
        args.repeats = 3 if args.results else 5
    if args.repeats < 1:
        parser.error("--repeats must be at least 1")
    if args.results:
        measure_results(parser, args)
    elif not args.programs:
        parser.error("name the programs to run")
    else:
        measure(parser, args)


def measure_results(parser, args):
    for wanted in args.programs:
        if wanted not in RESULTS:
            parser.error(f"{wanted}: name some of {', '.join(RESULTS)}")
    wanted = args.programs or [
        name for name, (programs, _, _) in RESULTS.items()
        if "ps_lite_bench" not in programs or
        os.access(os.path.join(args.bin, "ps_lite_bench"), os.X_OK)]
    for name in wanted:
        args.programs, args.filter, args.in_turns = RESULTS[name]
        args.out = os.path.normpath(os.path.join(
            HERE, f"../results/{name}_{args.results}.json"))
        start = time.monotonic()
        measure(parser, args)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)


def measure(parser, args):
    for program in args.programs:
        if not os.access(os.path.join(args.bin, program), os.X_OK):
            parser.error(f"--bin={args.bin} has no {program}: build it first")
    if args.out and not os.access(os.path.dirname(args.out) or ".", os.W_OK):
        parser.error(f"--out={args.out} cannot be written")
    results = {"cpu": cpu_name(), "cores": os.cpu_count(),
               "repeats": args.repeats, "programs": {}}
    turns, each = (args.repeats, 1) if args.in_turns else (1, args.repeats)
    printed = {program: [] for program in args.programs}
    for _ in range(turns):
        for program in args.programs:
            printed[program].append(run(program, args, each))
    for program in args.programs:
        summary = summarise(printed[program])
        results["programs"][program] = {
            "command": " ".join([f"build/release/bin/{program}",
                                 *flags_of(args, each)]),
            "turns": turns, "meaning": meaning(program),
            "load_average_before":
                printed[program][0]["context"].get("load_avg"),
            "figures": summary}
        for name, of in summary.items():
            print(name, *(f"{key} {value['median']:,.4g}"
                          for key, value in of.items()), flush=True)
    if args.out:
        with open(args.out, "w") as file:
            json.dump(results, file, indent=1, ensure_ascii=False)
            file.write("\n")


if __name__ == "__main__":
    main()
