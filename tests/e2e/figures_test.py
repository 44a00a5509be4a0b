"""The figures that a job tells of itself (docs/summary.md), in every mode: the
time of each worker by state, payload bytes, step times and the curve."""

import time

import harness

FILES, ROWS, EPOCHS, BATCH, RANKS, SERVERS = 2, 8192, 1, 128, 2, 2
FIELDS, DIM, LAYERS = 6, 16, (64, 32)
MODEL = ["--model=deepfm", "--feature_size=400", f"--field_size={FIELDS}",
         f"--embedding_size={DIM}",
         "--deep_layers=" + ",".join(map(str, LAYERS)), "--seed=3",
         f"--batch_size={BATCH}", "--piece_bytes=0",
         f"--num_epochs={EPOCHS}"]
BATCHES = FILES * ROWS // BATCH * EPOCHS
STATES = ["compute", "prepare", "send", "wait_lease", "wait_data", "wait_pull",
          "wait_push", "wait_pace", "wait_step", "wait_ring"]
MODES = ["async", "ssp", "sync", "ring", "hybrid"]


def dense_bytes():
    """As in bench/e2e/bytes.py."""
    widths = (FIELDS * DIM, *LAYERS, 1)
    return 4 * (sum(a * b + b for a, b in zip(widths, widths[1:])) + 1)


class FiguresTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        for i in range(FILES):
            self.write(f"data/tr{i}.libsvm", harness.linear_rows(
                ROWS, features=400, fields=FIELDS, seed=1 + i))
        self.flags = [*MODEL, "--training_data_dir=" + self.path("data"),
                      "--summary=" + self.path("summary.json")]

    def run_job(self, *args):
        """(summary, seconds that the command took)."""
        began = time.monotonic()
        self.run_ok("shoal", *args, *self.flags)
        took = time.monotonic() - began
        summary = self.summary()
        self.expect_whole(summary)
        return summary, took

    def expect_times(self, summary, took):
        wall = summary["wall_seconds"]
        times = [worker["seconds"] for worker in summary["processes"]]
        self.assertEqual(len(times), summary["workers"])
        sums = []
        for seconds in times:
            self.assertEqual(list(seconds), STATES)
            self.assertGreaterEqual(min(seconds.values()), 0)
            self.assertGreater(seconds["compute"], 0)
            sums.append(sum(seconds.values()))
        # From the first lease to the end of the job the thread of the worker
        # with that lease is in some state, and the job is only a part of what
        # the command does.
        self.assertGreater(max(sums), wall)
        self.assertLess(max(sums), took)
        steady = summary["steady"]["seconds"]
        self.assertEqual(list(steady), STATES)
        for state in STATES:
            self.assertLessEqual(
                steady[state], sum(seconds[state] for seconds in times) + 1e-9)
        mode = summary["mode"]
        for state, modes in (("wait_step", ["sync"]),
                             ("wait_ring", ["ring", "hybrid"])):
            waited = any(seconds[state] > 0 for seconds in times)
            self.assertEqual(waited, mode in modes, (mode, state))

    def expect_steps(self, summary):
        """Every batch but the first of each worker ends a step."""
        steps = summary["step_seconds"]
        self.assertEqual(summary["batches"]["recomputed"], 0)
        self.assertEqual(steps["count"],
                         BATCHES - len([n for n in summary["per_worker"] if n]))
        quantiles = [steps[key] for key in ("p10", "p50", "p90", "p99", "max")]
        self.assertEqual(quantiles, sorted(quantiles))
        self.assertGreater(steps["mean"], 0)
        self.assertGreater(steps["max"], steps["mean"])
        self.assertGreater(steps["deviation"], 0)
        longest = max(sum(worker["seconds"].values())
                      for worker in summary["processes"])
        self.assertLess(steps["max"], longest)

    def expect_curve(self, summary):
        curve = summary["curve"]
        self.assertLessEqual(len(curve), 200)
        for key in ("seconds", "samples"):
            column = [point[key] for point in curve]
            self.assertEqual(column, sorted(column), key)
        last = curve[-1]
        self.assertEqual(last["samples"], summary["samples"]["trained"])
        self.assertAlmostEqual(last["seconds"], summary["wall_seconds"])
        self.assertEqual(last["loss"], summary["last_loss"])
        self.assertTrue(0 < last["auc"] < 1, last)

    def bytes_of(self, summary):
        rows = {(row["role"], row["peer"], row["method"]):
                (row["sent"], row["received"]) for row in summary["bytes"]}
        self.assertEqual(len(rows), len(summary["bytes"]))
        self.assertEqual([(row["role"], row["method"])
                          for row in summary["steady"]["bytes"]],
                         [(row["role"], row["method"])
                          for row in summary["bytes"]])
        return rows

    def expect_near(self, value, formula):
        self.assertLess(abs(value / formula - 1), 0.05, (value, formula))

    def expect_bytes(self, mode, summary):
        """By the formulas of bench/e2e/bytes.py, summed over the job."""
        rows = self.bytes_of(summary)
        ids = sum(shard["lookups"] for shard in summary["balance"])
        floats = 4 * (DIM + 1)
        servers = mode != "ring"
        ring = mode in ("ring", "hybrid")
        # What one side has sent, the other has received.
        expected = set()
        if servers:
            for method in ("pull", "push"):
                expected |= {("worker", "ps", method), ("ps", "worker", method)}
            asked, pulled = rows[("worker", "ps", "pull")]
            pushed, answered = rows[("worker", "ps", "push")]
            self.assertEqual(pulled, rows[("ps", "worker", "pull")][0])
            self.assertEqual((pushed, answered),
                             rows[("ps", "worker", "push")][::-1])
            # A server that does not serve yet reads no pull, and each pull is
            # repeated until it does.
            self.assertGreaterEqual(asked, rows[("ps", "worker", "pull")][1])
            self.expect_near(rows[("ps", "worker", "pull")][1], 8 * ids)
            self.expect_near(asked, 8 * ids)
        if ring:
            expected.add(("worker", "worker", "ring"))
            sent, received = rows[("worker", "worker", "ring")]
            self.assertEqual(sent, received)
        self.assertEqual(set(rows), expected)
        if servers:
            dense = 0 if ring else dense_bytes() * BATCHES
            self.expect_near(pulled, floats * ids + dense)
            self.expect_near(pushed, (8 + floats) * ids + dense)
            self.assertEqual(answered, 0)
        if ring:
            # An epoch ends with a round without batches.
            rounds = BATCHES / RANKS + EPOCHS
            exchanged = 0 if servers else (RANKS - 1) * ids * (8 + floats)
            self.expect_near(
                rows[("worker", "worker", "ring")][0],
                2 * (RANKS - 1) * dense_bytes() * rounds + exchanged)

    def test_a_job_of_processes_in_every_mode(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                summary, took = self.run_job(
                    "run", f"--mode={mode}", f"--workers={RANKS}",
                    *([] if mode == "ring" else [f"--ps={SERVERS}"]),
                    *(["--ssp_bound=2"] if mode == "ssp" else []))
                self.expect_times(summary, took)
                self.expect_steps(summary)
                self.expect_curve(summary)
                self.expect_bytes(mode, summary)

    def test_one_process_has_all_of_them_but_bytes(self):
        for mode, workers in (("async", 1), ("ring", 2)):
            with self.subTest(mode=mode):
                summary, took = self.run_job("train", f"--mode={mode}",
                                             f"--workers={workers}")
                self.expect_times(summary, took)
                self.expect_steps(summary)
                self.expect_curve(summary)
                self.assertEqual(summary["bytes"], [])

    def test_the_warm_up_is_in_no_step_time(self):
        summary, _ = self.run_job("train", "--warmup_steps=20")
        self.assertEqual(summary["step_seconds"]["count"], BATCHES - 1 - 20)


if __name__ == "__main__":
    harness.main()
