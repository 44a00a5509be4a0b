"""Ranks of a ring that another launcher starts, such as mpirun or srun: each takes
its place from the environment."""

import harness
from exact_jobs import ExactJobsTest

EPOCHS = 2
USAGE = 2  # docs/commands.md


class StartedRanksTest(ExactJobsTest):
    """A launcher's test has start_ranks(count, *command, more=, prefix=)."""

    def setUp(self):
        super().setUp()
        self.coordinator = f"--coordinator=127.0.0.1:{harness.own_port()}"

    def flags(self, epochs=EPOCHS):
        return [*self.probe_flags(epochs), "--canary"]

    def ring(self, count, *args, epochs=EPOCHS, **options):
        return self.start_ranks(count, "shoal-worker", "--mode=ring",
                                *self.flags(epochs), *args, **options)

    def expect_serial(self, ranks, epochs=EPOCHS):
        summary = self.expect_exact(epochs, ranks)
        self.assertEqual((summary["mode"], summary["workers"]),
                         ("ring", ranks))
