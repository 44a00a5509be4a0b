"""What bench/micro/run.py makes of what programs print."""

import os
import re
import sys
import unittest

MICRO = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../bench/micro")
sys.path.insert(0, MICRO)
import run  # noqa: E402


def printed(*rows):
    return {"benchmarks": [
        {"name": "X", "run_name": "X", "run_type": "iteration",
         "repetition_index": i, "iterations": 7, "time_unit": "us",
         "cpu_time": time, "Mrows/s": 1 / time}
        for i, time in enumerate(rows)]}


class MicroRun(unittest.TestCase):
    def test_repeats_of_one_run_and_turns_are_alike(self):
        wanted = {"X": {
            "cpu_time_us": {"median": 2, "least": 1, "largest": 4},
            "Mrows/s": {"median": 0.5, "least": 0.25, "largest": 1}}}
        self.assertEqual(run.summarise([printed(1, 4, 2)]), wanted)
        self.assertEqual(
            run.summarise([printed(1), printed(4), printed(2)]), wanted)

    def test_what_the_library_adds_up_itself_does_not_count(self):
        with_mean = printed(1)
        with_mean["benchmarks"].append(
            {"run_name": "X", "run_type": "aggregate", "cpu_time": 9})
        self.assertEqual(run.summarise([with_mean])["X"]["cpu_time_us"],
                         {"median": 1, "least": 1, "largest": 1})

    def test_an_error_ends_it(self):
        failed = printed(1)
        failed["benchmarks"][0] |= {"error_occurred": True,
                                    "error_message": "lost"}
        with self.assertRaises(SystemExit):
            run.summarise([failed])

    def test_programs_of_results_say_what_their_figures_mean(self):
        for programs, pattern, _ in run.RESULTS.values():
            re.compile(pattern)
            for program in programs:
                self.assertTrue(run.meaning(program), program)


if __name__ == "__main__":
    unittest.main()
