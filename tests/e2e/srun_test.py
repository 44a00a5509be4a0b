"""Ranks that Slurm's srun starts, under a Slurm of this test's own."""

import os
import shutil
import tempfile

import harness
import slurm
from slow_data import SlowData
from started_ranks import USAGE, StartedRanksTest


class SrunTest(StartedRanksTest):

    @classmethod
    def setUpClass(cls):
        cls.why_not = slurm.why_not()
        if cls.why_not:
            return
        # Paths of sockets are short.
        cls.slurm_dir = tempfile.mkdtemp(prefix="shoal-slurm-")
        cls.slurm = slurm.Slurm(cls.slurm_dir)
        try:
            cls.slurm.start()
        except (RuntimeError, OSError) as error:
            cls.why_not = f"Slurm does not start here: {error}"
            cls.tearDownClass()

    @classmethod
    def tearDownClass(cls):
        if hasattr(cls, "slurm"):
            cls.slurm.stop()
            shutil.rmtree(cls.slurm_dir, ignore_errors=True)
            del cls.slurm

    def setUp(self):
        super().setUp()
        if self.why_not:
            self.skipTest(self.why_not)

    def start_ranks(self, count, *args, more=(), prefix=()):
        return self.start("srun", *args, env=self.slurm.environment,
                          prefix=["srun", "-n", str(count), *more, *prefix])

    def test_ranks_end_with_the_serial_weights(self):
        # With pmi2, which many clusters have by default, srun sets PMI_RANK.
        for mpi in ("none", "pmi2"):
            job = self.ring(3, self.coordinator, more=["--mpi=" + mpi],
                            *["--summary=" + self.path("summary.json")])
            self.assertEqual(job.wait(120), 0, job.output()[-3000:])
            for rank in range(3):
                self.assertIn(f"rank {rank} of 3, ", job.output())
            self.expect_serial(3)

    def test_what_contradicts_the_launcher_is_refused_with_both(self):
        job = self.ring(2, "--worker_hosts=127.0.0.1:1,127.0.0.1,127.0.0.1")
        self.assertEqual(job.wait(60), USAGE, job.output()[-3000:])
        self.assertIn("--worker_hosts with 3 entries and "
                      "SLURM_STEP_NUM_TASKS=2 contradict", job.output())

    def test_a_script_of_sbatch_is_no_rank(self):
        """Although Slurm sets SLURM_PROCID=0 and SLURM_NTASKS=3 there."""
        worker = os.path.join(harness.BIN, "shoal-worker")
        port = harness.own_port()
        by_hand = " ".join(
            [worker, "--mode=ring", *self.flags(), f"--worker_hosts="
             f"127.0.0.1:{port},127.0.0.1",
             "--summary=" + self.path("summary.json")])
        script = self.write("batch.sh", "\n".join([
            "#!/bin/sh", "env | grep '^SLURM_PROCID=0$'",
            by_hand + " --task_index=1 &", by_hand + " --task_index=0",
            "code=$?", "wait", "exit $code", ""]))
        batch = self.start(
            "sbatch", script, env=self.slurm.environment,
            prefix=["sbatch", "--wait", "-n", "3", "-o", self.path("out")])
        code = batch.wait(120)
        with open(self.path("out")) as file:
            output = file.read()
        self.assertEqual(code, 0, output[-3000:])
        self.assertIn("SLURM_PROCID=0\n", output)
        self.expect_serial(2)

    def test_scancel_saves_the_job(self):
        slow = SlowData(self)
        slow.slow(self.data, 0.5)
        job = self.ring(3, self.coordinator, epochs=100000, more=["-J", "one"],
                        prefix=slow.prefix,
                        *["--model_dir=" + self.path("model")])
        job.wait_for_line(harness.TRAINED)
        self.slurm.ask("scancel", "--name=one")
        job.wait(60)
        self.assertIn("the same command goes on from ", job.output())
        self.run_ok("shoal", "ckpt", "verify", self.path("model"))


if __name__ == "__main__":
    harness.main()
