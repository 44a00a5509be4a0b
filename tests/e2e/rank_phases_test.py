"""A rank of a ring is killed, or frozen, in each phase of its work, and a worker of a
hybrid in those that hybrid adds. A breakpoint
holds a rank where the test wants it, and the coordinator's log says where all ranks
stand; then the rank dies. Every rank that is left names it and says where it stood
itself, and the job ends with the serial run's weights."""

import os
import re
import signal
import time

import harness
from breakpoint import Breakpoint, why_not
from exact_jobs import ExactJobsTest
from launched import Launched
from slow_data import SlowData

EPOCHS, TEST_ROWS = 6, 2000
SILENT_AFTER = 3  # seconds, where a rank freezes
NEVER = 60  # where one is killed, so that its silence does not name it
VICTIM, OTHER = 2, 1  # of three ranks
SERVERS = 2  # of a hybrid
# All phases are frozen too, not only some.
ALL = bool(os.environ.get("SHOAL_ALL_PHASES"))

# Where the functions begin that a rank enters in its phases.
COMPUTES = "_ZN5shoal11LinearProbe15ForwardBackward"
EVALUATES = "_ZN5shoal11PredictStep"
APPLIES = "_ZN5shoal10OwnReplica10Connection4Push"
GATHERS = "_ZN5shoal7TcpRing9AllGather"
# The push to its own replica is not in this one.
PUSHES_ROWS = "_ZNSt17_Function_handlerIFvPN5shoal9TrainStepE*OfDense*_M_invoke"
CONFIRMS = "_ZN5shoal9RingRound7Confirm"

# By phase: the rank that is held and the function where; what is told of the rank
# that dies, and what the other says of itself.
AWAITS = ", and nothing comes from worker "
PHASES = {
    "computes": (VICTIM, COMPUTES, "computes",
                 f"sums dense bucket 1 of 1 for .*{AWAITS}{VICTIM}"),
    # The other is let go when the loss is told, and may have begun its sum before it
    # hears of it. It waits for nobody yet, for the rank that is left, or for the one
    # that died.
    "sums": (OTHER, COMPUTES, f"sums dense bucket 1 of 1 for .*{AWAITS}{OTHER}",
             "(computes|sums)"),
    "gathers": (OTHER, GATHERS, f"gathers rows for .*{AWAITS}{OTHER}", ""),
    "applies": (VICTIM, APPLIES, "applies",
                f"sums dense bucket 1 of 1 for .*{AWAITS}{VICTIM}"),
}
# Those of hybrid. Each time rows are on the servers of a step that is dropped: the
# other's, the victim's, or both.
HYBRID_PHASES = {
    "pushes rows": (VICTIM, PUSHES_ROWS, "pushes rows to the servers",
                    f"confirms rows for .*{AWAITS}{VICTIM}"),
    "waits for rows": (OTHER, PUSHES_ROWS, f"confirms rows for .*{AWAITS}{OTHER}",
                       "(pushes rows to the servers|confirms rows)"),
    "confirms rows": (VICTIM, CONFIRMS, "confirms rows",
                      f"confirms rows for .*{AWAITS}{VICTIM}"),
}


class RankPhasesTest(ExactJobsTest):

    def setUp(self):
        super().setUp()
        if why_not():
            self.skipTest(why_not())
        self.slow = SlowData(self)

    def launch(self, *more, ranks=3, silent=NEVER, mode="ring"):
        self.held_victim = None  # the Breakpoint in the rank that dies
        self.release = lambda: None  # lets the others go on
        self.slow.slow(self.data, .3)
        servers = [] if mode == "ring" else [f"--ps={SERVERS}"]
        return Launched(self, *self.probe_flags(EPOCHS), f"--mode={mode}",
                       f"--workers={ranks}", *servers, "--canary",
                       "--heartbeat=200ms",
                       f"--silent_after={silent}s", f"--ps_lease={silent}s",
                       "--stall_after=500ms",
                       "--shutdown_timeout=1s", "--progress_every=100ms",
                       "--summary=" + self.path("summary.json"), *more,
                       prefix=self.slow.prefix)

    def stop_in(self, job, worker, function):
        """The worker's train thread enters the function, and stays there."""
        job.process.wait_for_line(harness.TRAINED)
        here = Breakpoint(job.pid("shoal-worker", worker), "train", function)
        here.wait()
        if worker == VICTIM:
            self.held_victim = here
        else:
            self.release = here.release
        return here

    def lose(self, job, number, stood, said="", lost=f"worker {VICTIM} is"):
        """The victim dies, or freezes, while it does what `stood` says: it is
        named in time with that, and the other one says where it was. Returns the
        newest line."""
        pid = job.pid("shoal-worker", VICTIM)
        killed = number == signal.SIGKILL
        start = len(job.process.lines)
        began = time.monotonic()
        os.kill(pid, number)
        at = job.process.wait_for_line(
            re.compile(rf"warning worker {VICTIM} (died|was silent)"), 60, start)
        took = time.monotonic() - began
        if killed and self.held_victim is not None:
            self.held_victim.forget()
        # With room for a busy machine.
        self.assertLess(took, (1 if killed else SILENT_AFTER + 1) + 5)
        print(f"  worker {VICTIM}, which {stood.split(' ')[0]}, was named "
              f"{took:.2f} s after it was {'killed' if killed else 'frozen'}")
        line = job.process.lines[job.process.wait_for_line(
            "when it was lost: ", 10, at)]
        self.assertRegex(
            line, rf"worker {VICTIM}( at step \d+)? {stood}")
        self.release()
        # The lines of two processes come in any order.
        job.process.wait_for_line(
            re.compile(rf"worker {OTHER} .*{lost} lost, and the job goes on with "
                       r"2 workers; before that this worker (at step \d+ )?"
                       + said), 30, start)
        return len(job.process.lines)

    def go_on(self, job, line, replicas=2):
        job.process.wait_for_line(harness.TRAINED, 60, line + 1)
        self.slow.fast(self.data)
        self.assertEqual(job.process.wait(120), 0, job.process.output()[-6000:])
        return self.expect_exact(EPOCHS, replicas)

    def lose_in(self, case, number, mode="ring"):
        worker, function, stood, said = case
        killed = number == signal.SIGKILL
        job = self.launch(silent=NEVER if killed else SILENT_AFTER, mode=mode)
        here = self.stop_in(job, worker, function)
        job.process.wait_for_line(
            re.compile(rf"no batch was trained .*worker {VICTIM}( at step \d+)? "
                       + stood), 60, len(job.process.lines))
        line = self.lose(job, number, stood, said)
        if not killed:
            pid = job.pid("shoal-worker", VICTIM)
            os.kill(pid, signal.SIGCONT)
            if worker == VICTIM:
                here.release()
            line = job.process.wait_for_line(
                re.compile(rf"worker {VICTIM} .*error this process was taken for "
                           rf"dead: .*worker {VICTIM} was lost, and the job goes "
                           "on without it"), 60, line)
        return self.go_on(job, line, 2 if mode == "ring" else SERVERS + 2)

    def test_a_rank_dies_in_each_phase_of_a_step(self):
        for phase, case in PHASES.items():
            with self.subTest(phase=phase):
                self.lose_in(case, signal.SIGKILL)

    def lose_in_hybrid(self, phase, number):
        with self.subTest(phase=phase, number=number):
            summary = self.lose_in(HYBRID_PHASES[phase], number, "hybrid")
            # Rows of the dropped step were on the servers.
            self.assertGreater(summary["batches"]["mended"], 0)
            self.assertEqual(summary["workers_lost"], 1)

    def test_a_worker_of_hybrid_dies_in_each_phase_of_its_rows(self):
        for phase in HYBRID_PHASES:
            self.lose_in_hybrid(phase, signal.SIGKILL)

    def test_a_worker_of_hybrid_freezes_in_each_phase_of_its_rows(self):
        """The rows that it pushes when it thaws come too late."""
        for phase in HYBRID_PHASES if ALL else ("pushes rows",):
            self.lose_in_hybrid(phase, signal.SIGSTOP)

    def test_a_rank_freezes_in_each_phase_of_a_step(self):
        """And thaws when the others have gone on."""
        for phase in PHASES if ALL else ("gathers", "applies"):
            with self.subTest(phase=phase):
                self.lose_in(PHASES[phase], signal.SIGSTOP)

    def test_a_rank_dies_while_it_reads(self):
        job = self.launch()
        job.process.wait_for_line(harness.TRAINED)
        self.slow.hold(self.data)
        job.process.wait_for_line(
            re.compile(rf"no batch was trained .*worker {VICTIM}( at step \d+)? "
                       "reads"), 60, len(job.process.lines))
        # The readers of the ranks that are left end with their reads.
        self.release = lambda: self.slow.slow(self.data, .3)
        line = self.lose(job, signal.SIGKILL, "reads", "reads")
        self.go_on(job, line)

    def told(self, job):
        """Lets so many heartbeats pass that the ranks have told what they do. No
        line of the log says so in an evaluation or a save."""
        at = len(job.process.lines)
        for _ in range(20):
            at = 1 + job.process.wait_for_line(re.compile("eval|step "), 30, at)

    def test_a_rank_dies_while_it_evaluates(self):
        test = self.write("test/te.libsvm", harness.linear_rows(TEST_ROWS))
        job = self.launch("--val_data_dir=" + test, "--eval_every_epochs=2")
        self.stop_in(job, VICTIM, EVALUATES)
        self.told(job)
        line = self.lose(job, signal.SIGKILL, "evaluates")
        summary = self.go_on(job, line)
        self.assertEqual(summary["eval"]["examples"], TEST_ROWS)

    def test_a_rank_dies_while_it_is_held_for_a_checkpoint(self):
        """Rank 0 writes it."""
        model = self.path("model")
        self.slow.hang("write", ".safetensors")
        job = self.launch("--model_dir=" + model, "--save_checkpoint_steps=40")
        self.slow.wait_for_hang(job.process)
        self.told(job)
        self.release = self.slow.let_go
        line = self.lose(job, signal.SIGKILL, "is held for a checkpoint")
        self.go_on(job, line)
        self.run_ok("shoal", "ckpt", "verify", model)

    def test_a_rank_dies_between_two_rings(self):
        """Rank 3 dies; the victim cannot answer and has no port for the next ring
        when it dies too."""
        job = self.launch(ranks=4)
        self.stop_in(job, VICTIM, COMPUTES)
        os.kill(job.pid("shoal-worker", 3), signal.SIGKILL)
        at = job.process.wait_for_line("worker 3 died")
        job.process.wait_for_line(
            f"the workers change: worker {VICTIM} did not end the step that was "
            "open", 60, at)
        self.told(job)
        line = self.lose(job, signal.SIGKILL, "computes",
                         lost=f"worker {VICTIM} and worker 3 are")
        self.go_on(job, line)


if __name__ == "__main__":
    harness.main()
