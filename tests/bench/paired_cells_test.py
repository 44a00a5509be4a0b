"""Cells of two comparisons in pairs: bench/e2e/beside.py and in_turns.py."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../bench/e2e")
sys.path.insert(0, TOOLS)
import beside  # noqa: E402
import in_turns  # noqa: E402


def comparison(speeds, computing=.5, grey="", mode="async"):
    """One cell on two hosts with a run for each of these samples a second."""
    return {"command": "made", "cpu": "made", "started": "now", "cells": [{
        "name": f"m_{mode}_h2", "model": "m", "mode": mode,
        "backup_workers": 0, "hosts": 2, "batch_size": 8, "network": "1gbit",
        "straggler": None, "compute": "computed", "dilation": 2.0,
        "grey": grey, "runs": [
            {"repeat": at, "ok": True, "samples_per_second": speed,
             "state_shares": {"compute": computing}}
            for at, speed in enumerate(speeds)]}]}


def row_of(first, second):
    row, = beside.rows_of(beside.cells_of(first), beside.cells_of(second))
    return row


class Beside(unittest.TestCase):
    def test_the_ratio_is_that_of_the_medians(self):
        row = row_of(comparison([100, 200, 900]), comparison([150, 10, 220]))
        self.assertEqual(row["ratio"], 150 / 200)
        self.assertEqual(row["speeds"], [100, 200, 900])

    def test_a_slower_computation_is_taken_out(self):
        # A sample of a host takes 10 ms, of which 5 are computed; then 15, of
        # which 10 are.
        row = row_of(comparison([200], .5), comparison([2 / .015], 2 / 3))
        self.assertAlmostEqual(row["ratio"], 2 / 3)
        self.assertAlmostEqual(row["equal_ratio"], 1)

    def test_grey_cells_and_others_have_no_row(self):
        for other in (comparison([100], grey="busy"),
                      comparison([100], mode="ring")):
            self.assertEqual(beside.rows_of(
                beside.cells_of(comparison([100])),
                beside.cells_of(other)), [])

    def test_the_limit(self):
        near, far = ({"ratio": 1 + off} for off in (-.04, -.06))
        self.assertFalse(beside.exceeds([near], .05))
        self.assertTrue(beside.exceeds([near, far], .05))
        self.assertFalse(beside.exceeds([far], None))
        self.assertFalse(beside.exceeds([dict(far, turn_ratio=.99)], .05))


class InTurns(unittest.TestCase):
    def test_the_cells_of_a_command(self):
        flags, cells = in_turns.cells_of(
            ["shoal", "--lab", "--models=A:--x=1;B:--x=2", "--modes=async,ring",
             "--hosts=1,2", "--networks=1gbit,10gbit"])
        self.assertEqual(flags, ["shoal", "--lab"])
        # One host has no network.
        self.assertEqual(len(cells), 2 * 2 * 3)
        self.assertEqual(cells["B_ring_2_10gbit"], [
            "--models=B:--x=2", "--modes=ring", "--hosts=2",
            "--networks=10gbit"])

    def test_the_median_of_pairs_and_not_the_ratio_of_medians(self):
        # The machine is slow in the second round, on both sides.
        first, second = (comparison(speeds)["cells"][0]
                         for speeds in ([100, 50, 101], [99, 49, 50]))
        self.assertEqual(in_turns.turn_ratio(first, second), .98)


# Instead of `shoal bench compare`: each run has 100 samples a second, or 90 with
# --slower, ring is grey with --grey, and each writes down what it was asked.
STAND_IN = f"""#!{sys.executable} -B
import json, os, sys
sys.path[:0] = [{TOOLS!r}, {os.path.dirname(os.path.abspath(__file__))!r}]
import paired_cells_test
flags = dict(one[2:].split("=", 1) for one in sys.argv[1:] if "=" in one)
os.makedirs(flags["out"], exist_ok=True)
speed = 90 if "--slower" in sys.argv else 100
with open(os.path.join(flags["out"], "compare.json"), "w") as file:
    json.dump(paired_cells_test.comparison(
        [speed] * int(flags["repeats"]), mode=flags["modes"], grey="busy" if
        "--grey" in sys.argv and flags["modes"] == "ring" else ""), file)
with open(os.path.join(os.path.dirname(flags["out"]), "asked"), "a") as file:
    file.write(os.path.basename(flags["out"]) + " " + flags["repeats"] + "\\n")
with open(os.path.join(flags["out"], "pauses.json"), "a") as file:
    file.write("measured\\n")
"""


class InTurnsAsAProgram(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = os.path.join(directory.name, "folder")
        self.out = os.path.join(directory.name, "out.json")
        self.program = os.path.join(directory.name, "compare")
        with open(self.program, "w") as file:
            file.write(STAND_IN)
        os.chmod(self.program, os.stat(self.program).st_mode | stat.S_IXUSR)

    def run_tool(self, *more, second="--slower", rounds=2):
        return subprocess.run(
            [sys.executable, "-B", os.path.join(TOOLS, "in_turns.py"),
             f"--folder={self.folder}", f"--rounds={rounds}",
             f"--second={second}", f"--out={self.out}", *more, "--",
             self.program, "--modes=async,ring", "--hosts=2",
             "--networks=1gbit"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)

    def asked(self):
        with open(os.path.join(self.folder, "asked")) as file:
            return file.read().splitlines()

    def test_both_sides_of_a_cell_follow_each_other(self):
        done = self.run_tool()
        self.assertEqual(done.returncode, 0, done.stdout)
        asked = self.asked()
        self.assertEqual(len(asked), 2 * 2 * 2)
        for one, other in zip(asked[::2], asked[1::2]):
            self.assertEqual(one.partition(".")[0], other.partition(".")[0])
        sides = [line.partition(".")[2] for line in asked]
        self.assertEqual(sides[:4], ["first 1", "second 1"] * 2)
        self.assertEqual(sides[4:], ["second 2", "first 2"] * 2)
        with open(self.out) as file:
            rows = json.load(file)["cells"]
        self.assertEqual([row["turn_ratio"] for row in rows], [.9, .9])

    def test_what_pauses_cost_is_known_to_the_next_cell(self):
        self.assertEqual(self.run_tool().returncode, 0)
        with open(os.path.join(self.folder, "pauses.json")) as file:
            self.assertEqual(len(file.read().splitlines()), len(self.asked()))
        self.assertEqual([path for path in os.listdir(self.folder)
                          if path.endswith(".part")], [])

    def test_it_goes_on_where_it_was_stopped(self):
        self.assertEqual(self.run_tool(rounds=1).returncode, 0)
        before = self.asked()
        self.assertEqual(len(before), 4)
        self.assertEqual(self.run_tool(rounds=2).returncode, 0)
        self.assertEqual(self.asked()[:len(before)], before)
        self.assertEqual(len(self.asked()), 8)

    def test_a_limit_that_is_passed_is_told(self):
        done = self.run_tool("--limit=0.05")
        self.assertEqual(done.returncode, 1)
        self.assertIn("in turns median difference 10.0 %", done.stdout)
        self.assertEqual(self.run_tool("--limit=0.15").returncode, 0)

    def test_a_grey_cell_is_left_out_and_named(self):
        done = self.run_tool("--limit=0.05", second="--grey")
        self.assertIn("model_ring_2_1gbit: left out, grey", done.stdout)
        self.assertEqual(done.returncode, 1)
        with open(self.out) as file:
            found = json.load(file)
        self.assertEqual(found["grey"], ["model_ring_2_1gbit"])
        self.assertEqual(len(found["cells"]), 1)

    def test_a_folder_has_the_figures_of_one_command(self):
        self.run_tool()
        done = self.run_tool(second="--other")
        self.assertEqual(done.returncode, 1)
        self.assertIn("figures of another command", done.stdout)


if __name__ == "__main__":
    unittest.main()
