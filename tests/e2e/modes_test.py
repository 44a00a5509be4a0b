"""One digest for all modes: async, ssp, sync, ring and hybrid end with the
weights of the serial run, on every number of servers and ranks; a job with a
killed worker ends with them too."""

import itertools
import os
import signal

import harness
from exact_jobs import ExactJobsTest
from launched import Launched
from slow_data import SlowData

EPOCHS = 2
SILENT_AFTER = 3
QUICK = [f"--silent_after={SILENT_AFTER}s", f"--ps_lease={SILENT_AFTER}s",
         "--shutdown_timeout=1s"]
SERVERS, RANKS = (1, 2, 3), (2, 3, 4)
BACKUP = "--backup_workers=1"
SUMS = ["--reduction=fast", "--reduction=rank_order"]

# (mode, servers, ranks, flags) of the jobs of processes: each number of servers
# and of ranks in each mode that has it, once at least.
COVERING = [
    ("async", 2, 2, []),
    ("async", 3, 4, []),
    ("ssp", 1, 3, ["--ssp_bound=1"]),
    ("sync", 1, 2, []),
    ("sync", 2, 4, []),
    ("sync", 3, 3, []),
    ("sync", 2, 3, [BACKUP]),
    ("ring", 0, 2, SUMS[:1]),
    ("ring", 0, 4, SUMS[:1]),
    ("ring", 0, 2, SUMS[1:]),
    ("ring", 0, 3, SUMS[1:]),
    ("hybrid", 2, 2, SUMS[:1]),
    ("hybrid", 1, 4, SUMS[:1]),
    ("hybrid", 3, 3, SUMS[1:]),
]


def copies(mode, ranks):
    """Copies of variables, which the ranks hold beside the servers' shards."""
    return ranks if mode in ("ring", "hybrid") else 0


def all_jobs():
    """Every one of them, for tools/check.sh --long."""
    for ps, ranks in itertools.product(SERVERS, RANKS):
        for mode, flags in (("async", []), ("ssp", ["--ssp_bound=0"]),
                            ("ssp", ["--ssp_bound=2"]), ("sync", []),
                            ("sync", [BACKUP]), ("hybrid", SUMS[:1]),
                            ("hybrid", SUMS[1:]),
                            ("hybrid", ["--bucket_bytes=4096"])):
            yield mode, ps, ranks, flags
    for ranks, reduction in itertools.product((1, *RANKS), SUMS):
        yield "ring", 0, ranks, [reduction]
        # A ring of many small sums.
        yield "ring", 0, ranks, [reduction, "--bucket_bytes=4096"]


ALL = bool(os.environ.get("SHOAL_ALL_MODES"))
JOBS = list(all_jobs()) if ALL else COVERING


class ModesTest(ExactJobsTest):

    def expect_job(self, mode, holders, ranks, epochs=EPOCHS):
        """The whole job: its ledger, each push once on each shard and each copy
        of it, and the weights."""
        summary = self.expect_exact(epochs, holders)
        self.assertEqual((summary["mode"], summary["workers"]), (mode, ranks))

    def test_processes_of_every_mode_end_with_the_serial_weights(self):
        for mode, ps, ranks, more in JOBS:
            with self.subTest(mode=mode, ps=ps, ranks=ranks, more=more):
                self.run_ok("shoal", "run", f"--mode={mode}",
                            *([f"--ps={ps}"] if ps else []),
                            f"--workers={ranks}", *more, *self.probe_flags(EPOCHS),
                            "--canary",
                            "--summary=" + self.path("summary.json"))
                self.expect_job(mode, ps + copies(mode, ranks), ranks)

    def test_one_process_of_every_mode_ends_with_the_serial_weights(self):
        for mode, ranks, more in (
                ("async", 3, []), ("ssp", 3, ["--ssp_bound=0"]),
                ("sync", 1, []), ("sync", 3, []), ("sync", 4, [BACKUP]),
                ("ring", 1, []), ("ring", 3, SUMS[:1]), ("ring", 4, SUMS[1:]),
                ("hybrid", 1, []), ("hybrid", 3, SUMS[1:])):
            with self.subTest(mode=mode, ranks=ranks, more=more):
                self.run_ok("shoal", "train", f"--mode={mode}",
                            f"--workers={ranks}", *more, *self.probe_flags(EPOCHS),
                            "--canary",
                            "--summary=" + self.path("summary.json"))
                servers = 0 if mode == "ring" else 1
                self.expect_job(mode, servers + copies(mode, ranks), ranks)

    def kill(self, epochs, *flags, victim=1):
        """A job of processes and the launcher, one worker of which is killed
        while it trains. Its data are slow."""
        self.slow = SlowData(self)
        self.slow.slow(self.data, 1)
        job = Launched(self, *self.probe_flags(epochs), *QUICK, "--canary", *flags,
                       "--progress_every=100ms",
                       "--summary=" + self.path("summary.json"),
                       prefix=self.slow.prefix)
        job.process.wait_for_line(harness.TRAINED, 60)
        os.kill(job.pid("shoal-worker", victim), signal.SIGKILL)
        return job

    def test_a_worker_is_killed_and_others_finish_its_work(self):
        epochs = 12
        for flags in (["--mode=async"], ["--mode=ssp", "--ssp_bound=1"],
                      ["--mode=sync"], ["--mode=sync", BACKUP]):
            with self.subTest(flags=flags):
                job = self.kill(epochs, *flags, "--ps=2", "--workers=2")
                job.process.wait_for_line(
                    "worker 1 was killed by SIGKILL; starting it again")
                self.slow.fast(self.data)
                self.assertEqual(job.process.wait(120), 0,
                                 job.process.output()[-3000:])
                self.expect_job(flags[0][len("--mode="):], 2, 2, epochs)


if __name__ == "__main__":
    harness.main()
