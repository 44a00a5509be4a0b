#!/usr/bin/env python3
"""How much of the ring's dense reduction is hidden under the backward pass?

Ranks in network namespaces, joined by links of 1 Gbit/s, with the compute
stand-in (--compute=replay) on the time lines of a real run on one core, which
the script records first. Links of 10 Gbit/s are played as 1 with ten times the
compute (--compute_scale=10). For each net, number of ranks and rate:

  step        wall time of a step with the overlap
  apart       wall time of a step without it (--clip_norm=1e30, which clips
              nothing, but lets no sum begin before the whole gradient is there)
  reduction   2 (N - 1) / N x bytes of the dense gradient ÷ what a bare stream
              reached on the link just before
  hidden      (apart - step) ÷ reduction. Above 1 if `apart` has
              waits that `reduction` does not count, or was disturbed
  most        the share that could be hidden at best: ranges of the gradient are
              sent in the order and at the times at which the recorded steps have
              them final, and nothing else takes time

Each is measured --repeats times, with and without overlap in turns; the figures
are medians, and the least and most hidden share are given beside them. Exits
with 1 if a hidden share is more than .10 below the most, or if that of model A
on 10 Gbit/s is below .75. Needs root (namespaces, tc).

  bench/e2e/overlap.py [--models=A,B] [--ranks=2,4] [--repeats=3]
      [--out=FILE.json]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import training_job
from quality import cpu_name

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tests", "e2e"))
import namespaces  # noqa: E402 (found by the line above)

NET = "10.213.48"  # private to the namespaces
PLAYED = 1e9  # bit/s of the links
BATCH = 1024
APART = ["--clip_norm=1e30"]
SENDER = """
import socket, sys, time
s = socket.create_connection((sys.argv[1], 7001))
end, sent, block = time.monotonic() + 2, 0, bytes(1 << 20)
while time.monotonic() < end:
    sent += s.send(block)
"""
RECEIVER = """
import socket, sys, time
l = socket.create_server((sys.argv[1], 7001))
print("listens", flush=True)
s = l.accept()[0]
got, first = 0, time.monotonic()
while part := s.recv(1 << 20):
    now = time.monotonic()
    if now < first + .5:  # until the windows are open
        begin = now
    else:
        got += len(part)
print(8 * got / (now - begin))
"""


def record(args, net, path):
    """Writes the time lines of a real run on one core to the file."""
    rows = os.path.join(args.data, "tfrecord", "tr-00000*")
    ran = subprocess.run(
        [os.path.join(args.bin, "shoal"), "train",
         f"--training_data_dir={rows}", f"--record_compute={path}",
         *training_job.job_flags(args, net, BATCH)], capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {args.core}))
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    with open(path) as file:
        return json.load(file)


def most_hidden(profile, seconds_a_float, scale):
    """The largest share of the reduction that the time lines let hide."""
    shares = []
    for step in profile["steps"]:
        total = step["ns"] * 1e-9 * scale
        free = 0  # when the link has sent all ranges so far
        for begin, end, at in step["final"]:
            free = max(free, at * 1e-9 * scale) + (
                end - begin) * seconds_a_float
        reduction = profile["dense_floats"] * seconds_a_float
        shares.append(1 - min(1, max(0, free - total) / reduction))
    return sum(shares) / len(shares)


class Lab:
    """Hosts in namespaces with shaped links."""

    def __init__(self, count):
        self.network = namespaces.Network(NET, count)

    def __enter__(self):
        self.network.make()
        rate = ["root", "tbf", "rate", f"{PLAYED:.0f}bit", "burst", "128kb",
                "latency", "20ms"]
        for i, name in enumerate(self.network.names):
            for host, device in ((name, "eth0"),
                                 (self.network.hub, f"port{i}")):
                subprocess.run(["tc", "-n", host, "qdisc", "add", "dev",
                                device, *rate], check=True)
        return self

    def __exit__(self, *_):
        self.network.remove()

    def stream(self):
        """bit/s of a bare stream from host 0 to host 1."""
        receiver = subprocess.Popen(
            [*self.network.on(1), sys.executable, "-c", RECEIVER,
             self.network.addresses[1]], stdout=subprocess.PIPE, text=True)
        receiver.stdout.readline()
        subprocess.run([*self.network.on(0), sys.executable, "-c", SENDER,
                        self.network.addresses[1]], check=True)
        return float(receiver.communicate(timeout=30)[0])

    def step_seconds(self, args, net, profile, scale, more):
        """Seconds of a step of a job with a rank on each host."""
        ranks = len(self.network.names)
        with tempfile.TemporaryDirectory() as directory:
            token = os.path.join(directory, "token")
            summary = os.path.join(directory, "summary.json")
            with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600),
                      "w") as file:
                file.write("a-token-of-the-lab\n")
            rows = os.path.join(args.data, "tfrecord",
                                f"tr-0000[0-{ranks // 2 - 1}]*")
            hosts = ",".join([self.network.addresses[0] + ":2223",
                              *self.network.addresses[1:]])
            processes = [subprocess.Popen(
                [*self.network.on(i),
                 os.path.abspath(os.path.join(args.bin, "shoal-worker")),
                 "--mode=ring", f"--task_index={i}",
                 f"--worker_hosts={hosts}", f"--token_file={token}",
                 f"--training_data_dir={rows}", "--compute=replay",
                 f"--compute_profile={profile}", f"--compute_scale={scale}",
                 "--warmup_steps=8", f"--summary={summary}", *more,
                 *training_job.job_flags(args, net, BATCH)],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for i in range(ranks)]
            for process in processes:
                errors = process.communicate(timeout=300)[1]
                if process.returncode != 0:
                    sys.exit(errors)
            with open(summary) as file:
                steady = json.load(file)["steady"]
        return steady["wall_seconds"] / steady["samples"] * BATCH * ranks


def measure(args, net, ranks, scale, recorded, path):
    steps, aparts = [], []
    with Lab(ranks) as lab:
        stream = lab.stream()
        for _ in range(args.repeats):
            steps.append(lab.step_seconds(args, net, path, scale, []))
            aparts.append(lab.step_seconds(args, net, path, scale, APART))
    seconds_a_float = 2 * (ranks - 1) / ranks * 32 / stream
    reduction = recorded["dense_floats"] * seconds_a_float
    hidden = sorted((apart - step) / reduction
                    for step, apart in zip(steps, aparts))
    run = {"net": net, "ranks": ranks, "gbit": PLAYED * scale / 1e9,
           "stream": stream, "step": statistics.median(steps),
           "apart": statistics.median(aparts), "reduction": reduction,
           "hidden": statistics.median(hidden), "hidden_least": hidden[0],
           "hidden_most": hidden[-1],
           "most": most_hidden(recorded, seconds_a_float, scale)}
    print(f"model {net}, {ranks} ranks, {run['gbit']:g} Gbit/s: stream "
          f"{stream / PLAYED:.3f} of the link, step {1e3 * run['step']:.1f} "
          f"ms, apart {1e3 * run['apart']:.1f}, reduction "
          f"{1e3 * reduction:.1f}; hidden {run['hidden']:.2f} "
          f"[{hidden[0]:.2f}..{hidden[-1]:.2f}], at most {run['most']:.2f}",
          flush=True)
    return run


def main():
    parser = training_job.flags_of(__doc__)
    parser.add_argument("--models", default="A,B")
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--scales", default="1,10",
                        help="factors of the compute; the links play so many "
                        "Gbit/s")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", help="write the results to this JSON file")
    args = training_job.parse(parser)
    reason = namespaces.why_not()
    if reason:
        sys.exit(reason)
    training_job.make_data(args, "tfrecord")
    runs = []
    with tempfile.TemporaryDirectory() as directory:
        for net in args.models.split(","):
            path = os.path.join(directory, net)
            recorded = record(args, net, path)
            runs += [measure(args, net, int(ranks), int(scale), recorded, path)
                     for ranks in args.ranks.split(",")
                     for scale in args.scales.split(",")]
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"cpu": cpu_name(), "cores": os.cpu_count(),
                       "command": training_job.command_line(), "runs": runs},
                      file, indent=1)
            file.write("\n")
    short = [run for run in runs if run["hidden"] < run["most"] - .1 or
             (run["net"], run["gbit"]) == ("A", 10) and run["hidden"] < .75]
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
