#!/usr/bin/env python3
"""How fast is training, beside what the machine can do and beside its peers?

Trains DeepFM on the same rows, in turns:

  sgemm      no training: products of 1024³ by oneDNN on one thread, the ceiling
  shoal-one  `shoal train` on one core
  shoal-2+2  `shoal run` with 2 servers and 2 workers over gRPC
  tf-one, tf-ps, torch-one  the peers (bench/peers), with --tf_python and
             --torch_python: the interpreters of their environments

All are measured from outside over a window of steady work (timed_window.py),
Shoal reading TFRecord files from the page cache. The first job of each kind goes
on to the end of the data and is evaluated; the others end with their window. For
each, over the repeats, the median, the least and the most of

  samples_per_second
  samples_per_cpu_second  of all processes together
  cpu_us      processor time a sample, of all processes
  share       samples_per_cpu_second x FLOP a sample / the sgemm rate before it
  rss_mb      resident at the end of the window, of all processes
  others_cores  what other processes used of the machine meanwhile: where it is
              above 0.15 the figure is marked with '!'

FLOP a sample are those of the MLP's products, 2 a weight forward and 4
backward: 6 x (39 K x H1 + H1 x H2 + … + 1 x Hn), the work that no implementation
can leave out: 3.42 M for model A, 2.16 M for B.

  bench/e2e/speed.py --quick --only=shoal-one       about a minute
  bench/e2e/speed.py --tf_python=VENV/bin/python --torch_python=VENV/bin/python
      --out=bench/results/speed_CPU.json            everything
"""

import argparse
import datetime
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import timed_window
from quality import cpu_name

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS_HERE = os.path.join(HERE, "../peers")
FIELDS, IDS, TEST_ROWS = 39, 1_000_000, 100_000
NETS = {"A": (16, (400, 400, 400)), "B": (32, (256, 128, 64))}
LEGS = ("shoal-one", "shoal-2+2", "tf-one", "tf-ps", "torch-one")
PEERS = {"tf-one": "tf_python", "tf-ps": "tf_python",
         "torch-one": "torch_python"}


def flop_per_sample(net):
    dim, layers = NETS[net]
    widths = (FIELDS * dim, *layers, 1)
    return 6 * sum(a * b for a, b in zip(widths, widths[1:]))


def make_data(args):
    """The rows, made once: TFRecord, and LibSVM where a peer needs them."""
    shoal = os.path.join(args.bin, "shoal")
    formats = ["tfrecord"] + ["libsvm"] * any(leg in PEERS for leg in args.legs)
    for form in formats:
        out = os.path.join(args.data, form)
        if not os.path.exists(os.path.join(out, "_meta.json")):
            shutil.rmtree(out, ignore_errors=True)
            subprocess.run(
                [shoal, "data", "gen", f"--rows={args.rows}",
                 f"--test_rows={TEST_ROWS}", f"--fields={FIELDS}",
                 "--numeric_fields=13", f"--ids={IDS}", "--zipf=1.2",
                 f"--format={form}", f"--out={out}"],
                check=True, stdout=subprocess.DEVNULL)
    arrays = os.path.join(args.data, "npy")
    if "libsvm" in formats and not os.path.exists(arrays):
        subprocess.run(
            [args.tf_python or args.torch_python,
             os.path.join(PEERS_HERE, "rows_to_npy.py"), "--out=" + arrays,
             f"--libsvm={args.data}/libsvm"], check=True)
    with open(os.path.join(args.data, "tfrecord", "_meta.json")) as file:
        made = json.load(file)
    if (made["rows"], made["test_rows"]) != (args.rows, TEST_ROWS):
        sys.exit(f"{args.data} holds other rows: remove it")
    args.best_auc = made["best_auc"]
    for name in os.listdir(os.path.join(args.data, "tfrecord")):
        with open(os.path.join(args.data, "tfrecord", name), "rb") as file:
            while file.read(1 << 24):  # into the page cache
                pass


def job_flags(args, net, batch):
    dim, layers = NETS[net]
    return [f"--training_data_dir={args.data}/tfrecord/tr*",
            f"--feature_size={IDS}", f"--field_size={FIELDS}",
            f"--embedding_size={dim}",
            "--deep_layers=" + ",".join(map(str, layers)),
            "--optimizer=adam", "--learning_rate=1e-3",
            "--table_optimizer=adagrad", "--table_learning_rate=0.02",
            "--adagrad_initial_accumulator=0.1", f"--batch_size={batch}",
            "--print_config=false", "--log_level=error", *args.shoal_flags]


def free_ports(count):
    """The first of so many ports in a row that are free."""
    while True:
        first = random.randrange(20000, 32000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue


def sgemm_rate(args, core):
    """FLOP/s of one thread."""
    ran = subprocess.run(
        [os.path.join(args.bin, "models_bench"), "--benchmark_format=json",
         "--benchmark_filter=Sgemm1024/onednn", "--benchmark_min_time=0.5"],
        check=True, capture_output=True, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    return json.loads(ran.stdout)["benchmarks"][0]["GFLOP/s"] * 1e9


def library_sgemm_rates(args):
    """What the peers' own libraries multiply at, in GFLOP/s of one thread."""
    found = {}
    for python in filter(None, (args.tf_python, args.torch_python)):
        ran = subprocess.run(
            [python, os.path.join(PEERS_HERE, "sgemm.py")], check=True,
            capture_output=True, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {args.core}))
        line = json.loads(ran.stdout)
        found[line["library"]] = line["gflops"]
    return found


def start(command, pin=None):
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=(lambda: os.sched_setaffinity(0, pin)) if pin else None)


def check_alive(job):
    if job.poll() is not None:
        raise RuntimeError("ended before its window did: "
                           f"{job.stderr.read() or 'give it more --rows'}")


def warm_up(job, counts, args, batch):
    timed_window.wait_until(
        lambda: all(count() >= args.warm_batches * batch for count in counts),
        "the first batches", time.monotonic() + 120, lambda: check_alive(job))
    time.sleep(args.warm_seconds)


def servers_of(launcher):
    """The parameter servers that a `shoal run` has started."""
    pids = []
    for pid in timed_window.process_tree([launcher]):
        with open(f"/proc/{pid}/comm") as file:
            if file.read().strip() == "shoal-ps":
                pids.append(pid)
    return pids


def run_shoal(args, leg, net, batch, to_the_end):
    """A window of one job; with `to_the_end` also the AUC of its model."""
    cluster = leg == "shoal-2+2"
    port = free_ports(4)
    counts = [timed_window.examples_of(port + 2 + i) for i in range(2)]
    command = ["run", "--ps=2", "--workers=2"]
    if not cluster:
        counts = [timed_window.examples_of(port)]
        command = ["train"]
    with tempfile.TemporaryDirectory() as directory:
        summary = os.path.join(directory, "summary.json")
        command += [f"--num_epochs={1 if to_the_end else 1000}",
                    f"--metrics_port={port}", f"--summary={summary}",
                    *job_flags(args, net, batch)]
        if to_the_end:
            command.append(f"--val_data_dir={args.data}/tfrecord/te*")
        job = start([os.path.join(args.bin, "shoal"), *command],
                    None if cluster else {args.core})
        try:
            warm_up(job, counts, args, batch)
            extra = [("servers_cpu_us", servers_of(job.pid))] if cluster else []
            found = timed_window.measure([job.pid], counts, args.window,
                                         lambda: check_alive(job), extra)
            if to_the_end and job.wait(600) != 0:
                raise RuntimeError(job.stderr.read())
        finally:
            timed_window.end_by_signal(job)
        with open(summary) as file:
            ran = json.load(file)
    held = ran["balance"] + ran["processes"] * cluster
    found |= {"staleness_mean": ran["staleness"]["mean"],
              "staleness_p99": ran["staleness"]["p99"],
              "peak_rss_mb": sum(p["peak_rss_bytes"] for p in held) / 1e6}
    if to_the_end:
        found["auc"] = ran["eval"]["auc"]
    return found


def run_peer(args, leg, net, batch):
    command = [sys.executable, os.path.join(PEERS_HERE, "run_peer.py"),
               f"--peer={leg}", f"--python={getattr(args, PEERS[leg])}",
               f"--data={args.data}/npy", f"--net={net}", f"--batch={batch}",
               f"--window={args.window}", f"--warm_batches={args.warm_batches}"]
    if leg != "tf-ps":
        command.append(f"--core={args.core}")
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr)
    return json.loads(ran.stdout.splitlines()[-1])


def spread(runs, key):
    values = [run[key] for run in runs if key in run]
    return {"median": statistics.median(values), "min": min(values),
            "max": max(values)}


def summarise(net, batch, rates, runs):
    """Medians, and the ratios to TensorFlow of the same run."""
    found = {"net": net, "batch": batch, "flop_per_sample": flop_per_sample(net),
             "sgemm_gflops": spread([{"r": r / 1e9} for r in rates], "r"),
             "legs": {}}
    for leg, ran in runs.items():
        if ran:
            found["legs"][leg] = {key: spread(ran, key) for key in ran[0]}
    legs = found["legs"]
    for ours, theirs in (("shoal-one", "tf-one"), ("shoal-2+2", "tf-ps"),
                         ("shoal-one", "torch-one")):
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
    for leg, figures in found["legs"].items():
        share, micros = figures["share"], figures["cpu_us"]
        others = figures["others_cores"]["median"]
        line = (f"  {leg:10} share {share['median']:5.1%} "
                f"[{share['min']:.1%}..{share['max']:.1%}]  CPU us/sample "
                f"{micros['median']:6.2f} [{micros['min']:.2f}.."
                f"{micros['max']:.2f}]  samples/s "
                f"{figures['samples_per_second']['median']:,.0f}  /CPU-s "
                f"{figures['samples_per_cpu_second']['median']:,.0f}  RSS "
                f"{figures['rss_mb']['median']:,.0f} MB  others {others:.2f}")
        line += " !" if others > timed_window.NOISY_CORES else ""
        if leg == "shoal-2+2":
            line += (f"  staleness {figures['staleness_mean']['median']:.2f} "
                     f"(p99 {figures['staleness_p99']['median']:.0f})")
        if "auc" in figures:
            line += f"  AUC {figures['auc']['median']:.5f}"
        print(line)
    for name, ratio in found.get("ratios", {}).items():
        print(f"  {name}: {ratio:.2f} x")
    sys.stdout.flush()


def write_results(args, configs):
    """Keeps what an earlier run of other models and batches has written."""
    result = {}
    if os.path.exists(args.out):
        with open(args.out) as file:
            result = json.load(file)
    result |= {"cpu": cpu_name(), "cores": os.cpu_count(), "rows": args.rows,
               "best_auc": args.best_auc,
               "formula": "share = samples_per_cpu_second x flop_per_sample / "
                          "sgemm rate of the same turn"}
    kept = {(c["net"], c["batch"]): c for c in result.get("configs", [])}
    for config in configs:
        kept[config["net"], config["batch"]] = config
    result["configs"] = [kept[key] for key in sorted(kept)]
    with open(args.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--only", default="", help=",".join(LEGS))
    parser.add_argument("--models", default="A,B")
    parser.add_argument("--batches", default="1024,4096")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--window", type=float, help="seconds")
    parser.add_argument("--rows", type=int, default=1 << 20)
    parser.add_argument("--data", help="where the rows are kept between runs")
    parser.add_argument("--core", type=int, default=max(
        os.sched_getaffinity(0)), help="of sgemm and the single processes")
    parser.add_argument("--warm_batches", type=int, default=20)
    parser.add_argument("--warm_seconds", type=float, default=1)
    parser.add_argument("--tf_python")
    parser.add_argument("--torch_python")
    parser.add_argument("--quick", action="store_true",
                        help="short windows, 2 repeats, no evaluation")
    parser.add_argument("--out", help="add the results to this JSON file")
    parser.add_argument("shoal_flags", nargs="*",
                        help="after --: more flags of Shoal's jobs")
    args = parser.parse_args()
    args.repeats = args.repeats or (2 if args.quick else 3)
    args.window = args.window or (4 if args.quick else 6)
    args.data = os.path.abspath(args.data or os.path.join(
        tempfile.gettempdir(), f"shoal-speed-{args.rows}"))
    wanted = args.only.split(",") if args.only else LEGS
    args.legs = [leg for leg in wanted
                 if leg not in PEERS or getattr(args, PEERS[leg])]
    for leg in wanted:
        if leg not in LEGS:
            parser.error(f"--only has {leg}; there are {', '.join(LEGS)}")
        if leg not in args.legs:
            print(f"{leg} is left out: no --{PEERS[leg]}", file=sys.stderr)
    return args


def main():
    args = parse_args()
    make_data(args)
    configs = []
    for net in args.models.split(","):
        for batch in map(int, args.batches.split(",")):
            rates, runs = [], {leg: [] for leg in args.legs}
            for repeat in range(args.repeats):
                for leg in args.legs:
                    rates.append(sgemm_rate(args, args.core))
                    if leg in PEERS:
                        ran = run_peer(args, leg, net, batch)
                    else:
                        ran = run_shoal(args, leg, net, batch,
                                        repeat == 0 and not args.quick)
                    ran["share"] = (ran["samples_per_cpu_second"] *
                                    flop_per_sample(net) / rates[-1])
                    runs[leg].append(ran)
            configs.append(summarise(net, batch, rates, runs))
            configs[-1] |= {"library_sgemm_gflops": library_sgemm_rates(args),
                            "time": datetime.datetime.now().isoformat(
                                timespec="seconds"),
                            "command": " ".join(sys.argv),
                            "window_seconds": args.window,
                            "repeats": args.repeats}
            print_config(configs[-1])
            if args.out:
                write_results(args, configs)


if __name__ == "__main__":
    main()
