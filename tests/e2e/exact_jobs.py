"""Jobs that train the linear probe on the same rows. Its weights do not depend on
the order of updates, so all of them end with the weights of one process; each
shard and each copy says that it has every batch once."""

import harness
from cluster import PROBE

ROWS = 4000
BATCH = ["--batch_size=16", "--piece_bytes=8192"]


class ExactJobsTest(harness.ShoalTest):

    digests = {}  # of the serial run, by epochs: the data are the same

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))

    def probe_flags(self, epochs):
        return [*PROBE, *BATCH, f"--num_epochs={epochs}",
                "--training_data_dir=" + self.data]

    def serial_digest(self, epochs):
        if epochs not in self.digests:
            self.run_ok("shoal", "train", *self.probe_flags(epochs),
                        "--summary=" + self.path("serial.json"))
            self.digests[epochs] = self.summary("serial.json")["digest"]
        return self.digests[epochs]

    def expect_exact(self, epochs, holders):
        """The ledger of the job of summary.json, each push once on each of the
        `holders` (servers, and ranks with a copy), and the weights. Returns the
        summary."""
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS * epochs)
        self.assertEqual(len(summary["canary"]), holders)
        for canary in summary["canary"]:
            self.assertEqual(canary["rows"], summary["batches"]["trained"])
            self.assertEqual((canary["not_one"], canary["smallest"],
                              canary["largest"]), (0, 1, 1))
        self.assertEqual(summary["digest"], self.serial_digest(epochs))
        return summary
