#!/usr/bin/env python3
"""How long does a job of sync, ring or hybrid stand still when it loses a worker?

Real processes train the linear probe as fast as they can, with --silent_after=3s.
One of them is killed, frozen, or cut off by nftables (in network namespaces; needs
root and nft), and comes back where the mode lets it. From the times in the log:

  named       seconds from the kill, freeze or cut until the coordinator names the
              worker. Killed: 1 s at most; otherwise --silent_after + 1 s
  next step   seconds from there until another worker has trained its next batch.
              The aim is 1 s at most
  back        sync: seconds from the kill until the new process has trained a batch
  thawed      a freeze shorter than --silent_after: seconds from its end until the
              next batch

Sync and hybrid have two servers.

Then one worker of three stands still for 1 s, five times: how many steps the first
worker does meanwhile and how long it waits at most, in sync, with one backup
worker, and in ssp with a bound of 2 steps.

  bench/e2e/failures.py [--runs=5] [--out=FILE.json]

Exits with 1 if a limit or the aim is missed.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.environ.setdefault("SHOAL_BIN", os.path.join(ROOT, "build/release/bin"))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import harness  # noqa: E402 (found by the lines above)
import namespaces  # noqa: E402
from cluster import PROBE, Cluster  # noqa: E402
from launched import Launched  # noqa: E402
from quality import cpu_name  # noqa: E402

NET = "10.213.50"  # private to the namespaces
ROWS, EPOCHS = 20000, 100000  # more than any run lasts
SILENT_AFTER = 3  # seconds
FREEZES = {1: 5, 2: 5, 5: 5, 10: 1, 20: 1}  # runs, by seconds
BOUND = 2
# No epoch ends within a second: then all workers wait for the slow one.
LONG_ROWS = 320000
FLAGS = [*PROBE, f"--num_epochs={EPOCHS}",
         f"--silent_after={SILENT_AFTER}s", f"--ps_lease={SILENT_AFTER}s",
         "--shutdown_timeout=1s", "--progress_every=100ms"]
# A batch of this worker has ended.
STEP = "push done "
# A process that no launcher started tells its own name in each line.
WARNING = r"warning (\[.*\] )?"


class Bench(harness.ShoalTest):
    """The directory and the processes of one run."""

    def runTest(self):
        """It is no test."""

    def data(self, rows=ROWS):
        return self.write("data/tr.libsvm", harness.linear_rows(rows))


def first(process, pattern, start, timeout=60):
    """(index, time) of the first line from `start` on with the pattern."""
    index = process.wait_for_line(re.compile(pattern), timeout, start)
    return index, harness.time_of(process.lines[index])


def step_after(process, pattern, start, when):
    """The time of the first such line that was written after `when`. Lines of
    two processes may come in another order than they were written."""
    while True:
        start, time_of_it = first(process, pattern, start)
        if time_of_it >= when:
            return time_of_it
        start += 1


def named_and_next(process, victim, began, start, prefix):
    """What the log of the coordinator and of the others says of a loss."""
    index, named = first(process, WARNING + rf"worker {victim} (died|was silent)",
                         start)
    index, changed = first(process, r"the job goes on with \d+ workers?, .* after",
                           index)
    step = step_after(process, prefix + STEP, start, changed)
    return {"named": named - began, "next": step - named}


def launch(bench, *flags):
    job = Launched(bench, *FLAGS, "--batch_size=64",
                   "--training_data_dir=" + bench.data(), *flags)
    job.process.wait_for_line(harness.TRAINED)
    return job


OTHERS = r"^worker [02] .*"  # worker 1 is lost
RING = ["--mode=ring", "--workers=3"]
SYNC = ["--mode=sync", "--ps=2", "--workers=3"]
HYBRID = ["--mode=hybrid", "--ps=2", "--workers=3"]


def killed(bench, *flags):
    job = launch(bench, *flags)
    pid, start = job.pid("shoal-worker", 1), len(job.process.lines)
    began = time.time()
    os.kill(pid, signal.SIGKILL)
    return named_and_next(job.process, 1, began, start, OTHERS)


def frozen(bench, seconds, *flags):
    job = launch(bench, *flags)
    pid, start = job.pid("shoal-worker", 1), len(job.process.lines)
    began = time.time()
    os.kill(pid, signal.SIGSTOP)
    figures = {}
    if seconds > SILENT_AFTER:
        figures = named_and_next(job.process, 1, began, start, OTHERS)
    time.sleep(max(0, began + seconds - time.time()))
    thawed, start = time.time(), len(job.process.lines)
    os.kill(pid, signal.SIGCONT)
    if seconds > SILENT_AFTER:
        # A worker of sync comes back as a new life.
        first(job.process, "worker 1 (.*this process was taken for dead|joined)",
              start)
    else:
        figures["thawed"] = step_after(job.process, OTHERS + STEP, start,
                                       thawed) - thawed
    return figures


def cut_off(network, host):
    """Returns the time."""
    began = time.time()
    subprocess.run(
        [*network.on(host), "nft", "-f", "-"], check=True, text=True,
        input="table inet cut {\n"
        "  chain in { type filter hook input priority 0; policy drop; }\n"
        "  chain out { type filter hook output priority 0; policy drop; }\n"
        "}\n")
    return began


def ring_cut_off(bench):
    network = namespaces.Network(NET, 3)
    try:
        network.make()
        token, data = bench.token_file(), bench.data()
        hosts = [network.addresses[0] + ":2223", *network.addresses[1:]]
        ranks = [bench.start(
            f"rank {i}", "shoal-worker", *FLAGS, "--batch_size=64", "--mode=ring",
            "--log_level=debug", f"--task_index={i}",
            "--worker_hosts=" + ",".join(hosts), "--token_file=" + token,
            "--training_data_dir=" + data, prefix=network.on(i))
            for i in range(3)]
        ranks[0].wait_for_line(harness.TRAINED)
        start = len(ranks[0].lines)
        began = cut_off(network, 1)
        return named_and_next(ranks[0], 1, began, start, "")
    finally:
        for process in bench.processes:
            process.kill()
        network.remove()


def hybrid_cut_off(bench):
    """Servers 0 and 1 are on the hosts of workers 0 and 2."""
    network = namespaces.Network(NET, 3)
    try:
        network.make()
        token, data = bench.token_file(), bench.data()
        flags = [*FLAGS, "--batch_size=64", "--mode=hybrid", "--log_level=debug",
                 "--token_file=" + token,
                 "--ps_hosts=" + ",".join(network.addresses[i] + ":2222"
                                          for i in (0, 2)),
                 "--worker_hosts=" + ",".join(a + ":2223"
                                              for a in network.addresses)]
        servers = [bench.start(f"ps {k}", "shoal-ps", *flags, f"--task_index={k}",
                               prefix=network.on(host))
                   for k, host in enumerate((0, 2))]
        workers = [bench.start(f"rank {i}", "shoal-worker", *flags,
                               f"--task_index={i}", "--training_data_dir=" + data,
                               prefix=network.on(i)) for i in range(3)]
        servers[0].wait_for_line(harness.TRAINED)
        start, of_worker = len(servers[0].lines), len(workers[0].lines)
        began = cut_off(network, 1)
        index, named = first(servers[0], WARNING + "worker 1 (died|was silent)",
                             start)
        _, changed = first(servers[0],
                           r"the job goes on with \d+ workers?, .* after", index)
        step = step_after(workers[0], STEP, of_worker, changed)
        return {"named": named - began, "next": step - named}
    finally:
        for process in bench.processes:
            process.kill()
        network.remove()


def sync_killed(bench):
    job = launch(bench, *SYNC)
    pid, start = job.pid("shoal-worker", 1), len(job.process.lines)
    began = time.time()
    os.kill(pid, signal.SIGKILL)
    figures = named_and_next(job.process, 1, began, start, OTHERS)
    joined, _ = first(job.process, "worker 1 joined as life", start)
    _, back = first(job.process, r"^worker 1 .*" + STEP, joined)
    return {**figures, "back": back - began}


def stands_still(bench, flags):
    """Steps of worker 0 while worker 2 stands still for a second, and the
    longest time between two of them."""
    job = Cluster(bench, 2, 3, [*FLAGS, "--batch_size=16", *flags],
                  worker_flags=["--training_data_dir=" + bench.data(LONG_ROWS),
                                "--log_level=debug"])
    job.start_all()
    for worker in job.workers:
        worker.wait_for_line("push done ")
    steps, waits = [], []
    for _ in range(5):
        began = time.time()
        job.workers[2].signal(signal.SIGSTOP)
        time.sleep(1)
        job.workers[2].signal(signal.SIGCONT)
        ended = time.time()
        start = len(job.workers[0].lines)
        first(job.workers[0], "push done ", start)
        times = [began, *(when for when in
                          (harness.time_of(line) for line in list(job.workers[0].lines)
                           if "push done " in line)
                          if began <= when <= ended), ended]
        steps.append(len(times) - 2)
        waits.append(max(b - a for a, b in zip(times, times[1:])))
        first(job.workers[2], "push done ", len(job.workers[2].lines))
    return {"steps": steps, "longest_wait": waits}


def run(measure, *arguments):
    bench = Bench()
    bench.setUp()
    try:
        return measure(bench, *arguments)
    finally:
        bench.tearDown()


def cases(runs):
    yield "ring, killed", runs, killed, RING
    for seconds, times in FREEZES.items():
        yield (f"ring, frozen for {seconds} s", min(times, runs), frozen,
               (seconds, *RING))
    reason = namespaces.why_not()
    if reason:
        print(f"cut off: not measured: {reason}", flush=True)
    else:
        yield "ring, cut off", runs, ring_cut_off, ()
    yield "hybrid, killed", runs, killed, HYBRID
    yield "hybrid, frozen for 5 s", runs, frozen, (5, *HYBRID)
    if not reason:
        yield "hybrid, cut off", runs, hybrid_cut_off, ()
    yield "sync, killed, and back", runs, sync_killed, ()
    yield "sync, frozen for 5 s", runs, frozen, (5, *SYNC)


def text(values):
    if not values:
        return "–"
    return (f"{min(values):.2f} – {statistics.median(values):.2f} – "
            f"{max(values):.2f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    results, late = {}, []
    print("least – median – most seconds\n\n"
          "| | runs | named | next step | back or thawed |\n|---|---|---|---|---|")
    for name, runs, measure, more in cases(arguments.runs):
        figures = [run(measure, *more) for _ in range(runs)]
        columns = {key: [f[key] for f in figures if key in f]
                   for key in ("named", "next", "back", "thawed")}
        results[name] = {key: values for key, values in columns.items()
                         if values}
        print(f"| {name} | {runs} | {text(columns['named'])} | "
              f"{text(columns['next'])} | "
              f"{text(columns['back'] or columns['thawed'])} |", flush=True)
        limit = 1 if "killed" in name else SILENT_AFTER + 1
        if any(value > limit for value in columns["named"]):
            late.append(f"{name}: named later than {limit} s")
        if any(value > 1 for value in columns["next"]):
            late.append(f"{name}: the next step took more than 1 s")
    print("\n| worker 2 stands still for 1 s | steps of worker 0 meanwhile | "
          "its longest wait, s |\n|---|---|---|")
    for name, flags in (("sync", ["--mode=sync"]),
                        ("sync, --backup_workers=1",
                         ["--mode=sync", "--backup_workers=1"]),
                        (f"ssp, --ssp_bound={BOUND}",
                         ["--mode=ssp", f"--ssp_bound={BOUND}"])):
        figures = run(stands_still, flags)
        results["stands still: " + name] = figures
        print(f"| {name} | {', '.join(map(str, figures['steps']))} | "
              f"{text(figures['longest_wait'])} |", flush=True)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump({"cpu": cpu_name(), "silent_after": SILENT_AFTER,
                       "results": results}, file, indent=1)
            file.write("\n")
    for line in late:
        print("missed: " + line, file=sys.stderr)
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
