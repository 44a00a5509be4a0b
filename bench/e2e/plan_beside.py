#!/usr/bin/env python3
"""How far is `shoal plan` from what was measured?

Reads a compare.json of `shoal bench compare`. For each model, network and number
of hosts it puts what `shoal plan` predicts from the cells of 1 and 2 hosts beside
the measured speed of each mode: the median of the runs of each computed cell that
is not grey, has no slow host and no backup workers. Then it says how large the
median and the worst error are, and how often the plan names the fastest mode where
the measured lead over the second is above 10 %: of all these leads, and of those that
are none by chance, because no run of another mode is as fast as the slowest run of the
fastest mode.

With --calibrate_from=OTHER.json the plan's measurements are the cells of another
comparison, such as one of another day. With --calibrate_model=NAME they are those
of one model, and all models here are planned from them, by their own flags. With
--measure each plan measures the cost of a sample of its model and batch, in one
process on this machine.

  bench/e2e/plan_beside.py [--data='DIR/tr*'] [--calibrate_from=OTHER.json]
      [--calibrate_model=NAME [--measure]] [--out=FILE.json] COMPARE.json

--data names the training data, if they are not where compare.json says: their
distinct ids are counted. --data= (empty): ids are not counted.
"""

import argparse
import json
import os
import statistics
import subprocess

import beside

LEAD = 1.1


def measured_cells(found):
    """What counts: {(model, batch, network): the cells with the same}, with their
    median samples/s and those of their runs by (mode, hosts)."""
    groups = {}
    for cell in found["cells"]:
        if (cell["grey"] or cell["compute"] != "computed" or
                cell["backup_workers"] or cell.get("straggler")):
            continue
        speeds = [run["samples_per_second"] for run in cell["runs"]
                  if run["ok"] and run["samples_per_second"]]
        if not speeds:
            continue
        key = (cell["model"], cell["batch_size"], cell["network"])
        group = groups.setdefault(key, {"cores": cell["cores_per_host"],
                                        "cells": {}, "runs": {}})
        place = cell["mode"], cell["hosts"]
        group["cells"][place] = statistics.median(speeds)
        group["runs"][place] = speeds
    return groups


def lead_of(here, runs):
    """The fastest of some modes, if its lead is large. `here`: {mode: samples/s};
    `runs`: those of each run."""
    order = sorted(here, key=here.get, reverse=True)
    if len(order) < 2 or here[order[0]] <= LEAD * here[order[1]]:
        return None
    others = [speed for mode in order[1:] for speed in runs[mode]]
    return {"fastest": order[0], "lead": here[order[0]] / here[order[1]] - 1,
            "apart": min(runs[order[0]]) > max(others)}


def right_of(leads):
    """How many of some leads are planned so."""
    return sum(lead["fastest"] == lead["planned"] for lead in leads)


def planned_speeds(args, source, flags, group, network):
    """{(mode, hosts): prediction} of the cells of a group."""
    planned = {}
    # A plan has the powers of two and the number that it is asked for.
    for hosts in sorted({hosts for _, hosts in group["cells"]}, reverse=True):
        if any(hosts == number for _, number in planned):
            continue
        command = [
            os.path.join(args.bin, "shoal"), "plan", "--json",
            f"--cluster=hosts={hosts},cores={group['cores']:g},"
            f"network={network}", f"--compare={source}", *flags]
        text = subprocess.run(command, check=True, capture_output=True,
                              text=True).stdout
        for entry in json.loads(text)["predictions"]:
            planned[entry["mode"], entry["hosts"]] = entry
    return planned


def flags_of(args, found, model, batch, batches):
    """The flags of `shoal plan` for this model, which has cells of these
    batches."""
    flags = [f"--compare_model={args.calibrate_model or model}"]
    own = dict(found["models"][model]["flags"])
    if args.data is not None:
        own["training_data_dir"] = args.data
    other = args.calibrate_model or args.calibrate_from
    if not own.get("training_data_dir"):
        own.pop("training_data_dir", None)
        if not other:
            own = {}
    if other or len(batches) > 1:
        own["batch_size"] = str(batch)
    flags += [f"--{name}={value}" for name, value in own.items()]
    return flags + (["--measure"] if args.measure else [])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("compare")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--data")
    parser.add_argument("--calibrate_from")
    parser.add_argument("--calibrate_model")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--out")
    args = parser.parse_args()
    if args.measure and not args.calibrate_model:
        parser.error("--measure is for --calibrate_model")
    if args.measure and args.data == "":
        parser.error("--measure trains, so it needs the data")
    found = beside.read(args.compare)
    source = args.calibrate_from or args.compare
    groups = measured_cells(found)
    rows, leads = [], []
    for (model, batch, network), group in sorted(groups.items()):
        if network == "none":
            continue
        batches = {key[1] for key in groups if key[0] == model}
        alone = groups.get((model, batch, "none"), {"cells": {}, "runs": {}})
        # One host has no network: its cells come with the first one.
        first = network == min(key[2] for key in groups
                               if key[:2] == (model, batch) and key[2] != "none")
        cells, runs = ({**group[key], **(alone[key] if first else {})}
                       for key in ("cells", "runs"))
        planned = planned_speeds(
            args, source, flags_of(args, found, model, batch, batches),
            {"cores": group["cores"], "cells": cells}, network)
        for hosts in sorted({hosts for _, hosts in cells}):
            here = {mode: speed for (mode, n), speed in cells.items()
                    if n == hosts}
            words = []
            for mode, speed in here.items():
                entry = planned[mode, hosts]
                error = entry["samples_per_second"] / speed - 1
                rows.append({"model": model, "batch_size": batch,
                             "network": network if hosts > 1 else "none",
                             "hosts": hosts, "mode": mode, "measured": speed,
                             "planned": entry["samples_per_second"],
                             "limit": entry["limit"], "error": error})
                words.append(f"{mode} {100 * error:+.1f} %")
            text = f"{model} {batch} {network} {hosts}: " + ", ".join(words)
            lead = lead_of(here, {mode: runs[mode, hosts] for mode in here})
            if lead:
                best = max(here, key=lambda mode: planned[
                    mode, hosts]["samples_per_second"])
                leads.append({"model": model, "batch_size": batch,
                              "network": network, "hosts": hosts,
                              "planned": best, **lead})
                text += (f"; {lead['fastest']} leads by {100 * lead['lead']:.0f}"
                         f" %{'' if lead['apart'] else ' (spreads overlap)'}, "
                         f"planned: {best}")
            print(text)
    errors = sorted(abs(row["error"]) for row in rows)
    more = sorted(abs(row["error"]) for row in rows if row["hosts"] > 2)
    worst = max(rows, key=lambda row: abs(row["error"]))
    right = right_of(leads)
    apart = [lead for lead in leads if lead["apart"]]
    result = {"median": statistics.median(errors),
              "median_of_more_than_2_hosts":
                  statistics.median(more) if more else None,
              "worst": errors[-1], "cells": len(errors),
              "leads": len(leads), "leads_right": right,
              "leads_apart": len(apart), "leads_apart_right": right_of(apart)}
    print(f"{len(errors)} cells: median {100 * result['median']:.1f} %"
          + (f", of {len(more)} with more than 2 hosts "
             f"{100 * result['median_of_more_than_2_hosts']:.1f} %"
             if more else "")
          + f"; worst {100 * worst['error']:+.1f} % ({worst['model']} "
          f"{worst['mode']}, {worst['hosts']} hosts, {worst['network']}); "
          f"fastest mode right in {right} of {len(leads)}, where spreads do not "
          f"overlap in {right_of(apart)} of {len(apart)}")
    if args.out:
        result.update(compare=os.path.basename(args.compare),
                      calibrated_from=os.path.basename(source),
                      calibrated_model=args.calibrate_model,
                      sample_measured=args.measure,
                      cpu=found["cpu"], rows=rows, lead_cells=leads)
        beside.write(args.out, result)


if __name__ == "__main__":
    main()
