#!/usr/bin/env python3
"""Runs one peer for a while and prints its figures as a JSON line.

  bench/peers/run_peer.py --peer=tf-one --python=VENV/bin/python --data=DIR

The result is measured from outside over a window of steady work, without
start-up and warm-up (bench/e2e/timed_window.py describes the keys). Then all
processes are killed, since TensorFlow's servers never end by themselves.
"""

import argparse
import json
import mmap
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
import timed_window  # noqa: E402


class Job:
    """The processes of a peer, their logs and their counts of samples."""

    def __init__(self, args, directory):
        self.args = args
        self.directory = directory
        self.processes = []
        self.servers = []
        self.counts = []

    def count(self):
        """Makes a file for a count of samples; returns its name."""
        name = os.path.join(self.directory, f"count{len(self.counts)}")
        with open(name, "wb") as file:
            file.write(bytes(8))
        with open(name, "rb") as file:
            memory = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
        self.counts.append(lambda: struct.unpack("<q", memory[:8])[0])
        return name

    def start(self, script, *flags, trains=True, count=None, launcher=()):
        """Starts a process. A launcher gets the command as the arguments of
        `sh -c`, so that it does not take its flags for its own."""
        args = self.args
        if count is None:
            count = self.count() if trains else os.devnull
        name = os.path.join(self.directory, str(len(self.processes)))
        pin = None if args.core is None else {args.core}
        command = [args.python, os.path.join(HERE, script),
                   f"--data={args.data}", f"--progress={count}",
                   f"--net={args.net}", f"--batch={args.batch}",
                   f"--threads={args.threads}", f"--ids={args.ids}",
                   f"--epochs={args.epochs}", *flags, *args.more]
        if launcher:
            command = [*launcher, "sh", "-c", "exec " + shlex.join(command)]
        with open(name + ".log", "wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log,
                env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2"),
                preexec_fn=(lambda: os.sched_setaffinity(0, pin)) if pin
                else None)
        self.processes.append(process)
        if not trains:
            self.servers.append(process)

    def check(self):
        for i, process in enumerate(self.processes):
            if process.poll() is not None:
                with open(os.path.join(self.directory, f"{i}.log"),
                          errors="replace") as log:
                    sys.exit(f"{self.args.peer} has ended: {log.read()[-3000:]}")

    def auc(self):
        """The AUC of the worker that ends last, when all rows are trained."""
        running = [i for i, process in enumerate(self.processes)
                   if process not in self.servers]
        while running:
            time.sleep(0.1)
            ended = [i for i in running if self.processes[i].poll() is not None]
            running = [i for i in running if i not in ended]
        with open(os.path.join(self.directory, f"{ended[-1]}.log"),
                  errors="replace") as log:
            text = log.read()
        found = re.search(r"^auc ([\d.]+)", text, re.M)
        return float(found[1]) if found else sys.exit(text[-3000:])

    def kill(self):
        for process in self.processes:
            if process.poll() is None:
                for pid in timed_window.process_tree([process.pid]):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


def start_tf_ps(job):
    args = job.args
    sockets = [socket.socket() for _ in range(args.ps + args.workers)]
    for probe in sockets:
        probe.bind(("127.0.0.1", 0))
    hosts = ["127.0.0.1:%d" % probe.getsockname()[1] for probe in sockets]
    for probe in sockets:
        probe.close()
    cluster = ["--ps_hosts=" + ",".join(hosts[:args.ps]),
               "--worker_hosts=" + ",".join(hosts[args.ps:])]
    for role, count in (("ps", args.ps), ("worker", args.workers)):
        for task in range(count):
            job.start("tensorflow_deepfm.py", f"--role={role}",
                      f"--task={task}", *cluster, trains=role == "worker")


def start_horovod(job):
    args = job.args
    counts = [job.count() for _ in range(args.workers)]
    job.start("tensorflow_deepfm.py", "--role=rank", count=counts[0][:-1],
              launcher=[os.path.join(os.path.dirname(args.python),
                                     "horovodrun"),
                        "--gloo", "-np", str(args.workers),
                        "--network-interfaces", "lo"])


START = {"horovod-2": start_horovod,
         "tf-one": lambda job: job.start("tensorflow_deepfm.py"),
         "tf-ps": start_tf_ps,
         "torch-one": lambda job: job.start("pytorch_deepfm.py")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", choices=sorted(START), required=True)
    parser.add_argument("--python", required=True,
                        help="interpreter of the peer's environment")
    parser.add_argument("--data", required=True,
                        help="output directory of rows_to_npy.py")
    parser.add_argument("--net", default="A")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--ids", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--core", type=int,
                        help="core on which all processes run")
    parser.add_argument("--ps", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--window", type=float, default=6,
                        help="seconds of a window")
    parser.add_argument("--warm_batches", type=int, default=20)
    parser.add_argument("--warm_seconds", type=float, default=1)
    parser.add_argument("--epochs", type=int, default=0,
                        help="print the AUC after this many passes; no window")
    parser.add_argument("more", nargs="*",
                        help="after --: flags for the peer's script")
    args = parser.parse_args()
    if shutil.which(args.python) is None:
        parser.error(f"--python={args.python} is not a program; see README.md")
    with tempfile.TemporaryDirectory() as directory:
        job = Job(args, directory)
        try:
            START[args.peer](job)
            if args.epochs:
                print(json.dumps({"peer": args.peer, "net": args.net,
                                  "batch": args.batch, "epochs": args.epochs,
                                  "auc": job.auc()}))
                return
            timed_window.wait_until(
                lambda: all(count() >= args.warm_batches * args.batch
                            for count in job.counts),
                "the first batches", time.monotonic() + 180, job.check)
            time.sleep(args.warm_seconds)
            found = timed_window.measure(
                [process.pid for process in job.processes], job.counts,
                args.window, job.check,
                [("servers_cpu_us", [p.pid for p in job.servers])]
                if job.servers else [])
        finally:
            job.kill()
    print(json.dumps({"peer": args.peer, "net": args.net, "batch": args.batch,
                      "reached": found}))


if __name__ == "__main__":
    main()
