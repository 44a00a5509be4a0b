"""`shoal plan`: what it answers from a measurement, from a comparison and from a
file, and what it says when it cannot."""

import json
import xml.etree.ElementTree

import harness

CLUSTER = "--cluster=hosts=8,cores=4,network=10gbit,latency=60us,memory=64GiB"
JOB = ["--model=fm", "--feature_size=300", "--field_size=4",
       "--embedding_size=4", "--batch_size=100"]


def cell(mode, hosts, gbit=1.0, **more):
    """A cell of compare.json, as docs/comparing.md says."""
    run = {"ok": True, "samples_per_second": 50e3 * hosts ** .9,
           "cpu_seconds_per_sample": {"worker": 17e-6, "ps": 4e-6},
           "bytes_per_sample": {"worker_sent": 2900.0, "worker_received": 2800.0,
                                "ps_sent": 2800.0, "ps_received": 2900.0},
           "state_shares": {"compute": .7},
           "step_seconds": {"count": 99, "mean": .02, "deviation": .001,
                            "p10": .019, "p50": .02, "p90": .021, "p99": .025,
                            "max": .03},
           "peak_rss_bytes": {"worker": 2e8, "ps": 1e8}}
    if mode == "ring":
        run["cpu_seconds_per_sample"]["ps"] = 0
    return {"name": f"A_{mode}_{hosts}", "model": "A", "mode": mode,
            "hosts": hosts, "batch_size": 1024, "bits_per_second": gbit * 1e9,
            "cores_per_host": 1.0, "compute": "computed", "backup_workers": 0,
            "straggler": None, "grey": "", "runs": [run], **more}


def comparison(cells):
    return {"format": 1, "cpu": "a processor", "started": "2026-01-01",
            "models": {"A": {"flags": {}, "dense_bytes": 2284808,
                             "row_bytes": 68, "flop_per_sample": 3.42e6}},
            "cells": cells}


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
            "--training_data_dir=" + data, "--calibration_out=" + file)
        self.assertIn("* extrapolated: no network was measured", output)
        self.assertIn("predicts speed, never AUC", output)
        with open(file) as f:
            ids = json.load(f)["distinct_ids"]
        self.assertEqual(ids[0]["samples"], 100)
        self.assertEqual([point["samples"] for point in ids],
                         [100 * 2 ** i for i in range(len(ids))])
        again = self.run_ok("shoal", "plan", CLUSTER, "--calibration=" + file)
        self.assertIn(again, output)

    def test_a_comparison_makes_a_plan_with_a_map(self):
        cells = [cell(mode, hosts) for hosts in (1, 2)
                 for mode in ("async", "sync", "ring", "hybrid")]
        # What the plan leaves out: it could not be read as a number of hosts.
        cells.append(cell("async", 2, grey="a busy neighbour"))
        cells[-1]["runs"][0]["cpu_seconds_per_sample"] = None
        file = self.write("compare.json", json.dumps(comparison(cells)))
        svg = self.path("map.svg")
        plan = json.loads(self.run_ok(
            "shoal", "plan", CLUSTER, "--compare=" + file, "--json",
            "--map=" + svg))
        found = {(p["mode"], p["hosts"]): p for p in plan["predictions"]}
        self.assertEqual(len(found), 5 * 4)
        # The cells themselves, and beyond them.
        wanted = 50e3 * 2 ** .9
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
            self.assertIn("hosts", f.read())

    def test_a_thousand_hosts_are_planned(self):
        file = self.write("compare.json", json.dumps(comparison(
            [cell("async", 1), cell("async", 2), cell("ring", 2)])))
        output = self.run_ok(
            "shoal", "plan", "--cluster=hosts=1000,cores=8,network=25gbit",
            "--compare=" + file, "--price=0.5")
        self.assertIn("1000", output)
        self.assertIn("cost/1e9", output)

    def test_another_batch_and_model_are_planned_and_marked(self):
        file = self.write("compare.json", json.dumps(comparison(
            [cell("async", 1), cell("async", 2)])))
        output = self.run_ok(
            "shoal", "plan", "--cluster=hosts=2,cores=1,network=1gbit",
            "--compare=" + file, "--modes=ring", "--batch_size=4096",
            "--feature_size=1000000000", "--field_size=39",
            "--embedding_size=32", "--deep_layers=256,128,64")
        self.assertIn("batch 4096 a worker, 1.44 MB of dense", output)
        self.assertIn("*", output)
        output = self.run_ok(
            "shoal", "plan",
            "--cluster=hosts=2,cores=1,network=1gbit,memory=64GB",
            "--compare=" + file, "--modes=ring",
            "--feature_size=1000000000", "--field_size=39",
            "--embedding_size=32", "--deep_layers=256,128,64")
        self.assertIn("refused: needs", output)

    def test_the_ids_of_the_data_are_counted_where_they_are_named(self):
        one = cell("async", 1, batch_size=100)
        one["runs"][0]["bytes_per_sample"]["worker_sent"] = 24000.0
        file = self.write("compare.json", json.dumps(comparison(
            [one, cell("ring", 2, batch_size=100)])))
        data = self.write("data/tr.libsvm", harness.linear_rows(2000))
        out = self.path("calibration.json")
        self.run_ok("shoal", "plan", CLUSTER, "--compare=" + file, *JOB,
                    "--training_data_dir=" + data, "--calibration_out=" + out)
        with open(out) as f:
            ids = json.load(f)["distinct_ids"]
        self.assertEqual([p["samples"] for p in ids], [100, 200, 400, 800])

    def test_mistakes_are_named_with_what_would_be_right(self):
        self.assertIn("needs --cluster", self.usage_error("--measure"))
        self.assertIn("no measurements are given", self.usage_error(CLUSTER))
        self.assertIn("measurements are given twice", self.usage_error(
            CLUSTER, "--measure", "--calibration=x"))
        self.assertIn("entry 'hosts=0'", self.usage_error(
            "--cluster=hosts=0,network=1gbit", "--calibration=x"))
        self.assertIn("the modes are async, ssp", self.usage_error(
            CLUSTER, "--calibration=x", "--modes=rings"))
        self.assertIn("did you mean --batch_size?", self.usage_error(
            CLUSTER, "--calibration=x", "--batchsize=7"))
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
        self.assertIn("format 1", error("compare", '{"format": 2}'))
        self.assertIn("measure --modes=async,ring --hosts=1,2", error(
            "compare", json.dumps(comparison([cell("async", 4)]))))
        replayed = cell("async", 1, compute="replayed")
        self.assertIn("not greyed", error(
            "compare", json.dumps(comparison([replayed]))))


if __name__ == "__main__":
    harness.main()
