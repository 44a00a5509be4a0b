#!/usr/bin/env python3
"""How fast is training, compared with the machine and with the peers?

Trains DeepFM on the same rows, in turns:

  sgemm      no training: products of 1024³ by oneDNN on one thread, the ceiling
  shoal-one  `shoal train` on one core
  shoal-2+2  `shoal run` with 2 servers and 2 workers over gRPC
  shoal-sync-2+2  the same with --mode=sync
  shoal-ring-2    `shoal run --mode=ring` with 2 workers
  shoal-hybrid-2+2  `shoal run --mode=hybrid` with 2 servers and 2 workers
  tf-one, tf-ps, horovod-2, torch-one  the peers (bench/peers), with
             --tf_python and --torch_python: the interpreters of their
             environments
  shoal-one/NAME, shoal-2+2/NAME  the same jobs with your flags, one pair for
             each --variant=NAME:FLAGS; prints the ratio of the default's
             samples per CPU-second to the variant's

All jobs are measured from outside over a window of steady work
(timed_window.py), on the same rows over and over. Shoal reads the rows from
TFRecord files in the page cache; the first pass, which makes the rows of its
table, is its warm-up. The AUC comes from separate jobs: one pass over all rows,
four times as many; --quick leaves these jobs out. Prints, for each job, the
median, the least and the largest over the repeats of

  samples_per_second
  samples_per_cpu_second  of all processes together
  cpu_us      processor time a sample, of all processes
  share       samples_per_cpu_second x FLOP a sample / median sgemm rate
  rss_mb      resident at the end of the window, of all processes
  others_cores  cores that other processes used meanwhile: above 0.15 the figure
              is marked with '!'

FLOP a sample are those of the MLP's products, for each weight 2 forward and 4
backward: 6 x (39 K x H1 + H1 x H2 + … + 1 x Hn), 3.42 M for model A and 2.16 M
for B. They are those of the plain network, which multiplies every embedding of
every sample. An id occurs several times in a batch: an implementation that
multiplies each distinct embedding once does fewer FLOP in the first layer, so
its share may pass 100 %.

  bench/e2e/speed.py --quick --only=shoal-one       two minutes
  bench/e2e/speed.py --tf_python=VENV/bin/python --torch_python=VENV/bin/python
      --out=bench/results/speed_CPU.json            everything
  bench/e2e/speed.py --quick --variant=late:--pipeline_depth=2
      --variant="sgd:--optimizer=sgd --learning_rate=.1"
"""

import datetime
import json
import os
import statistics
import subprocess
import sys

import timed_window
import training_job
from quality import cpu_name
from training_job import JOBS, NETS, flop_per_sample

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS_HERE = os.path.join(HERE, "../peers")
PEERS = {"tf-one": "tf_python", "tf-ps": "tf_python",
         "horovod-2": "tf_python", "torch-one": "torch_python"}
LEGS = (*JOBS, *PEERS)


def legs_of(wanted, variants):
    """`wanted`, with each leg of Shoal followed by its variants."""
    return [one for leg in wanted for one in
            (leg, *(f"{leg}/{name}" for name in variants if leg in JOBS))]


def make_data(args):
    made = training_job.make_data(args, "tfrecord")
    arrays = os.path.join(args.data, "npy")
    if any(leg in PEERS for leg in args.legs) and not os.path.exists(arrays):
        training_job.make_data(args, "libsvm")
        subprocess.run(
            [args.tf_python or args.torch_python,
             os.path.join(PEERS_HERE, "rows_to_npy.py"), "--out=" + arrays,
             f"--libsvm={args.data}/libsvm",
             f"--rows={training_job.window_rows(args)}"], check=True)
    return made


def library_sgemm_rates(args):
    """GFLOP/s of the peers' own libraries in sgemm, on one thread."""
    found = {}
    for python in filter(None, (args.tf_python, args.torch_python)):
        ran = subprocess.run(
            [python, os.path.join(PEERS_HERE, "sgemm.py")], check=True,
            capture_output=True, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {args.core}))
        line = json.loads(ran.stdout)
        found[line["library"]] = line["gflops"]
    return found


def job_of(args, leg, net, batch, **options):
    """The job of a leg of Shoal, with the flags of its variant."""
    kind, _, name = leg.partition("/")
    return training_job.Job(args, kind, net, batch,
                            instead=args.variants.get(name, ()), **options)


def run_shoal(args, leg, net, batch):
    """Measures one job over a window."""
    with job_of(args, leg, net, batch) as job:
        job.warm_up()
        found = job.measure(args.window)
        ran = job.summary()
    held = ran["balance"] + ran["processes"]
    return found | {
        "staleness_mean": ran["staleness"]["mean"],
        "staleness_p99": ran["staleness"]["p99"],
        "peak_rss_mb": sum(p["peak_rss_bytes"] for p in held) / 1e6}


def auc_of(args, leg, net, batch):
    """The AUC of the model after one pass over all rows."""
    with job_of(args, leg, net, batch, to_the_end=True) as job:
        job.wait()
        return job.summary()["eval"]["auc"]


def run_peer(args, leg, net, batch):
    command = [sys.executable, os.path.join(PEERS_HERE, "run_peer.py"),
               f"--peer={leg}", f"--python={getattr(args, PEERS[leg])}",
               f"--data={args.data}/npy", f"--net={net}", f"--batch={batch}",
               f"--window={args.window}"]
    if leg.endswith("-one"):
        command.append(f"--core={args.core}")
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr)
    return json.loads(ran.stdout.splitlines()[-1])["reached"]


def spread(runs, key):
    values = [run[key] for run in runs if key in run]
    return {"median": statistics.median(values), "min": min(values),
            "max": max(values)}


def summarise(net, batch, rates, runs):
    """Medians, and the ratios to peers and variants of the same run."""
    found = {"net": net, "batch": batch, "flop_per_sample": flop_per_sample(net),
             "sgemm_gflops": spread([{"r": r / 1e9} for r in rates], "r"),
             "legs": {}}
    rate = statistics.median(rates)
    for leg, ran in runs.items():
        for run in ran:
            run["share"] = (run["samples_per_cpu_second"] *
                            found["flop_per_sample"] / rate)
        if ran:
            found["legs"][leg] = {key: spread(ran, key) for key in ran[0]}
    legs = found["legs"]
    pairs = [("shoal-one", "tf-one"), ("shoal-2+2", "tf-ps"),
             ("shoal-ring-2", "shoal-one"), ("shoal-ring-2", "shoal-2+2"),
             ("shoal-sync-2+2", "shoal-2+2"),
             ("shoal-hybrid-2+2", "shoal-2+2"), ("shoal-ring-2", "horovod-2"),
             ("shoal-one", "torch-one")]
    pairs += [(leg.partition("/")[0], leg) for leg in legs if "/" in leg]
    for ours, theirs in pairs:
        if ours in legs and theirs in legs:
            a, b = (legs[leg]["samples_per_cpu_second"]["median"]
                    for leg in (ours, theirs))
            found.setdefault("ratios", {})[f"{ours} / {theirs}"] = a / b
    return found


def print_config(found):
    rate = found["sgemm_gflops"]
    print(f"\nmodel {found['net']}, batch {found['batch']}: sgemm "
          f"{rate['median']:.1f} GFLOP/s a thread "
          f"[{rate['min']:.1f}..{rate['max']:.1f}], limit "
          f"{1e-3 * found['flop_per_sample'] / rate['median']:.2f} us/sample")
    for library, gflops in found["library_sgemm_gflops"].items():
        print(f"  sgemm of {library}: {gflops:.1f} GFLOP/s")
    width = max(map(len, found["legs"]))
    for leg, figures in found["legs"].items():
        share, micros = figures["share"], figures["cpu_us"]
        others = figures["others_cores"]["median"]
        line = (f"  {leg:{width}} share {share['median']:5.1%} "
                f"[{share['min']:.1%}..{share['max']:.1%}]  CPU us/sample "
                f"{micros['median']:6.2f} [{micros['min']:.2f}.."
                f"{micros['max']:.2f}]  samples/s "
                f"{figures['samples_per_second']['median']:,.0f}  /CPU-s "
                f"{figures['samples_per_cpu_second']['median']:,.0f}  RSS "
                f"{figures['rss_mb']['median']:,.0f} MB  others {others:.2f}")
        line += " !" if others > timed_window.NOISY_CORES else ""
        if leg.startswith("shoal-2+2"):
            line += (f"  staleness {figures['staleness_mean']['median']:.2f} "
                     f"(p99 {figures['staleness_p99']['median']:.0f})")
        if "auc" in figures:
            line += f"  AUC {figures['auc']['median']:.5f}"
        print(line)
    for name, ratio in found.get("ratios", {}).items():
        print(f"  {name}: {ratio:.2f} x")
    sys.stdout.flush()


def write_results(args, configs):
    """Writes the results; keeps earlier ones of other models and batches."""
    result = {}
    if os.path.exists(args.out):
        with open(args.out) as file:
            result = json.load(file)
    result |= {"cpu": cpu_name(), "cores": os.cpu_count(), "rows": args.rows,
               "window_rows": training_job.window_rows(args),
               "best_auc": args.best_auc,
               "formula": "share = samples_per_cpu_second x flop_per_sample / "
                          "the median sgemm rate of the same run; "
                          "flop_per_sample is of the plain network, so that "
                          "a share may pass 1"}
    kept = {(c["net"], c["batch"]): c for c in result.get("configs", [])}
    for config in configs:
        kept[config["net"], config["batch"]] = config
    result["configs"] = [kept[key] for key in sorted(kept)]
    with open(args.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def parse_args():
    parser = training_job.flags_of(__doc__)
    parser.add_argument("--only", default="", help=",".join(LEGS))
    parser.add_argument("--variant", action="append", default=[],
                        type=training_job.variant, metavar="NAME:FLAGS",
                        help="legs of Shoal with these flags, too; repeatable")
    parser.add_argument("--models", default="A,B")
    parser.add_argument("--batches", default="1024,4096")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--window", type=float,
                        help="seconds of a window")
    parser.add_argument("--tf_python")
    parser.add_argument("--torch_python")
    parser.add_argument("--quick", action="store_true",
                        help="short windows, 2 repeats, no evaluation")
    parser.add_argument("--out", help="add the results to this JSON file")
    args = training_job.parse(parser)
    args.repeats = args.repeats or (2 if args.quick else 3)
    args.window = args.window or (4 if args.quick else 6)
    wanted = args.only.split(",") if args.only else LEGS
    args.legs = [leg for leg in wanted
                 if leg not in PEERS or getattr(args, PEERS[leg])]
    for leg in wanted:
        if leg not in LEGS:
            parser.error(f"--only has {leg}; it takes {', '.join(LEGS)}")
        if leg not in args.legs:
            print(f"{leg} is left out: no --{PEERS[leg]}", file=sys.stderr)
    if not args.legs:
        parser.error("there is no job to measure")
    args.variants = dict(args.variant)
    if len(args.variants) != len(args.variant):
        parser.error("two --variant have the same name")
    if args.variants and not any(leg in JOBS for leg in args.legs):
        parser.error(f"--variant needs {' or '.join(JOBS)} in --only")
    args.legs = legs_of(args.legs, args.variants)
    for net in args.models.split(","):
        if net not in NETS:
            parser.error(f"--models has {net}; it takes {', '.join(NETS)}")
    if not all(batch.isdecimal() for batch in args.batches.split(",")):
        parser.error(f"--batches={args.batches} must be numbers")
    if args.repeats < 1 or args.window <= 0:
        parser.error("--repeats and --window must be above 0")
    if not os.access(os.path.join(args.bin, "shoal"), os.X_OK):
        parser.error(f"--bin={args.bin} has no shoal: build it first")
    if args.core not in os.sched_getaffinity(0):
        parser.error(f"--core={args.core}: there is no such core")
    if args.out and not os.access(os.path.dirname(args.out) or ".", os.W_OK):
        parser.error(f"--out={args.out} cannot be written")
    return args


def main():
    args = parse_args()
    args.best_auc = make_data(args)["best_auc"]
    configs = []
    for net in args.models.split(","):
        for batch in map(int, args.batches.split(",")):
            rates, runs = [], {leg: [] for leg in args.legs}
            for repeat in range(args.repeats):
                for leg in args.legs:
                    rates.append(training_job.sgemm_rate(args))
                    if leg in PEERS:
                        ran = run_peer(args, leg, net, batch)
                    else:
                        ran = run_shoal(args, leg, net, batch)
                        if repeat == 0 and not args.quick:
                            ran["auc"] = auc_of(args, leg, net, batch)
                    runs[leg].append(ran)
            configs.append(summarise(net, batch, rates, runs))
            configs[-1] |= {"library_sgemm_gflops": library_sgemm_rates(args),
                            "time": datetime.datetime.now().isoformat(
                                timespec="seconds"),
                            "command": training_job.command_line(),
                            "window_seconds": args.window,
                            "repeats": args.repeats}
            print_config(configs[-1])
            if args.out:
                write_results(args, configs)


if __name__ == "__main__":
    main()
