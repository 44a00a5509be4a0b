#!/usr/bin/env python3
"""The windows that every figure of bench/e2e and bench/peers is taken with."""

import itertools
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../bench/e2e"))
import step_profile  # noqa: E402
import timed_window  # noqa: E402
import training_job  # noqa: E402

# Its child works, and tells of each 20 ms of its own processor time.
PARENT = """
import subprocess, sys
subprocess.run([sys.executable, "-c", '''
import time
told = 0
while True:
    if time.process_time() >= 0.02 * (told + 1):
        told += 1
        print(told, flush=True)
'''])
"""


class Child:
    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", PARENT],
                                        stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.told = 0
        return self

    def count(self):
        self.told += len((self.process.stdout.read() or b"").splitlines())
        return self.told

    def __exit__(self, *_):
        for pid in timed_window.process_tree([self.process.pid]):
            os.kill(pid, 9)
        self.process.communicate()


class TimedWindowTest(unittest.TestCase):
    def test_a_sample_costs_the_processor_time_of_the_whole_tree(self):
        with Child() as child:
            found = timed_window.measure([child.process.pid], [child.count], 2)
        self.assertAlmostEqual(found["cpu_us"], 20_000, delta=4_000)
        self.assertAlmostEqual(
            found["samples_per_cpu_second"] * found["cpu_us"], 1e6, places=3)
        self.assertGreater(found["rss_mb"], 1)

    def test_a_window_begins_where_the_count_changes(self):
        values = itertools.chain([5, 5, 5], itertools.repeat(9))
        (_, count), = timed_window.edge([lambda: next(values)], float("inf"),
                                        lambda: None)
        self.assertEqual(count, 9)

    def test_work_that_ends_early_is_no_measurement(self):
        def check():
            raise RuntimeError("it has ended")
        with self.assertRaisesRegex(RuntimeError, "has ended"):
            timed_window.measure([os.getpid()], [lambda: 0], 60, check)


class FormulaTest(unittest.TestCase):
    def test_flop_a_sample_are_those_of_the_products(self):
        self.assertEqual(training_job.flop_per_sample("A"), 3_420_000)
        self.assertEqual(training_job.flop_per_sample("B"), 2_163_072)

    def test_functions_find_their_stage(self):
        program, libc = "/bin/shoal-ps", "/usr/lib/libc.so.6"
        for symbol, file, stage in [
                ("shoal::UniqueIds::Build", program, "dedup"),
                ("shoal::AdamApply", program, "dense update"),
                ("[unknown]", "/tmp/perf-17.map", "dense products"),
                ("_copy_to_iter", "[kernel.kallsyms]", "kernel"),
                ("__memmove_avx512_unaligned_erms", libc, "copies"),
                ("[unknown]", "/usr/lib/libgrpc.so.29", "gRPC"),
                ("main", program, "other")]:
            self.assertEqual(step_profile.stage_of(symbol, file), stage)


if __name__ == "__main__":
    unittest.main()
