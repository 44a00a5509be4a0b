#!/usr/bin/env python3
"""What does --pipeline_depth buy, and what does it cost?

Trains DeepFM (39 fields, dim 16, MLP 400-400-400, batch 1024; Adagrad tables,
Adam) over 2 servers and 2 workers for one short epoch at every depth. The depths
take turns. Prints medians: samples per second, samples per second of processor
time of all processes, staleness, and AUC.

  bench/e2e/pipeline.py [--bin=build/release/bin] [--out=FILE.json]
"""

import argparse
import json
import os
import statistics
import tempfile

from quality import cpu_name, generate, trained

ROWS, TEST_ROWS, FIELDS, IDS = 200_000, 20_000, 39, 1_000_000
FLAGS = ["--ps=2", "--workers=2", f"--feature_size={IDS}",
         f"--field_size={FIELDS}", "--embedding_size=16",
         "--deep_layers=400,400,400", "--optimizer=adam",
         "--learning_rate=1e-3", "--table_optimizer=adagrad",
         "--table_learning_rate=0.05", "--batch_size=1024", "--num_epochs=1",
         "--warmup_steps=20"]
DEPTHS = (0, 1, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out")
    args = parser.parse_args()
    shoal = os.path.join(args.bin, "shoal")
    runs = {depth: [] for depth in DEPTHS}
    with tempfile.TemporaryDirectory(prefix="shoal-pipeline-") as data:
        generate(shoal, data, rows=ROWS, test_rows=TEST_ROWS, fields=FIELDS,
                 ids=IDS, zipf=1.2)
        for repeat in range(args.repeats):
            for depth in DEPTHS:
                ran = trained(
                    shoal, ["run", *FLAGS, f"--pipeline_depth={depth}"], data)
                steady = ran["steady"]
                runs[depth].append({
                    "samples_per_second": steady["samples_per_second"],
                    "samples_per_cpu_second": steady["samples"] /
                        sum(steady["cpu_seconds"].values()),
                    "staleness": ran["staleness"]["mean"],
                    "auc": ran["eval"]["auc"]})
                print(f"repeat {repeat + 1}, depth {depth}:",
                      ", ".join(f"{key} {value:,.5g}"
                                for key, value in runs[depth][-1].items()),
                      flush=True)
    for depth in DEPTHS:
        print(f"depth {depth}, median of {args.repeats}:", ", ".join(
            f"{key} {statistics.median(run[key] for run in runs[depth]):,.5g}"
            for key in runs[depth][0]))
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"cpu": cpu_name(), "cores": os.cpu_count(),
                       "rows": ROWS, "flags": FLAGS, "depths": runs},
                      file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
