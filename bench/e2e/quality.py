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

  bench/e2e/quality.py [--bin=build/release/bin] [--out=FILE.json]
  bench/e2e/quality.py --modes --seeds=3 --epochs=1 [--out=FILE.json]
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

ROWS, TEST_ROWS, FIELDS, IDS = 2_000_000, 200_000, 20, 5000
FLAGS = [f"--feature_size={IDS}", f"--field_size={FIELDS}",
         "--embedding_size=4", "--deep_layers=32,16", "--optimizer=adagrad",
         "--learning_rate=0.05"]
BATCH = 1024
ONE = "one process"
JOBS = {ONE: ["train"], "2 ps + 2 workers": ["run", "--ps=2", "--workers=2"]}


def jobs_of_modes():
    """The commands of --modes, by name."""
    jobs = {ONE: ["train"]}
    for mode in ("async", "ssp", "sync", "ring"):
        servers = [] if mode == "ring" else ["--ps=2"]
        for workers in (1, 2, 4):
            jobs[f"{mode}, {workers}"] = [
                "run", *servers, f"--mode={mode}", f"--workers={workers}",
                f"--batch_size={BATCH // workers}"]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--modes", action="store_true",
                        help="every mode with 1, 2 and 4 workers")
    parser.add_argument("--out")
    args = parser.parse_args()
    shoal = os.path.join(args.bin, "shoal")
    flags = [*FLAGS, f"--batch_size={BATCH}", f"--num_epochs={args.epochs}"]
    result = {"cpu": cpu_name(), "cores": os.cpu_count(), "rows": ROWS,
              "test_rows": TEST_ROWS, "flags": flags, "jobs": {}}
    with tempfile.TemporaryDirectory(prefix="shoal-quality-") as data:
        made = generate(shoal, data, rows=ROWS, test_rows=TEST_ROWS,
                        fields=FIELDS, ids=IDS)
        result["best_auc"] = best = made["best_auc"]
        print(f"best possible AUC {best:.5f}")
        for name, command in (jobs_of_modes() if args.modes
                              else JOBS).items():
            first, rest = command[0], command[1:]
            runs = []
            for seed in range(1, args.seeds + 1):
                ran = trained(
                    shoal, [first, *flags, f"--seed={seed}", *rest], data)
                runs.append({
                    "seed": seed, "auc": ran["eval"]["auc"],
                    "logloss": ran["eval"]["logloss"],
                    "samples_per_second": ran["samples"]["trained"] /
                                          ran["wall_seconds"],
                    "staleness": ran["staleness"]})
                print(f"{name}, seed {seed}: AUC {runs[-1]['auc']:.5f}, "
                      f"staleness mean {ran['staleness']['mean']:.2f}, "
                      f"{runs[-1]['samples_per_second']:,.0f} samples/s")
            mean = statistics.mean(run["auc"] for run in runs)
            result["jobs"][name] = {"runs": runs, "mean_auc": mean}
            print(f"{name}: mean AUC {mean:.5f}, {best - mean:.5f} below the "
                  "best possible")
    one = result["jobs"][ONE]["mean_auc"]
    failed = best - one >= .01
    for name, job in result["jobs"].items():
        job["difference"] = job["mean_auc"] - one
        print(f"{name:24} {job['difference']:+.5f} from one process")
        if "scaled" in name or (args.modes and name.startswith(("async", "ssp"))):
            continue
        failed |= (abs(job["difference"]) > .002 or
                   best - job["mean_auc"] >= .01)
    if args.out:
        with open(args.out, "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    if failed:
        sys.exit("the model is not as good as it should be")


if __name__ == "__main__":
    main()
