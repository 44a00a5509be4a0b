"""Variants of bench/e2e/speed.py: more legs of Shoal's, with flags of one's own.
"""

import argparse
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../bench/e2e"))
import speed  # noqa: E402
import training_job  # noqa: E402


def run(samples_per_cpu_second):
    return {"samples_per_cpu_second": samples_per_cpu_second}


class Variants(unittest.TestCase):
    def test_a_name_and_its_flags(self):
        self.assertEqual(training_job.variant("late:--pipeline_depth=2"),
                         ("late", ["--pipeline_depth=2"]))
        self.assertEqual(
            training_job.variant("two:--a=x:y --b='c d'"),
            ("two", ["--a=x:y", "--b=c d"]))

    def test_what_is_none_is_refused(self):
        for text in ("", "name", "name:", "name:word", ":--flag=1",
                     "a/b:--flag=1"):
            with self.assertRaises(argparse.ArgumentTypeError, msg=text):
                training_job.variant(text)

    def test_each_leg_of_ours_is_followed_by_its_variants(self):
        self.assertEqual(
            speed.legs_of(["shoal-one", "shoal-2+2", "tf-ps"],
                          {"a": ["--x=1"], "b": ["--x=2"]}),
            ["shoal-one", "shoal-one/a", "shoal-one/b",
             "shoal-2+2", "shoal-2+2/a", "shoal-2+2/b", "tf-ps"])

    def test_flags_take_the_place_of_others_of_their_names(self):
        args = argparse.Namespace(shoal_flags=["--pipeline_depth=1"])
        plain = training_job.job_flags(args, "A", 1024)
        self.assertIn("--optimizer=adam", plain)
        self.assertIn("--pipeline_depth=1", plain)
        other = training_job.job_flags(
            args, "A", 1024, ["--optimizer=sgd", "--pipeline_depth=0"])
        for name in ("--optimizer", "--pipeline_depth"):
            self.assertEqual(
                [f for f in other if f.split("=")[0] == name],
                [{"--optimizer": "--optimizer=sgd",
                  "--pipeline_depth": "--pipeline_depth=0"}[name]])
        self.assertEqual(len(plain), len(other))

    def test_the_ratio_is_of_the_default_to_the_variant(self):
        found = speed.summarise("A", 1024, [1e11], {
            "shoal-one": [run(200)], "shoal-one/a": [run(100)],
            "tf-one": [run(50)]})
        self.assertEqual(found["ratios"], {"shoal-one / tf-one": 4,
                                           "shoal-one / shoal-one/a": 2})
        self.assertAlmostEqual(
            found["legs"]["shoal-one/a"]["share"]["median"],
            100 * training_job.flop_per_sample("A") / 1e11)


if __name__ == "__main__":
    unittest.main()
