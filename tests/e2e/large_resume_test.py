"""A job of many pieces and batches goes on from a checkpoint, under default
flags.

SHOAL_LARGE_PIECES, SHOAL_LARGE_ROWS, SHOAL_LARGE_HALF_DONE and SHOAL_LARGE_PS
say how large; the long run is one of 4.17 million pieces and 50 million batches
over 8 servers. A small job makes the checkpoint's tables, and large_checkpoint
(tests/ps/large_checkpoint_main.cc) makes it a large job's.
"""

import os
import re
import signal
import subprocess
import time

import harness
from harness import BIN
from launched import Launched

TOOL = os.path.join(os.path.dirname(BIN), "tests", "large_checkpoint")
PIECES = int(os.environ.get("SHOAL_LARGE_PIECES", "20000"))
HALF_DONE = int(os.environ.get("SHOAL_LARGE_HALF_DONE", "20"))
PS = int(os.environ.get("SHOAL_LARGE_PS", "2"))
ROWS = int(os.environ.get("SHOAL_LARGE_ROWS", "12"))  # of a piece
ROW = "1 1:1\n"
STOPPED = 3  # docs/commands.md


class LargeResumeTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.model_dir = self.path("model")
        self.flags = ["--model=lr", "--feature_size=8", "--field_size=1",
                      "--batch_size=1", f"--piece_bytes={ROWS * len(ROW)}",
                      "--training_data_dir=" + self.path("tr.libsvm"),
                      "--model_dir=" + self.model_dir]
        self.write("tr.libsvm", ROW * ROWS * 2)
        self.run_ok("shoal", "run", f"--ps={PS}", "--workers=1", *self.flags)
        with open(self.path("tr.libsvm"), "w") as file:
            for _ in range(PIECES):
                file.write(ROW * ROWS)
        made = subprocess.run(
            [TOOL, self.model_dir, self.path("tr.libsvm"), str(len(ROW)),
             str(ROWS), str(HALF_DONE)], capture_output=True, text=True,
            check=False)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        self.step = int(re.search(r", (\d+) batches,", made.stdout)[1])
        print(made.stdout, end="")

    def newest_step(self, job):
        steps = re.findall(r"^step ([\d,]+),", job.process.output(), re.M)
        return int(steps[-1].replace(",", "")) if steps else 0

    def test_it_goes_on_and_is_saved_again(self):
        begin = time.monotonic()
        job = Launched(self, f"--ps={PS}", "--workers=1", *self.flags,
                       "--summary=" + self.path("summary.json"))
        at = 0
        for said in ("loading the shard from", "resumed from", "training on",
                     "push done"):
            at = job.process.wait_for_line(said, timeout=300)
            print(f"{time.monotonic() - begin:7.2f} s: {said}")
        if HALF_DONE > 1000:  # more than can be trained here
            while self.newest_step(job) <= self.step:
                at = job.process.wait_for_line("step ", start=at + 1)
            begin = time.monotonic()
            os.kill(job.process.popen.pid, signal.SIGTERM)
            job.process.wait_for_line("saved " + self.model_dir, timeout=300,
                                      start=at)
            print(f"{time.monotonic() - begin:7.2f} s: saved")
            self.assertEqual(job.process.wait(), STOPPED)
        else:
            self.assertEqual(job.process.wait(), 0, job.process.output())
        summary = self.summary()
        self.assertEqual(summary["checkpoint"]["resumed_step"], self.step)
        self.assertGreater(summary["batches"]["trained"], self.step)
        self.assertEqual(summary["checkpoint"]["voided"], 0)
        if HALF_DONE <= 1000:
            self.expect_whole(summary)
            self.assertEqual(summary["samples"]["trained"], PIECES * ROWS)


if __name__ == "__main__":
    harness.main()
