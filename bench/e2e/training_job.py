"""A training job of Shoal to measure: nets A and B on synthetic rows, in one
process on one core, or with 2 workers in one of the modes.
"""

import argparse
import json
import os
import random
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import timed_window
from quality import cpu_name, generate

FIELDS, IDS, TEST_ROWS = 39, 1_000_000, 100_000
FILES = 8
WINDOW_FILES = "tr-0000[01]*"  # rows that are trained over and over for speed
NETS = {"A": (16, (400, 400, 400)), "B": (32, (256, 128, 64))}
# For each job: its command, and its numbers of servers and workers, which are
# processes of their own; no servers and one worker are one process.
JOBS = {
    "shoal-one": (["train"], 0, 1),
    "shoal-2+2": (["run", "--ps=2", "--workers=2"], 2, 2),
    "shoal-sync-2+2": (["run", "--ps=2", "--workers=2", "--mode=sync"], 2, 2),
    "shoal-ring-2": (["run", "--workers=2", "--mode=ring"], 0, 2),
    "shoal-hybrid-2+2": (["run", "--ps=2", "--workers=2", "--mode=hybrid"], 2,
                         2),
}


def flags_of(doc):
    """A parser for the flags of make_data and Job."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--rows", type=int, default=1 << 20)
    parser.add_argument("--data",
                        help="directory that keeps the rows between runs")
    parser.add_argument("--core", type=int,
                        default=max(os.sched_getaffinity(0)),
                        help="core for sgemm and for single processes")
    parser.add_argument("shoal_flags", nargs="*",
                        help="after --: more flags for Shoal's jobs")
    return parser


def parse(parser):
    args = parser.parse_args()
    args.data = os.path.abspath(args.data or os.path.join(
        tempfile.gettempdir(), f"shoal-speed-{args.rows}"))
    return args


def command_line():
    """The command line, without the paths of this machine."""
    paths = ("--bin", "--data", "--out", "--tf_python", "--torch_python")
    given = [flag for flag in sys.argv[1:] if not flag.startswith(paths)]
    return shlex.join(["bench/e2e/" + os.path.basename(sys.argv[0]), *given])


def add_choice(parser, jobs, window):
    """Adds the flags of measure_all; `jobs` are the default ones."""
    parser.add_argument("--jobs", default=",".join(jobs))
    parser.add_argument("--models", default="A,B")
    parser.add_argument("--batches", default="1024,4096")
    parser.add_argument("--window", type=float, default=window,
                        help="seconds of a window")
    parser.add_argument("--out", help="write the results to this JSON file")


def measure_all(args, name, measure):
    """Makes the rows and calls measure(args, job, net, batch) for the jobs,
    nets and batches of the flags. Returns the list of its results, which is
    written to --out under this name."""
    make_data(args, "tfrecord")
    results = [measure(args, kind, net, int(batch))
               for kind in args.jobs.split(",")
               for net in args.models.split(",")
               for batch in args.batches.split(",")]
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"cpu": cpu_name(), "cores": os.cpu_count(),
                       "command": command_line(), name: results},
                      file, indent=1)
            file.write("\n")
    return results


def flop_per_sample(net):
    dim, layers = NETS[net]
    widths = (FIELDS * dim, *layers, 1)
    return 6 * sum(a * b for a, b in zip(widths, widths[1:]))


def window_rows(args):
    return args.rows // FILES * 2


def make_data(args, form):
    """Makes the rows unless they exist, and reads them once, so that they are
    in the page cache. Returns the content of their _meta.json."""
    out = os.path.join(args.data, form)
    meta = os.path.join(out, "_meta.json")
    if not os.path.exists(meta):
        shutil.rmtree(out, ignore_errors=True)
        generate(os.path.join(args.bin, "shoal"), out, rows=args.rows,
                 test_rows=TEST_ROWS, files=FILES, fields=FIELDS,
                 numeric_fields=13, ids=IDS, zipf=1.2, format=form)
    with open(meta) as file:
        made = json.load(file)
    if (made["rows"], made["test_rows"]) != (args.rows, TEST_ROWS):
        sys.exit(f"{args.data} holds other rows: remove it")
    for name in os.listdir(out):
        with open(os.path.join(out, name), "rb") as file:
            while file.read(1 << 24):
                pass
    return made


def variant(text):
    """(name, flags) of NAME:FLAGS; flags are separated by spaces."""
    name, _, rest = text.partition(":")
    flags = shlex.split(rest)
    if not re.fullmatch(r"[\w.+-]+", name):
        raise argparse.ArgumentTypeError(f"{text}: no name before the colon")
    if not flags or not all(flag.startswith("--") for flag in flags):
        raise argparse.ArgumentTypeError(
            f"{text}: flags of Shoal, --FLAG=VALUE, must follow the colon")
    return name, flags


def job_flags(args, net, batch, instead=()):
    """The flags of a job. Flags in `instead` replace those of the same name."""
    dim, layers = NETS[net]
    flags = [f"--feature_size={IDS}", f"--field_size={FIELDS}",
            f"--embedding_size={dim}",
            "--deep_layers=" + ",".join(map(str, layers)),
            "--optimizer=adam", "--learning_rate=1e-3",
            "--table_optimizer=adagrad", "--table_learning_rate=0.02",
            "--adagrad_initial_accumulator=0.1", f"--batch_size={batch}",
            "--print_config=false", "--log_level=error", *args.shoal_flags]
    names = {flag.split("=")[0] for flag in instead}
    return [flag for flag in flags if flag.split("=")[0] not in names] + [
        *instead]


def free_ports(count):
    """The first of `count` consecutive free ports."""
    while True:
        first = random.randrange(20000, 32000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue


def sgemm_rate(args):
    """FLOP/s of sgemm on one thread."""
    ran = subprocess.run(
        [os.path.join(args.bin, "models_bench"), "--benchmark_format=json",
         "--benchmark_filter=Sgemm1024/onednn", "--benchmark_min_time=0.5"],
        check=True, capture_output=True, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {args.core}))
    return json.loads(ran.stdout)["benchmarks"][0]["GFLOP/s"] * 1e9


class Job:
    """A job that trains while the `with` block runs and ends with the block. It
    trains on the rows of WINDOW_FILES over and over or, if `to_the_end`, once
    on all rows, and is then evaluated. Flags in `instead` replace others."""

    def __init__(self, args, kind, net, batch, to_the_end=False, instead=()):
        self.args, self.batch = args, batch
        command, self.num_servers, workers = JOBS[kind]
        self.port = free_ports(self.num_servers + workers)  # for metrics
        self.worker_ports = [self.port + self.num_servers + i
                             for i in range(workers)]
        pin = {args.core} if workers == 1 else os.sched_getaffinity(0)
        self.counts = [timed_window.examples_of(port)
                       for port in self.worker_ports]
        self.directory = tempfile.TemporaryDirectory()
        self.summary_path = os.path.join(self.directory.name, "summary.json")
        rows = os.path.join(args.data, "tfrecord")
        if to_the_end:
            command = [*command, f"--training_data_dir={rows}/tr*",
                        f"--val_data_dir={rows}/te*"]
        else:
            command = [*command, f"--training_data_dir={rows}/{WINDOW_FILES}",
                        "--num_epochs=100000"]
        command += [f"--metrics_port={self.port}",
                    f"--summary={self.summary_path}",
                    *job_flags(args, net, batch, instead)]
        self.process = subprocess.Popen(
            [os.path.join(args.bin, "shoal"), *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, pin))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        timed_window.end_by_signal(self.process)
        self.directory.cleanup()

    def check(self):
        if self.process.poll() is not None:
            raise RuntimeError(
                "ended before its window: " + self.process.stderr.read())

    def warm_up(self):
        """Waits for one whole pass, after which all used rows of the table
        exist."""
        timed_window.wait_until(
            lambda: sum(count() for count in self.counts) >=
            window_rows(self.args), "the first pass", time.monotonic() + 300,
            self.check, every=0.2)

    def servers(self):
        """The processes that are only parameter servers."""
        found = []
        for pid in timed_window.process_tree([self.process.pid]):
            with open(f"/proc/{pid}/comm") as file:
                if file.read().strip() == "shoal-ps":
                    found.append(pid)
        return found

    def measure(self, seconds):
        extra = ([("servers_cpu_us", self.servers())] if self.num_servers
                 else [])
        return timed_window.measure([self.process.pid], self.counts, seconds,
                                    self.check, extra)

    def wait(self):
        """Waits for the end of the data."""
        if self.process.wait(600) != 0:
            raise RuntimeError(self.process.stderr.read())

    def summary(self):
        """Ends the job if it runs. Returns its summary (docs/summary.md)."""
        timed_window.end_by_signal(self.process)
        with open(self.summary_path) as file:
            return json.load(file)
