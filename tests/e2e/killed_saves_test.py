"""A process is killed in each phase of a save: while the others are held, while a
shard is written or synced, and just before the manifest makes the checkpoint. Then
the job goes on, or ends and names the process; the same command resumes it, and it
ends with the serial run's weights."""

import os
import re
import signal

import harness
from breakpoint import Breakpoint, why_not
from exact_jobs import ExactJobsTest
from launched import Launched
from slow_data import SlowData

EPOCHS = 4
RANKS = SERVERS = 2
COMPUTES = "_ZN5shoal11LinearProbe15ForwardBackward"
# The call that hangs in a phase, and its path; a worker holds up the first.
PHASES = {"hold": None, "write": ("write", ".safetensors"),
          "sync": ("sync", ".safetensors"), "commit": ("rename", "manifest.json")}
ALL = bool(os.environ.get("SHOAL_ALL_PHASES"))
SAVED_LATER = "the checkpoint that was being saved is saved later"


class KilledSavesTest(ExactJobsTest):

    def launch(self, mode, *more, prefix=()):
        servers = [] if mode == "ring" else [f"--ps={SERVERS}"]
        return Launched(self, *self.probe_flags(EPOCHS), f"--mode={mode}",
                        f"--workers={RANKS + (mode != 'sync')}", *servers,
                        "--canary", "--silent_after=3s", "--ps_lease=3s",
                        "--shutdown_timeout=1s", "--max_job_restarts=0",
                        "--progress_every=100ms", "--heartbeat=200ms",
                        "--save_checkpoint_steps=100",
                        "--model_dir=" + self.model,
                        "--summary=" + self.path("summary.json"), *more,
                        prefix=prefix)

    def reach(self, mode, phase):
        """A job that is in this phase of its second save."""
        slow = SlowData(self)
        slow.slow(self.data, .2)
        if phase != "hold":
            slow.hang(*PHASES[phase])
            slow.let_go()
        job = self.launch(mode, prefix=slow.prefix)
        job.process.wait_for_line(re.compile(r"\bsaved .*/ckpt-"))
        if phase != "hold":
            slow.hold_on()
            slow.wait_for_hang(job.process)
            return job, slow, None
        # The worker cannot end its batch, so the others wait for it.
        here = Breakpoint(job.pid("shoal-worker", 1), "train", COMPUTES)
        here.wait()
        self.asked = self.start("save", "shoal", "ckpt", "save", self.model)
        # No line says that the request has come; it has by now.
        at = len(job.process.lines)
        for _ in range(10):
            at = 1 + job.process.wait_for_line("step ", 30, at)
        return job, slow, here

    def kill(self, mode, phase, binary, index):
        self.model = self.path(f"model-{mode}-{phase}-{binary}-{index}")
        job, slow, here = self.reach(mode, phase)
        start = len(job.process.lines)
        os.kill(job.pid(binary, index), signal.SIGKILL)
        goes_on = binary == "shoal-worker" and (index > 0 or mode != "ring")
        if here is not None and binary == "shoal-worker" and index == 1:
            here.forget()
        elif here is not None:
            here.release()
        name = ("worker" if binary == "shoal-worker" else "ps") + f" {index}"
        job.process.wait_for_line(
            f"{name} died" if goes_on else f"{name} was killed by SIGKILL", 30,
            start)
        slow.let_go()
        slow.fast(self.data)
        code = job.process.wait(120)
        if not goes_on:
            self.assertNotEqual(code, 0, job.process.output()[-3000:])
            self.assertIn(name, job.process.lines[-1])
            again = self.launch(mode)
            self.assertEqual(again.process.wait(120), 0,
                             again.process.output()[-6000:])
            again.process.wait_for_line(re.compile("goes on from|resumed"), 1)
        else:
            self.assertEqual(code, 0, job.process.output()[-6000:])
            if phase == "hold":
                self.assertEqual(self.asked.wait(), 0, self.asked.output())
            # Else the worker writes no file of it that is still missing.
            if phase == "write" or (mode, phase, index) == ("hybrid", "sync", 0):
                job.process.wait_for_line(SAVED_LATER, 1, start)
        ranks = RANKS + (not goes_on)
        self.expect_exact(EPOCHS, {"ring": ranks, "sync": SERVERS,
                                   "hybrid": SERVERS + ranks}[mode])
        self.run_ok("shoal", "ckpt", "verify", self.model)

    def kill_all(self, mode, cases):
        for phase, binary, index in cases:
            if phase == "hold" and why_not():
                print(why_not())
                continue
            with self.subTest(mode=mode, phase=phase, process=(binary, index)):
                self.kill(mode, phase, binary, index)

    def test_a_rank_of_a_ring_is_killed(self):
        """Rank 0 writes the checkpoint."""
        cases = ([(phase, "shoal-worker", index)
                  for phase in PHASES for index in (0, 1)] if ALL else
                 [("hold", "shoal-worker", 1), ("write", "shoal-worker", 0),
                  ("sync", "shoal-worker", 1), ("commit", "shoal-worker", 0)])
        self.kill_all("ring", cases)

    def test_a_process_of_sync_is_killed(self):
        processes = (("shoal-worker", 1), ("shoal-ps", 0), ("shoal-ps", 1))
        cases = ([(phase, *process) for phase in PHASES
                  for process in processes] if ALL else
                 [("hold", "shoal-ps", 1), ("write", "shoal-worker", 1),
                  ("sync", "shoal-ps", 1), ("commit", "shoal-ps", 0)])
        self.kill_all("sync", cases)

    def test_a_process_of_hybrid_is_killed(self):
        """Worker 0 writes the dense variables, and server 0 the manifest."""
        processes = (("shoal-worker", 0), ("shoal-worker", 1), ("shoal-ps", 0),
                     ("shoal-ps", 1))
        cases = ([(phase, *process) for phase in PHASES
                  for process in processes] if ALL else
                 [("hold", "shoal-worker", 1), ("write", "shoal-ps", 1),
                  ("sync", "shoal-worker", 0), ("commit", "shoal-worker", 0),
                  ("commit", "shoal-ps", 0)])
        self.kill_all("hybrid", cases)


if __name__ == "__main__":
    harness.main()
