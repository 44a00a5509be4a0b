#!/usr/bin/env python3
"""How many bytes does a step send, compared with the formulas?

Runs the jobs of speed.py with 2 workers. Over a window of steady work it adds
up what the kernel sent on all TCP connections of a job (`ss`, of Debian's
iproute2), and prints it beside the formula of the mode, in bytes a step and
worker:

  ring         2 (N - 1) / N x D + (N - 1) x R x (8 + 4 F)
  hybrid       2 (N - 1) / N x D + R x (8 + 4 F) + R x (8 + 4 F)
  async, sync  2 D + R x (8 + 4 F) + R x (8 + 4 F)

D is the bytes of all dense variables, which a worker of a job with servers
pulls and pushes once a step, and ranks of a ring or of hybrid sum. R is the mean number of
distinct ids of a batch, as the servers counted them, and F the floats of a row:
an id is sent with a pull, its row comes back, and the id is sent again with its
gradient. Headers of frames and messages, heartbeats and metrics are in what is
measured and not in the formulas. Exits with 1 if a ratio is not within 5 % of 1.

  bench/e2e/bytes.py [--jobs=shoal-ring-2] [--out=FILE.json]
"""

import re
import subprocess
import sys
import time

import timed_window
import training_job

RANKS = 2
LIMIT = 0.05


def formula(kind, net, rows):
    dim, layers = training_job.NETS[net]
    widths = (training_job.FIELDS * dim, *layers, 1)
    # Weights and biases of the layers, and the model's own bias.
    dense = 4 * (sum(a * b + b for a, b in zip(widths, widths[1:])) + 1)
    row = rows * (8 + 4 * (dim + 1))
    reduced = 2 * (RANKS - 1) / RANKS * dense
    if kind.startswith("shoal-ring"):
        return reduced + (RANKS - 1) * row
    if kind.startswith("shoal-hybrid"):
        return reduced + 2 * row
    return 2 * dense + 2 * row


def sent_bytes(pids):
    """Bytes that the connections of these processes have sent so far."""
    text = subprocess.run(["ss", "-tinpH"], check=True, capture_output=True,
                          text=True).stdout.splitlines()
    total = 0
    for head, facts in zip(text, text[1:]):
        owner = re.search(r"pid=(\d+)", head)
        if owner and int(owner[1]) in pids:
            total += int((re.search(r"bytes_sent:(\d+)", facts) or [0, 0])[1])
    return total


def counted(job, pids):
    """(bytes sent, batches trained, distinct ids looked up) so far."""
    pages = [timed_window.metrics(port)
             for port in range(job.port, job.worker_ports[-1] + 1)]
    return (sent_bytes(pids), *(
        sum(value for page in pages for key, value in page.items()
            if key.startswith(name))
        for name in ("shoal_worker_batches_total", "shoal_ps_lookups_total")))


def measure(args, kind, net, batch):
    with training_job.Job(args, kind, net, batch) as job:
        job.warm_up()
        pids = set(timed_window.process_tree([job.process.pid]))
        first = counted(job, pids)
        time.sleep(args.window)
        last = counted(job, pids)
    grown = [after - before for before, after in zip(first, last)]
    sent, rows = grown[0] / grown[1], grown[2] / grown[1]
    wanted = formula(kind, net, rows)
    print(f"{kind}, model {net}, batch {batch}: {sent:,.0f} bytes a step and "
          f"worker, formula {wanted:,.0f}, ratio {sent / wanted:.3f}; "
          f"{rows:,.0f} rows a batch", flush=True)
    return {"job": kind, "net": net, "batch": batch, "bytes": sent,
            "formula": wanted, "ratio": sent / wanted, "rows": rows}


def main():
    parser = training_job.flags_of(__doc__)
    training_job.add_choice(
        parser, [kind for kind, job in training_job.JOBS.items()
                 if job[2] == RANKS], window=4)
    runs = training_job.measure_all(training_job.parse(parser), "runs", measure)
    return 1 if any(abs(run["ratio"] - 1) > LIMIT for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
