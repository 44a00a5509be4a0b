"""Ranks that Open MPI's mpirun starts: each takes its place from the environment,
and no MPI is linked."""

import os
import select
import shutil
import signal

import harness
from slow_data import SlowData
from started_ranks import EPOCHS, USAGE, StartedRanksTest

# mpirun asks its processes to end this many seconds after a signal to itself,
# and kills them as many seconds later; 1 by default.
PATIENCE = 4


def mpirun_environment():
    """What mpirun needs to run as root, as tests do."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class MpirunTest(StartedRanksTest):

    def setUp(self):
        super().setUp()
        if shutil.which("mpirun") is None:
            self.skipTest("mpirun is not installed (Debian package "
                          "openmpi-bin)")

    def start_ranks(self, count, *args, more=(), prefix=()):
        return self.start(
            "mpirun", *args, env=mpirun_environment(),
            prefix=["mpirun", "--oversubscribe", "--bind-to", "none", *more,
                    "-np", str(count), *prefix])

    def test_ranks_end_with_the_serial_weights(self):
        for count in (1, 3):
            config = self.path(f"config{count}.textproto")
            job = self.ring(count, self.coordinator,
                            "--write_config=" + config,
                            "--summary=" + self.path("summary.json"))
            self.assertEqual(job.wait(120), 0, job.output()[-3000:])
            for rank in range(count):
                self.assertIn(f"rank {rank} of {count}, ", job.output())
            # What all of them would print alike, one prints.
            self.assertEqual(job.output().count("flags given"), 1)
            self.expect_serial(count)
        # The place of rank 0, which wrote the file, is no place of the others.
        job = self.start_ranks(3, "shoal-worker", "--config=" + config)
        self.assertEqual(job.wait(120), 0, job.output()[-3000:])
        self.expect_serial(3)

    def test_a_killed_rank_ends_the_job_and_the_same_command_goes_on(self):
        # Slow until it has saved: then it has something to go on from.
        slow = SlowData(self)
        slow.slow(self.data, 0.5)
        epochs = 12
        args = [self.coordinator, "--model_dir=" + self.path("model"),
                "--save_checkpoint_steps=100",
                "--summary=" + self.path("summary.json")]
        job = self.ring(3, *args, epochs=epochs, prefix=slow.prefix)
        job.wait_for_line("saved " + self.path("model"))
        pid = self.pid_of(1)
        os.kill(pid, signal.SIGKILL)
        code = job.wait(60)
        self.assertNotEqual(code, 0, job.output()[-3000:])
        self.assertRegex(job.output(), r"\b(worker|rank) 1\b.* lost|"
                         r"signal 9 \(Killed\)")
        slow.fast(self.data)
        job = self.ring(3, *args, epochs=epochs, prefix=slow.prefix)
        self.assertEqual(job.wait(120), 0, job.output()[-3000:])
        self.assertIn("resumed from " + self.path("model"), job.output())
        self.expect_serial(3, epochs)

    def pid_of(self, rank):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    environment = file.read().split(b"\0")
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            if (self.dir.encode() in line and b"shoal-worker" in line and
                    b"OMPI_COMM_WORLD_RANK=%d" % rank in environment):
                return int(pid)
        raise AssertionError(f"no rank {rank}")

    def test_a_signal_to_mpirun_saves_the_job(self):
        slow = SlowData(self)
        slow.slow(self.data, 0.5)
        job = self.ring(3, self.coordinator, epochs=100000, prefix=slow.prefix,
                        more=["--mca", "odls_base_sigkill_timeout",
                              str(PATIENCE)],
                        *["--model_dir=" + self.path("model")])
        job.wait_for_line(harness.TRAINED)
        job.signal(signal.SIGTERM)
        job.wait(60)
        self.assertIn("the same command goes on from ", job.output())
        self.run_ok("shoal", "ckpt", "verify", self.path("model"))

    def test_no_rank_outlives_mpirun(self):
        slow = SlowData(self)
        slow.slow(self.data, 0.5)
        job = self.ring(3, self.coordinator, epochs=100000, prefix=slow.prefix,
                        *["--model_dir=" + self.path("model")])
        job.wait_for_line(harness.TRAINED)
        ranks = [os.pidfd_open(self.pid_of(rank)) for rank in range(3)]
        os.kill(job.popen.pid, signal.SIGKILL)
        for rank in ranks:
            self.assertTrue(select.select([rank], [], [], 30)[0],
                            "a rank still runs")
            os.close(rank)
        self.run_ok("shoal", "ckpt", "verify", self.path("model"))

    def test_what_contradicts_the_launcher_is_refused_with_both(self):
        for args, message in (
                (["--task_index=1", self.coordinator],
                 "--task_index=1 and OMPI_COMM_WORLD_RANK=0 contradict"),
                (["--worker_hosts=127.0.0.1:1,127.0.0.1,127.0.0.1"],
                 "--worker_hosts with 3 entries and OMPI_COMM_WORLD_SIZE=2 "
                 "contradict each other")):
            job = self.ring(2, *args)
            self.assertEqual(job.wait(60), USAGE, job.output()[-3000:])
            self.assertIn("shoal-worker: " + message, job.output())

    def test_a_launcher_under_mpirun_runs_a_job_of_its_own(self):
        """The ranks of `shoal run` do not take mpirun's for their own."""
        job = self.start_ranks(2, "shoal", "run", "--mode=ring", "--workers=3",
                          *self.flags())
        self.assertEqual(job.wait(120), 0, job.output()[-3000:])
        self.assertEqual(
            job.output().count("this command runs 2 times"), 1)
        self.assertEqual(
            job.output().count("digest     " + self.serial_digest(EPOCHS)), 2)


if __name__ == "__main__":
    harness.main()
