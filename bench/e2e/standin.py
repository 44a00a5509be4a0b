#!/usr/bin/env python3
"""Does the compute stand-in take the time of the real thing?

Runs a job of speed.py that computes and records how long it does
(--record_compute), and the same job by these times (--compute=replay), in
turns. Prints the time of a worker's step of both, by the workers' own clocks
(shoal_worker_step_seconds_total), state by state, and the ratio of the two. The
ratio should be within 5 % of 1 where each worker has a core of its own:
otherwise the replay waits for no core, and is faster.

  bench/e2e/standin.py [--jobs=shoal-ring-2] [--repeats=3] [--out=FILE.json]

Exits with 1 if the median ratio of a case is not within 5 % of 1, or if samples
were lost.
"""

import json
import os
import statistics
import sys
import tempfile

import step_profile
import timed_window
import training_job
from quality import cpu_name

LIMIT = 0.05


def window(args, kind, net, batch, flags):
    """One job: its speed, the time line of its steps, its summary."""
    with training_job.Job(args, kind, net, batch, instead=flags) as job:
        job.warm_up()
        before = [timed_window.metrics(port) for port in job.worker_ports]
        found = job.measure(args.window)
        after = [timed_window.metrics(port) for port in job.worker_ports]
        summary = job.summary()
    lines = [step_profile.time_line(*ends) for ends in zip(before, after)]
    states = {state: statistics.mean(line["states_ms"][state]
                                     for line in lines)
              for state in lines[0]["states_ms"]}
    if summary["samples"]["lost"] or summary["samples"]["rejected"]:
        sys.exit(f"samples were lost or rejected: {summary['samples']}")
    return {"step_ms": sum(states.values()), "states_ms": states,
            "samples_per_second": found["samples_per_second"],
            "cores": found["cores"], "others_cores": found["others_cores"],
            "window_seconds": found["window_seconds"],
            "replayed": summary["compute"]["replayed"]}


def read_profile(path):
    """How long the recorded steps computed, in ms, and what is recorded."""
    with open(path) as file:
        profile = json.load(file)
    times = sorted(step["ns"] / 1e6 for step in profile["steps"])
    return {"mean_ms": statistics.mean(times),
            "median_ms": statistics.median(times),
            "least_ms": times[0], "most_ms": times[-1],
            "steps": len(times), "steps_seen": profile["steps_seen"],
            "ranges": len(profile["steps"][0]["final"]),
            "machine": profile["machine"]}


def turn(args, kind, net, batch, directory):
    """The real thing, then the stand-in."""
    path = os.path.join(directory, "profile.json")
    real = window(args, kind, net, batch, [f"--record_compute={path}"])
    record = read_profile(path)
    standin = window(args, kind, net, batch,
                     ["--compute=replay", f"--compute_profile={path}"])
    assert standin["replayed"] and not real["replayed"]
    return {"real": real, "standin": standin, "record": record,
            "ratio": standin["step_ms"] / real["step_ms"],
            # The steps of the window, against the steps of the record.
            "compute_ratio": (standin["states_ms"]["compute"] /
                              record["mean_ms"])}


def print_turn(kind, net, batch, found):
    real, standin = found["real"], found["standin"]
    noisy = max(real["others_cores"], standin["others_cores"])
    mark = " !" if noisy > timed_window.NOISY_CORES else ""
    print(f"{kind}, model {net}, batch {batch}: a step takes "
          f"{real['step_ms']:.2f} ms, of the stand-in "
          f"{standin['step_ms']:.2f} ms, ratio {found['ratio']:.3f}; compute "
          f"{found['compute_ratio']:.4f} of the record; others used "
          f"{noisy:.2f} cores{mark}")
    for state, ms in real["states_ms"].items():
        other = standin["states_ms"].get(state, 0)
        if ms + other > 0:
            print(f"  {state:11}{ms:9.3f} ms {other:9.3f} ms")
    sys.stdout.flush()


def measure(args, kind, net, batch):
    turns = []
    for _ in range(args.repeats):
        with tempfile.TemporaryDirectory() as directory:
            turns.append(turn(args, kind, net, batch, directory))
        print_turn(kind, net, batch, turns[-1])
    ratios = sorted(found["ratio"] for found in turns)
    ratio = {"median": statistics.median(ratios), "least": ratios[0],
             "most": ratios[-1]}
    print(f"{kind}, model {net}, batch {batch}: ratio {ratio['median']:.3f} "
          f"[{ratio['least']:.3f}..{ratio['most']:.3f}]", flush=True)
    return {"job": kind, "net": net, "batch": batch, "ratio": ratio,
            "turns": turns}


def main():
    parser = training_job.flags_of(__doc__)
    parser.add_argument("--jobs", default="shoal-ring-2")
    parser.add_argument("--models", default="A,B")
    parser.add_argument("--batches", default="1024")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--window", type=float, default=8,
                        help="seconds of a window")
    parser.add_argument("--out", help="write the results to this JSON file")
    args = training_job.parse(parser)
    training_job.make_data(args, "tfrecord")
    cases = [measure(args, kind, net, int(batch))
             for kind in args.jobs.split(",")
             for net in args.models.split(",")
             for batch in args.batches.split(",")]
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"cpu": cpu_name(), "cores": os.cpu_count(),
                       "command": training_job.command_line(),
                       "step_ms": "mean over the workers of the time of a "
                                  "step, by state; mean over the window",
                       "ratio": "step_ms of the stand-in / of the real thing",
                       "compute_ratio": "compute state of the stand-in / mean "
                                        "of the recorded steps",
                       "cases": cases}, file, indent=1)
            file.write("\n")
    return 1 if any(abs(case["ratio"]["median"] - 1) > LIMIT
                    for case in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
