"""`shoal plan`: what it answers from a measurement, from a comparison and from a
file, and what it says when it cannot."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import harness

CLUSTER = "--cluster=hosts=8,cores=4,network=10gbit,latency=60us,memory=64GiB"
JOB = ["--model=fm", "--feature_size=300", "--field_size=4",
       "--embedding_size=4", "--batch_size=100"]

ALIKE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../bench/e2e/plans_alike.py")

DENSE = 2284808
ROW = 68


def served_bytes(batch, ids):
    """Bytes a sample between a worker and the servers."""
    sent = (DENSE + (16 + ROW) * ids) / batch
    received = (DENSE + ROW * ids) / batch
    return {"worker_sent": sent, "worker_received": received,
            "ps_sent": received, "ps_received": sent}


def cell(mode, hosts, gbit=1.0, batch=1024, ids=8000, **more):
    """A cell of compare.json, as docs/comparing.md says."""
    run = {"repeat": 0, "ok": True, "error": "", "seconds": 25.0,
           "link_bits_per_second": None, "link_expected": None,
           "others_cores": 0.0, "samples_per_second": 20e3 * hosts ** .9,
           "cpu_seconds_per_sample": {"worker": 17e-6,
                                      "ps": 0.0 if mode == "ring" else 4e-6},
           "bytes_per_sample": served_bytes(batch, ids),
           "state_shares": {"compute": .7, "wait_pull": .3},
           "step_seconds": {"count": 99, "mean": .02, "deviation": .001,
                            "p10": .019, "p50": .02, "p90": .021, "p99": .025,
                            "max": .03},
           "staleness": None, "peak_rss_bytes": {"worker": 2e8, "ps": 1e8},
           "balance": None, "curve": [], "auc": None, "logloss": None,
           "seconds_to_target": None, "epoch_seconds": None}
    return {"name": f"A_{mode}_{hosts}", "model": "A", "mode": mode,
            "hosts": hosts, "batch_size": batch, "global_batch": batch * hosts,
            "learning_rate": 1e-3, "network": f"{gbit}gbit",
            "bits_per_second": gbit * 1e9, "cores_per_host": 1.0,
            "compute": "computed", "backup_workers": 0, "ssp_bound": 2,
            "straggler": None, "dilation": 1.0, "grey": "", "formula": None,
            "runs": [run], **more}


def comparison(cells, table_bytes=0):
    return {"format": 1, "command": "shoal bench compare", "cpu": "a processor",
            "cores": 2, "memory_bytes": 1 << 34, "version": "0.5.0",
            "started": "2026-01-01", "ended": "2026-01-01", "where": "lab",
            "dilation": 1.0, "equal_batch": "rank", "target_auc": None,
            "price_per_host_hour": None, "repeats": 1,
            "models": {"A": {"flags": {}, "dense_bytes": DENSE,
                             "row_bytes": ROW, "flop_per_sample": 3.42e6,
                             "table_bytes": table_bytes,
                             "work": {"plain": 3.42e6, "per_sample": 2.4e6,
                                      "per_id": 61440, "most_ids": 12}}},
            "data": {"rows": 0, "files": 1}, "not_played": [],
            "cells": cells, "collective": [], "verdicts": []}


class PlanTest(harness.ShoalTest):

    def usage_error(self, *args):
        code, output = self.run_fails("shoal", "plan", *args)
        self.assertEqual(code, 2, output)
        return output

    def test_a_measurement_makes_a_plan_and_can_be_used_again(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(20000))
        file = self.path("calibration.json")
        output = self.run_ok(
            "shoal", "plan", CLUSTER, "--measure", "--measure_time=2s", *JOB,
            "--training_data_dir=" + data, "--bucket_bytes=1048576",
            "--calibration_out=" + file)
        self.assertIn("* extrapolated: no network was measured", output)
        self.assertIn("predicts speed, never AUC", output)
        with open(file) as f:
            measured = json.load(f)
        self.assertEqual(measured["bucket_bytes"], 1048576)
        ids = measured["distinct_ids"]
        self.assertEqual(ids[0]["samples"], 100)
        self.assertEqual([point["samples"] for point in ids],
                         [100 * 2 ** i for i in range(len(ids))])
        again = self.run_ok("shoal", "plan", CLUSTER, "--calibration=" + file)
        self.assertIn(again, output)

    def test_a_comparison_makes_a_plan_with_a_map(self):
        cells = [cell(mode, hosts) for hosts in (1, 2)
                 for mode in ("async", "sync", "ring", "hybrid")]
        # What the plan leaves out.
        cells.append(cell("async", 2, grey="a busy neighbour", name="other"))
        cells[-1]["runs"][0]["cpu_seconds_per_sample"] = None
        file = self.write("compare.json", json.dumps(comparison(cells)))
        svg = self.path("map.svg")
        plan = json.loads(self.run_ok(
            "shoal", "plan", CLUSTER, "--compare=" + file, "--json",
            "--map=" + svg))
        found = {(p["mode"], p["hosts"]): p for p in plan["predictions"]}
        self.assertEqual(len(found), 5 * 4)
        # The cells themselves, and beyond them.
        wanted = 20e3 * 2 ** .9
        one = json.loads(self.run_ok(
            "shoal", "plan", "--cluster=hosts=2,cores=1,network=1gbit",
            "--compare=" + file, "--json", "--modes=async,ring"))
        for p in one["predictions"]:
            if p["hosts"] == 2:
                self.assertAlmostEqual(p["samples_per_second"] / wanted, 1, 2)
                self.assertFalse(p["extrapolated"])
        self.assertTrue(found["async", 8]["extrapolated"])
        xml.etree.ElementTree.parse(svg)
        with open(svg) as f:
            self.assertRegex(f.read(), "8 hosts at 1 Gbit/s: (async|ssp|sync|"
                                       "ring|hybrid), [1-9]")

    def test_a_thousand_hosts_are_planned(self):
        file = self.write("compare.json", json.dumps(comparison(
            [cell("async", 1), cell("async", 2), cell("ring", 2)])))
        output = self.run_ok(
            "shoal", "plan", "--cluster=hosts=1000,cores=8,network=25gbit",
            "--compare=" + file, "--price=0.5")
        self.assertIn("cost/1e9", output)
        for mode in ("async", "ssp", "sync", "ring", "hybrid"):
            self.assertRegex(output, rf"(?m)^{mode} +1000 +[1-9].* [0-9.]+$")

    def test_the_plans_of_two_days_are_put_beside_each_other(self):
        def day(name, ring_share):
            ring = [cell("ring", hosts) for hosts in (1, 2)]
            for of in ring:
                of["runs"][0]["samples_per_second"] *= ring_share
            return self.write(name, json.dumps(comparison(
                [cell("async", 1), cell("async", 2), *ring])))
        days = day("first.json", 1.2), day("second.json", .5)

        def beside(*files):
            done = subprocess.run(
                [sys.executable, "-B", ALIKE, "--bin", harness.BIN, *files],
                stdout=subprocess.PIPE, text=True, check=True)
            return done.stdout
        self.assertIn(", 0 with opposite leads; samples a second differ by "
                      "0.0 %", beside(days[0], days[0]))
        self.assertIn("A, 1.0gbit, 2 hosts: async has 0.83 of ring by the first "
                      "file, 2.00 by the second\n", beside(*days))

    def test_another_batch_and_model_are_planned_and_marked(self):
        file = self.write("compare.json", json.dumps(comparison(
            [cell("async", 1), cell("async", 2)])))
        measured = ("shoal", "plan", "--cluster=hosts=2,cores=1,network=1gbit",
                    "--compare=" + file, "--modes=async")
        row = r"(?m)^async +2 +[0-9]\S*"
        self.assertNotIn("*", re.search(row, self.run_ok(*measured))[0])
        output = self.run_ok(
            *measured, "--batch_size=4096",
            "--feature_size=1000000000", "--field_size=39",
            "--embedding_size=32", "--deep_layers=256,128,64")
        self.assertIn("batch 4096 a worker, 1.44 MB of dense", output)
        self.assertIn("*", re.search(row, output)[0])
        output = self.run_ok(
            "shoal", "plan",
            "--cluster=hosts=2,cores=1,network=1gbit,memory=64GB",
            "--compare=" + file, "--modes=ring",
            "--feature_size=1000000000", "--field_size=39",
            "--embedding_size=32", "--deep_layers=256,128,64")
        self.assertIn("refused: needs", output)
        # Settings of single modes go together, since a plan is of all modes.
        settings = ["--feature_size=1000", "--field_size=39",
                    "--cluster=hosts=2,cores=1,network=1gbit",
                    "--compare=" + file, "--ssp_bound=4"]
        self.run_ok("shoal", "plan", *settings, "--bucket_bytes=64KiB")
        self.assertIn("knows --reduction=fast alone", self.usage_error(
            *settings, "--reduction=rank_order"))

    def test_another_model_costs_what_it_computes(self):
        file = self.write("compare.json", json.dumps(comparison(
            [cell("async", 1), cell("async", 2)])))

        def speed(*model):
            plan = json.loads(self.run_ok(
                "shoal", "plan", "--cluster=hosts=1,cores=1,network=1gbit",
                "--compare=" + file, "--modes=ring", "--json", *model))
            return plan["predictions"][0]["samples_per_second"]

        fields = "--field_size=39"
        small = [fields, "--embedding_size=4"]
        # Its own flags change nothing, whatever the batch.
        for batch in ([], ["--batch_size=4096"]):
            self.assertAlmostEqual(
                speed(*batch) / speed(*batch, fields, "--embedding_size=16",
                                      "--deep_layers=400,400,400"), 1,
                delta=.01)
        # Twice the layers behind the first one, with the same bytes of rows.
        one, two = (speed(*small, "--deep_layers=64," + layers)
                    for layers in ("1024,8", "1024,64,1024,8"))
        self.assertLess(two, .75 * one)
        self.assertIn("without deep layers", self.usage_error(
            "--cluster=hosts=1,cores=1,network=1gbit", "--compare=" + file,
            fields, "--model=fm"))

    def test_a_missing_directory_is_found_before_the_measurement(self):
        data = "--training_data_dir=" + self.write(
            "data/tr.libsvm", harness.linear_rows(200))
        for flag in "--map", "--calibration_out":
            path = self.path("none/out")
            said = self.usage_error(
                CLUSTER, "--measure", "--measure_time=1h", *JOB, data,
                f"{flag}={path}")
            self.assertIn(f"{flag}={path}: there is no directory", said)
        file = self.write("not.json", '{"format": "shoal calibration"}')
        code, said = self.run_fails("shoal", "plan", CLUSTER,
                                    "--compare=" + file)
        self.assertEqual(code, 1, said)
        self.assertIn("not.json is no compare.json that shoal bench compare "
                      "wrote", said)

    def test_a_sample_is_measured_beside_a_calibration(self):
        data = "--training_data_dir=" + self.write(
            "data/tr.libsvm", harness.linear_rows(20000))
        measure = ["--measure", "--measure_time=2s", "--print_config=false",
                   *JOB, data]
        alone = self.path("alone.json")
        self.run_ok("shoal", "plan", CLUSTER, *measure,
                    "--calibration_out=" + alone)
        with open(alone) as f:
            other = json.load(f)
        # The same, of a job whose samples cost far more and whose ids repeat
        # in another way.
        other["costs"]["sample"] *= 1000
        for point in other["distinct_ids"]:
            point["ids"] *= 10
        file = self.write("other.json", json.dumps(other))
        plan = ["--cluster=hosts=1,network=1gbit,cores="
                f"{other['least_cores']:g}", "--calibration=" + file,
                "--modes=ring"]

        def alone_host(*flags):
            found = json.loads(self.run_ok(
                "shoal", "plan", *plan, *flags, "--json"))
            return found["predictions"][0]
        by_file, measured = alone_host(), alone_host(*measure)
        self.assertGreater(measured["samples_per_second"],
                           100 * by_file["samples_per_second"])
        self.assertFalse(by_file["extrapolated"])
        self.assertTrue(measured["extrapolated"])
        ids = [re.search(r", (\d+) distinct ids a batch", output)[1]
               for output in (
                   self.run_ok("shoal", "plan", CLUSTER, "--modes=ring",
                               "--calibration=" + alone),
                   self.run_ok("shoal", "plan", *plan, *measure))]
        self.assertEqual(ids[0], ids[1])
        # What belongs to other processors does not go together.
        other["cpu"] = "another one"
        file = self.write("other.json", json.dumps(other))
        code, output = self.run_fails("shoal", "plan", *plan, *measure)
        self.assertEqual(code, 2, output)
        self.assertIn(file + " was measured on the processor 'another one', "
                      "and this machine has", output)

    def test_a_model_without_layers_is_measured_beside_one_with_some(self):
        # A processor without a name goes with any.
        measured = comparison([cell("async", 1), cell("async", 2)])
        file = self.write("compare.json", json.dumps({**measured, "cpu": ""}))
        data = self.write("data/tr.libsvm", harness.linear_rows(20000))
        plan = ["--cluster=hosts=2,cores=1,network=1gbit", "--ssp_bound=4",
                "--bucket_bytes=64KiB", "--compare=" + file, *JOB,
                "--training_data_dir=" + data]
        self.assertIn("give --measure too", self.usage_error(*plan))
        plan += ["--measure", "--measure_time=2s"]
        output = self.run_ok("shoal", "plan", *plan)
        self.assertIn("cost of a sample and distinct ids: one process, 2s",
                      output)
        self.assertIn("2 hosts of 1 core, 1 Gbit/s", output)
        self.assertIn("leave it out", self.usage_error(
            *plan, "--calibration_out=" + self.path("out.json")))
        self.assertIn("knows --reduction=fast alone", self.usage_error(
            *plan, "--reduction=rank_order"))

    def test_an_older_comparison_tells_nothing_of_another_model(self):
        old = comparison([cell("async", 1), cell("async", 2)])
        del old["models"]["A"]["work"]
        file = self.write("compare.json", json.dumps(old))
        plan = ["--cluster=hosts=2,cores=1,network=1gbit", "--compare=" + file,
                "--field_size=39"]
        self.assertIn("a file of an older version", self.usage_error(
            *plan, "--embedding_size=32", "--deep_layers=256,128,64"))
        self.run_ok("shoal", "plan", *plan, "--embedding_size=16",
                    "--deep_layers=400,400,400")
        self.run_ok("shoal", "plan", *plan[:2], "--batch_size=4096")

    def test_a_ring_is_refused_by_the_tables_of_the_comparison(self):
        cluster = "--cluster=hosts=2,cores=1,network=1gbit,memory=64GB"
        cells = [cell("async", 1), cell("async", 2), cell("ring", 2)]
        for table_bytes in (100e9, 1e9):
            file = self.write("compare.json", json.dumps(
                comparison(cells, table_bytes=int(table_bytes))))
            plan = json.loads(self.run_ok(
                "shoal", "plan", cluster, "--compare=" + file, "--json"))
            fits = {(p["mode"], p["hosts"]): p["fits"]
                    for p in plan["predictions"]}
            self.assertEqual(fits["ring", 2], table_bytes < 64e9)
            self.assertTrue(fits["async", 2])

    def test_loopback_tells_nothing_of_steps_on_a_network(self):
        cells = [cell(mode, hosts, gbit=0, cores_per_host=None)
                 for hosts in (1, 2) for mode in ("async", "ring")]
        file = self.write("compare.json", json.dumps(comparison(cells)))
        output = self.run_ok("shoal", "plan", CLUSTER, "--compare=" + file)
        self.assertIn("corrected  not at all", output)
        self.assertIn("no cell that was measured had a limited network", output)

    def test_a_measurement_that_is_stopped_leaves_nothing_behind(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(20000))
        for number in (signal.SIGINT, signal.SIGTERM):
            plan = self.start(
                f"plan{number}", "shoal", "plan", CLUSTER, "--measure",
                "--measure_time=60s", *JOB, "--training_data_dir=" + data)
            child, scratch = self.measurement_of(plan)
            self.assertTrue(os.path.isdir(scratch))
            plan.signal(number)
            self.assertEqual(plan.wait(30), 3, plan.output())
            self.assertIn("stopped by SIG", plan.output())
            self.assertFalse(os.path.exists(scratch))
            self.assertFalse(os.path.exists(f"/proc/{child}"))

    def measurement_of(self, plan):
        """The training that the plan has started: its pid, and the directory
        of its summary."""
        pid = plan.popen.pid
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            self.assertIsNone(plan.popen.poll(), plan.output())
            with open(f"/proc/{pid}/task/{pid}/children") as f:
                children = f.read().split()
            for child in children:
                with open(f"/proc/{child}/cmdline") as f:
                    for arg in f.read().split("\0"):
                        if arg.startswith("--summary="):
                            return child, os.path.dirname(arg.split("=")[1])
            time.sleep(.02)
        self.fail("the plan has started no training\n" + plan.output())

    def test_the_ids_of_the_data_are_counted_where_they_are_named(self):
        file = self.write("compare.json", json.dumps(comparison(
            [cell("async", 1, batch=100, ids=350), cell("ring", 2, batch=100)])))
        data = self.write("data/tr.libsvm", harness.linear_rows(2000))
        out = self.path("calibration.json")
        self.run_ok("shoal", "plan", CLUSTER, "--compare=" + file, *JOB[1:],
                    "--training_data_dir=" + data, "--calibration_out=" + out)
        with open(out) as f:
            ids = json.load(f)["distinct_ids"]
        self.assertEqual([p["samples"] for p in ids], [100, 200, 400, 800])

    def test_mistakes_are_named_with_what_would_be_right(self):
        self.assertIn("needs --cluster", self.usage_error("--measure"))
        self.assertIn("no measurements are given", self.usage_error(CLUSTER))
        self.assertIn("measurements are given twice", self.usage_error(
            CLUSTER, "--compare=x", "--calibration=x"))
        self.assertIn("entry 'hosts=0'", self.usage_error(
            "--cluster=hosts=0,network=1gbit", "--calibration=x"))
        self.assertIn("the modes are async, ssp", self.usage_error(
            CLUSTER, "--calibration=x", "--modes=rings"))
        self.assertIn("did you mean --batch_size?", self.usage_error(
            CLUSTER, "--calibration=x", "--batchsize=7"))
        self.assertIn("give --modes", self.usage_error(
            CLUSTER, "--calibration=x", "--mode=ring"))
        self.assertIn("give --worker_per_host", self.usage_error(
            CLUSTER, "--measure", *JOB, "--workers=4",
            "--training_data_dir=x"))
        self.assertIn("--compare_model names a model of --compare",
                      self.usage_error(CLUSTER, "--calibration=x",
                                       "--compare_model=A"))
        self.assertIn("--measure_time is for --measure", self.usage_error(
            CLUSTER, "--calibration=x", "--measure_time=5s"))
        self.assertIn("/no/such", self.usage_error(
            CLUSTER, "--calibration=/no/such"))
        self.assertIn("--training_data_dir", self.usage_error(
            CLUSTER, "--measure", *JOB))

    def test_files_that_say_nothing_are_named_with_the_reason(self):
        def error(flag, text):
            file = self.write("file", text)
            code, output = self.run_fails("shoal", "plan", CLUSTER,
                                          f"--{flag}={file}")
            self.assertEqual(code, 1, output)
            self.assertIn(file, output)
            return output
        self.assertIn("--measure", error("calibration", '{"format": "x"}'))
        self.assertIn("this version reads 1", error("compare", '{"format": 2}'))
        self.assertIn("measure --modes=async,ring --hosts=1,2", error(
            "compare", json.dumps(comparison([cell("async", 4)]))))
        replayed = cell("async", 1, compute="replayed")
        self.assertIn("not grey", error(
            "compare", json.dumps(comparison([replayed]))))
        # A value that cannot be is named with its place, as by the report.
        broken = cell("async", 1)
        broken["runs"][0]["samples_per_second"] = -1
        self.assertIn("samples_per_second", error(
            "compare", json.dumps(comparison([broken]))))


if __name__ == "__main__":
    harness.main()
