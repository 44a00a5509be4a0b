#!/usr/bin/env python3
"""How good is the model that training ends with, in each mode?

Trains DeepFM on synthetic rows in one process and over 2 servers and 2 workers,
each with several seeds. Prints the AUC of both beside the best AUC that any
model can reach on the test rows (that of the planted model). Exits with 1 if
the means of the two differ by more than .002, or if one is .01 or more below
the best.

--modes trains in every mode with 1, 2 and 4 workers instead, where the workers'
batches together are as large as that of one process. A mean of sync or ring that
is more than .002 from that of one process is a failure. Beside these: ring with
the whole batch on each worker, and learning rates times the number of workers.

--file trains in every mode on the first four fifths of the rows of a LibSVM file
with 39 fields and ids below 117,581, as prepared Criteo rows have, and tests on
the rest. The best AUC is not known then, and a mean that is more than .01 from
that of one process is a failure.

  bench/e2e/quality.py [--bin=build/release/bin] [--out=FILE.json]
  bench/e2e/quality.py --modes --seeds=3 --epochs=1 [--out=FILE.json]
  bench/e2e/quality.py --file=val.libsvm --epochs=2 [--out=FILE.json]
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile

ROWS, TEST_ROWS, FIELDS, IDS = 2_000_000, 200_000, 20, 5000
FLAGS = [f"--feature_size={IDS}", f"--field_size={FIELDS}",
         "--embedding_size=4", "--deep_layers=32,16", "--optimizer=adagrad",
         "--learning_rate=0.05"]
BATCH = 1024
# For the rows of --file.
FILE_FLAGS = ["--feature_size=117581", "--field_size=39", "--embedding_size=8",
              "--deep_layers=128,64,32", "--optimizer=adam",
              "--learning_rate=1e-3"]
FILE_BATCH = 256
ONE = "one process"
JOBS = {ONE: ["train"], "2 ps + 2 workers": ["run", "--ps=2", "--workers=2"]}


def jobs_of_modes(batch):
    """The commands of every mode, by name. The workers of a job have `batch`
    rows together."""
    jobs = {ONE: ["train"]}
    for mode in ("async", "ssp", "sync", "ring", "hybrid"):
        servers = [] if mode == "ring" else ["--ps=2"]
        for workers in (1, 2, 4):
            jobs[f"{mode}, {workers}"] = [
                "run", *servers, f"--mode={mode}", f"--workers={workers}",
                f"--batch_size={batch // workers}"]
    for workers in (2, 4):
        jobs[f"ring, {workers}, scaled rates"] = [
            "run", "--mode=ring", f"--workers={workers}",
            f"--scale_learning_rate={workers}"]
    return jobs


def cpu_name():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def generate(shoal, out, **flags):
    """Writes synthetic rows. Returns the content of their _meta.json."""
    subprocess.run([shoal, "data", "gen", f"--out={out}",
                    *(f"--{name}={value}" for name, value in flags.items())],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(os.path.join(out, "_meta.json")) as file:
        return json.load(file)


def trained(shoal, command, data):
    """Runs a job on the rows in `data` to its end. Returns its summary."""
    summary = os.path.join(data, "summary.json")
    subprocess.run(
        [shoal, *command, f"--training_data_dir={data}/tr*",
         f"--val_data_dir={data}/te*", "--print_config=false",
         "--log_level=error", f"--summary={summary}"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(summary) as file:
        return json.load(file)


def split_rows(file, out):
    """Writes the first four fifths of the rows as tr.libsvm, the rest as
    te.libsvm."""
    with open(file) as rows:
        lines = rows.readlines()
    first = len(lines) * 4 // 5
    for name, part in (("tr", lines[:first]), ("te", lines[first:])):
        with open(os.path.join(out, name + ".libsvm"), "w") as rows:
            rows.writelines(part)


def runs_of(shoal, command, seeds, data):
    """Trains with each seed. Returns the figures of each run."""
    runs = []
    for seed in range(1, seeds + 1):
        ran = trained(shoal, [*command, f"--seed={seed}"], data)
        runs.append({
            "seed": seed, "auc": ran["eval"]["auc"],
            "logloss": ran["eval"]["logloss"],
            "samples_per_second": ran["samples"]["trained"] /
                                  ran["wall_seconds"],
            "staleness": ran["staleness"]})
    return runs


def earlier_jobs(path, result):
    """The jobs in the file that were made as those of `result` are."""
    if not path or not os.path.exists(path):
        return {}
    with open(path) as file:
        earlier = json.load(file)
    jobs = earlier.pop("jobs")
    alike = earlier == {key: value for key, value in result.items()
                        if key != "jobs"}
    return jobs if alike else {}


def print_job(name, job, best):
    aucs = [run["auc"] for run in job["runs"]]
    print(f"{name:24} AUC {job['mean_auc']:.5f} [{min(aucs):.5f}.."
          f"{max(aucs):.5f}], {job['difference']:+.5f} from one process" +
          (f", {best - job['mean_auc']:.5f} below the best possible"
           if best else "") +
          f"; staleness mean {job['runs'][0]['staleness']['mean']:.2f}",
          flush=True)


def failed(name, job, best, args):
    """True if the job's mean AUC is not what it should be."""
    if "scaled" in name:
        return False  # reported alone
    if args.file:
        return abs(job["difference"]) > .01
    if args.modes and name.startswith(("async", "ssp", "hybrid")):
        return False  # they do more updates than one process
    return (abs(job["difference"]) > .002 or best - job["mean_auc"] >= .01)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--modes", action="store_true",
                        help="every mode with 1, 2 and 4 workers")
    parser.add_argument("--file", help="LibSVM file, in place of made rows")
    parser.add_argument("--jobs", default="", metavar="REGEX",
                        help="these jobs alone, and one process")
    parser.add_argument("--out", help="write the results to this JSON file; "
                        "keeps other jobs with the same flags in it")
    args = parser.parse_args()
    shoal = os.path.join(args.bin, "shoal")
    batch = FILE_BATCH if args.file else BATCH
    flags = [*(FILE_FLAGS if args.file else FLAGS), f"--batch_size={batch}",
             f"--num_epochs={args.epochs}"]
    result = {"cpu": cpu_name(), "cores": os.cpu_count(), "flags": flags,
              "jobs": {}}
    every_mode = args.modes or args.file is not None
    best = None
    with tempfile.TemporaryDirectory(prefix="shoal-quality-") as data:
        if args.file:
            split_rows(args.file, data)
            result["file"] = os.path.basename(args.file)
        else:
            made = generate(shoal, data, rows=ROWS, test_rows=TEST_ROWS,
                            fields=FIELDS, ids=IDS)
            best = made["best_auc"]
            result |= {"rows": ROWS, "test_rows": TEST_ROWS, "best_auc": best}
            print(f"best possible AUC {best:.5f}", flush=True)
        result["jobs"] = earlier_jobs(args.out, result)
        for name, (first, *rest) in (jobs_of_modes(batch) if every_mode
                                     else JOBS).items():
            if name != ONE and not re.search(args.jobs, name):
                continue
            runs = runs_of(shoal, [first, *flags, *rest], args.seeds, data)
            job = result["jobs"][name] = {
                "runs": runs,
                "mean_auc": statistics.mean(run["auc"] for run in runs)}
            job["difference"] = (job["mean_auc"] -
                                 result["jobs"][ONE]["mean_auc"])
            print_job(name, job, best)
            if args.out:
                with open(args.out, "w") as file:
                    json.dump(result, file, indent=1)
                    file.write("\n")
    if any(failed(name, job, best, args)
           for name, job in result["jobs"].items()):
        sys.exit("the model is not as good as it should be")


if __name__ == "__main__":
    main()
