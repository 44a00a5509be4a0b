#!/usr/bin/env python3
"""How good is the memory forecast?

Runs jobs of several shapes, the README's first. Prints the forecast of each job
beside the peak memory of its processes (the sum of their peaks, with the
launcher's). Exits with 1 if a forecast is more than 20 % off.

  bench/e2e/memory.py [--bin=build/release/bin] [--rows=1000000]
      [--jobs="README, ring" --jobs="1 M rows"]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

from quality import generate

README = ["--feature_size=5000", "--embedding_size=4", "--deep_layers=32,16",
          "--batch_size=512", "--learning_rate=3e-3"]
JOBS = {
    "README": README + ["--num_epochs=3"],
    "small window": README + ["--shuffle_rows=1000"],
    "whole files": README + ["--piece_bytes=0"],
    "batch 4096": README[:3] + ["--batch_size=4096", "--num_epochs=2"],
    "embedding 64": ["--feature_size=5000", "--embedding_size=64",
                     "--deep_layers=256,128"],
    "wide layers": ["--feature_size=5000", "--embedding_size=16",
                    "--deep_layers=2048,2048"],
    "1 M rows": ["--feature_size=1000000", "--embedding_size=16",
                 "--deep_layers=400,400,400"],
}
for mode in ("sync", "ring", "hybrid"):
    JOBS[f"README, {mode}"] = [*JOBS["README"], "--mode=" + mode]
    JOBS[f"1 M rows, {mode}"] = [*JOBS["1 M rows"], "--mode=" + mode]
UNITS = {"MB": 1, "GB": 1000}


def peak_mb(pid):
    with open(f"/proc/{pid}/status") as file:
        match = re.search(r"VmHWM:\s+(\d+) kB", file.read())
    return int(match[1]) * 1024 / 1e6 if match else 0


def run_job(bin_dir, data, summary, flags):
    """Runs a job. Returns (forecast, peak) in MB."""
    servers = [] if "--mode=ring" in flags else ["--ps=2"]
    job = subprocess.Popen(
        [os.path.join(bin_dir, "shoal"), "run", *servers, "--workers=2",
         "--field_size=20", *flags, f"--training_data_dir={data}/tr*",
         f"--val_data_dir={data}/te*", "--summary=" + summary],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    launcher = 0
    ended = threading.Event()

    def watch():
        nonlocal launcher
        while not ended.wait(0.05):
            try:
                launcher = max(launcher, peak_mb(job.pid))
            except OSError:
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    text = job.stderr.read()
    if job.wait() != 0:
        sys.exit(text)
    ended.set()
    watcher.join()
    amount, unit = re.search(r"memory: .*processes ~([\d.]+) (MB|GB) of",
                             text).groups()
    with open(summary) as file:
        run = json.load(file)
    peak = launcher + sum(process["peak_rss_bytes"] / 1e6
                          for process in run["balance"] + run["processes"])
    return float(amount) * UNITS[unit], peak


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--jobs", action="append", choices=list(JOBS),
                        help="a job to run, in place of all; repeatable")
    args = parser.parse_args()
    jobs = args.jobs or list(JOBS)
    worst = 0
    with tempfile.TemporaryDirectory() as directory:
        wanted = {re.search(r"feature_size=(\d+)", JOBS[name][0])[1]
                  for name in jobs}
        for ids in wanted:
            generate(os.path.join(args.bin, "shoal"), f"{directory}/{ids}",
                     rows=args.rows, test_rows=50000, fields=20, ids=ids,
                     zipf=1.2, seed=1)
        for name in jobs:
            ids = re.search(r"feature_size=(\d+)", JOBS[name][0])[1]
            forecast, peak = run_job(args.bin, f"{directory}/{ids}",
                                     directory + "/summary.json", JOBS[name])
            off = forecast / peak - 1
            worst = max(worst, abs(off))
            print(f"{name:15} forecast {forecast:6.0f} MB, peak {peak:6.0f} MB, "
                  f"{off:+.1%}", flush=True)
    print(f"worst {worst:.1%}")
    return 1 if worst > 0.2 else 0


if __name__ == "__main__":
    sys.exit(main())
