"""Stopping loses no work: whatever sends SIGTERM, SIGHUP or one SIGINT to any or
all processes of a job, and however often, the job is saved, exits with code 3,
and the same command goes on."""

import fcntl
import os
import pty
import random
import re
import shlex
import shutil
import signal
import subprocess
import termios
import threading
import time

import harness
from cluster import PROBE, Cluster
from launched import Launched
from slow_data import PRELOADED, SlowData

# tools/check.sh --long asks for more.
STORMS = int(os.environ.get("SHOAL_STORMS", "2"))
SEED = int(os.environ.get("SHOAL_STORM_SEED", str(random.randrange(2**32))))
ROWS = 20000
STOPPED = 3  # docs/commands.md
LOST = 138


class StopsTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        self.model_dir = self.path("model")
        print(f"SHOAL_STORM_SEED={SEED}", flush=True)
        self.chance = random.Random(SEED)
        # A job that is started with the prefix is not over before it is
        # stopped.
        self.slow = SlowData(self)
        self.slow.slow(self.data, 0.3)

    def flags(self, epochs):
        return [*PROBE, "--batch_size=16", f"--num_epochs={epochs}",
                "--piece_bytes=16384", "--training_data_dir=" + self.data]

    def saving(self, epochs):
        return [*self.flags(epochs), "--canary",
                "--model_dir=" + self.model_dir,
                "--summary=" + self.path("summary.json")]

    def expect_saved(self, process, timeout=30):
        """The job was stopped, and nothing that it trained is lost."""
        self.assertEqual(process.wait(timeout), STOPPED,
                         process.output()[-6000:])
        summary = self.summary()
        self.assertIn("; saved ", summary["exit_reason"],
                      process.output()[-6000:])
        checkpoint = summary["checkpoint"]
        # A job that trained nothing has the checkpoint that it began from.
        self.newest = max(checkpoint["step"], checkpoint["resumed_step"])
        self.assertEqual(self.newest, summary["batches"]["trained"],
                         process.output()[-6000:])

    digests = {}  # by epochs: the data are the same

    def serial_digest(self, epochs):
        if epochs not in self.digests:
            self.run_ok("shoal", "train", *self.flags(epochs),
                        "--summary=" + self.path("serial.json"))
            self.digests[epochs] = self.summary("serial.json")["digest"]
        return self.digests[epochs]

    def finish(self, epochs, *command):
        """The same command goes on to the end, and each sample counts once."""
        self.run_ok(*command)
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], ROWS * epochs)
        self.assertEqual(summary["digest"], self.serial_digest(epochs))
        for shard in summary["canary"]:
            self.assertEqual(shard["not_one"], 0, summary["canary"])
        return summary

    @staticmethod
    def children(process):
        pid = process.popen.pid
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]

    def storm(self, process, signals):
        """Sends each signal to every process of the job, 0 to 5 ms apart."""
        targets = [process.popen.pid, *self.children(process)]
        for number in signals:
            for pid in self.chance.sample(targets, len(targets)):
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
                threading.Event().wait(self.chance.uniform(0, 0.005))


class StormTest(StopsTest):

    def survive(self, storms):
        """One job, through all of these storms at random times."""
        epochs = 2 + len(storms)
        command = ["shoal", "run", "--ps=2", "--workers=2",
                   *self.saving(epochs)]
        self.newest = 0
        for i, signals in enumerate(storms):
            job = self.start(f"run {i}", *command, prefix=self.slow.prefix)
            last = i == len(storms) - 1
            if last or self.chance.random() < 0.7:
                job.wait_for_line(harness.TRAINED)
            else:
                job.wait_for_line("model")  # the flags given: it begins
            # The last storm comes while the job trains.
            threading.Event().wait(self.chance.uniform(0.1 if last else 0,
                                                       0.5))
            self.storm(job, signals)
            code = job.wait(40)
            self.assertEqual(code, STOPPED, job.output()[-6000:])
            self.assertNotIn("SIGKILL", job.output())
            if last or "; saved " in job.lines[-1]:
                before = self.newest
                self.expect_saved(job)
                self.assertGreaterEqual(self.newest, before)
        summary = self.finish(epochs, *command)
        self.assertEqual(summary["checkpoint"]["resumed_step"], self.newest)

    def test_sigterm_twice_to_every_process(self):
        self.survive([[signal.SIGTERM] * 2] * STORMS)

    def test_sighup_twice_to_every_process(self):
        self.survive([[signal.SIGHUP] * 2] * STORMS)

    def test_an_interrupt_of_the_whole_control_group(self):
        """Each process hears of it twice: directly, and from the launcher."""
        self.survive([[signal.SIGINT]] * STORMS)


class OneProcessTest(StopsTest):

    def test_a_signal_to_one_process_stops_and_saves_the_job(self):
        epochs = 4
        command = ["--ps=2", "--workers=2", *self.saving(epochs)]
        for binary, index, number in (
                ("shoal-worker", 1, signal.SIGTERM),
                ("shoal-ps", 1, signal.SIGINT)):
            job = Launched(self, *command, prefix=self.slow.prefix)
            job.process.wait_for_line("marked (")
            name = f"{binary[6:]} {index}"
            os.kill(job.pid(binary, index), number)
            self.expect_saved(job.process)
            self.assertIn(f"{name} was stopped by {number.name}; saved",
                          job.process.lines[-1])
        self.finish(epochs, "shoal", "run", *command)

    def test_processes_of_one_terminal_save_at_one_interrupt(self):
        cluster = Cluster(self, 2, 1, self.flags(10000) +
                          ["--model_dir=" + self.model_dir, "--log_level=debug"],
                          ps_flags=["--summary=" + self.path("summary.json")])
        cluster.start_all()
        cluster.workers[0].wait_for_line("push done")
        processes = cluster.ps + cluster.workers
        self.chance.shuffle(processes)
        for process in processes:
            process.signal(signal.SIGINT)
        for process in processes:
            self.assertEqual(process.wait(30), STOPPED,
                             process.output()[-3000:])
        self.expect_saved(cluster.ps[0])
        self.run_ok("shoal", "ckpt", "verify", self.model_dir)

    def test_a_job_under_nohup_survives_the_end_of_its_terminal(self):
        epochs = 6
        job = self.start("nohup", "shoal", "run", "--ps=2", "--workers=1",
                         *self.saving(epochs),
                         prefix=[*self.slow.prefix, "nohup"])
        job.wait_for_line(harness.TRAINED)
        self.storm(job, [signal.SIGHUP] * 2)
        self.slow.fast(self.data)
        self.assertEqual(job.wait(), 0, job.output()[-3000:])
        self.assertNotIn("SIGHUP", job.output())
        self.assertEqual(self.summary()["samples"]["trained"], ROWS * epochs)

    def test_a_worker_without_a_model_directory_leaves_alone(self):
        cluster = Cluster(self, 1, 2, self.flags(2) + ["--log_level=debug"],
                          ps_flags=["--model_dir=" + self.model_dir,
                                    "--summary=" + self.path("summary.json")],
                          worker_prefix=self.slow.prefix)
        cluster.start_all()
        cluster.workers[1].wait_for_line("push done")
        cluster.workers[1].signal(signal.SIGTERM)
        self.assertEqual(cluster.workers[1].wait(), STOPPED)
        self.slow.fast(self.data)
        for process in (cluster.ps[0], cluster.workers[0]):
            self.assertEqual(process.wait(), 0, process.output()[-3000:])
        self.assertEqual(self.summary()["samples"]["trained"], ROWS * 2)


class InterruptTest(StopsTest):

    def test_one_interrupt_of_the_terminal_saves(self):
        epochs = 2 + STORMS
        for i, command in enumerate(
                [["shoal", "run", "--ps=2", "--workers=2"],
                 ["shoal", "train"]] * ((STORMS + 1) // 2)):
            job = self.start(f"job {i}", *command, *self.saving(epochs),
                             prefix=self.slow.prefix)
            job.wait_for_line(harness.TRAINED)
            threading.Event().wait(self.chance.uniform(0, 0.1))
            os.killpg(job.popen.pid, signal.SIGINT)
            self.expect_saved(job)
            self.assertIn("the job saves a checkpoint, within 20s, and stops",
                          job.output())
            self.assertIn("stopped by SIGINT; saved", job.lines[-1])
        self.finish(epochs, "shoal", "run", "--ps=2", "--workers=2",
                    *self.saving(epochs))

    def test_without_a_model_directory_it_says_that_nothing_is_saved(self):
        for command in (["shoal", "run", "--ps=1", "--workers=1"],
                        ["shoal", "train"]):
            job = self.start(command[1], *command, *self.flags(100000))
            job.wait_for_line(harness.TRAINED)
            job.signal(signal.SIGINT)
            self.assertEqual(job.wait(), STOPPED, job.output()[-3000:])
            self.assertIn("nothing is saved: to keep what a job has trained, "
                          "start it with --model_dir", job.output())

    def test_the_second_interrupt_ends_all_within_a_second(self):
        for _ in range((STORMS + 1) // 2):
            job = Launched(self, "--ps=2", "--workers=2",
                           *self.saving(100000))
            job.process.wait_for_line("push done")
            pids = self.children(job.process)
            self.assertEqual(len(pids), 4)
            with open(os.path.join(self.model_dir, "LOCK")) as lock:
                socket = re.search(r"save socket on \S+: (\S+)", lock.read())[1]
            self.assertTrue(os.path.exists(socket))
            # A frozen server keeps the job from being saved.
            os.kill(job.pid("shoal-ps", 1), signal.SIGSTOP)
            os.killpg(job.process.popen.pid, signal.SIGINT)
            job.process.wait_for_line("a second SIGINT (Ctrl-C)")
            threading.Event().wait(self.chance.uniform(0, 0.3))
            os.killpg(job.process.popen.pid, signal.SIGINT)
            self.assertEqual(job.process.popen.wait(1), STOPPED)
            for pid in pids:
                self.assertFalse(os.path.exists(f"/proc/{pid}"), pid)
            self.assertFalse(os.path.exists(os.path.dirname(socket)))

    def test_the_second_interrupt_ends_one_process_too(self):
        """Also while its disk hangs: nothing else would end it for 20 s."""
        job = self.start(
            "train", "shoal", "train", *self.saving(100000),
            prefix=["env", "LD_PRELOAD=" + PRELOADED,
                    "SHOAL_DISK_LOG=" + self.path("disk.log"),
                    "SHOAL_DISK_HANGS=shard-00000",
                    "SHOAL_DISK_RELEASE=" + self.path("release")])
        job.wait_for_line(harness.TRAINED)
        job.signal(signal.SIGINT)
        deadline = time.monotonic() + 20
        while "hangs " not in self.disk_log():
            self.assertLess(time.monotonic(), deadline, job.output())
            threading.Event().wait(0.01)
        job.signal(signal.SIGINT)
        self.assertEqual(job.popen.wait(1), STOPPED)

    def disk_log(self):
        try:
            with open(self.path("disk.log")) as file:
                return file.read()
        except FileNotFoundError:
            return ""


class LastWordsTest(StopsTest):
    """The last line of a job names the checkpoint from which the same command
    goes on, or says that there is none."""

    def newest(self):
        return os.path.join(self.model_dir, max(
            name for name in os.listdir(self.model_dir)
            if os.path.exists(os.path.join(self.model_dir, name,
                                           "manifest.json"))))

    def expect_newest(self, job, code):
        self.assertEqual(job.wait(30), code, job.output()[-3000:])
        path = self.newest()
        words = ("a larger --num_epochs trains on" if code == 0 else
                 "the same command goes on")
        self.assertRegex(job.lines[-1],
                         f"{words} from {path}, step {int(path[-11:])}$")

    def test_whatever_the_end(self):
        run = ["shoal", "run", "--ps=2", "--workers=1", *self.saving(2)]
        endless = ["shoal", "run", "--ps=2", "--workers=1",
                   "--max_job_restarts=0", *self.saving(100000)]
        done = self.start("done", *run)
        self.expect_newest(done, 0)
        stopped = self.start("stopped", *endless)
        stopped.wait_for_line(harness.TRAINED)
        stopped.signal(signal.SIGTERM)
        self.expect_newest(stopped, STOPPED)
        for index in (1, 0):
            killed = Launched(self, *endless[2:])
            killed.process.wait_for_line("push done")
            os.kill(killed.pid("shoal-ps", index), signal.SIGKILL)
            self.expect_newest(killed.process, LOST)
        train = self.start("train", "shoal", "train", *self.saving(100000))
        train.wait_for_line(harness.TRAINED)
        train.signal(signal.SIGINT)
        self.expect_newest(train, STOPPED)

    def test_without_a_checkpoint(self):
        job = Launched(self, "--ps=1", "--workers=1", "--max_job_restarts=0",
                       *self.saving(100000))
        job.process.wait_for_line("push done")
        os.kill(job.pid("shoal-ps", 0), signal.SIGKILL)
        self.assertEqual(job.process.wait(30), LOST)
        self.assertIn(f"there is no checkpoint in {self.model_dir}, so the "
                      "same command begins from the start",
                      job.process.lines[-1])
        for command in (["shoal", "run", "--ps=1", "--workers=1"],
                        ["shoal", "train"]):
            job = self.start(command[1], *command, *self.flags(1))
            self.assertEqual(job.wait(), 0)
            self.assertIn("the model was not saved, as there is no --model_dir",
                          job.lines[-1])


class TerminalTest(StopsTest):

    @harness.unittest.skipUnless(shutil.which("tmux"), "needs tmux")
    def test_a_killed_session_of_tmux_saves_the_job(self):
        def tmux(*args):
            return subprocess.run(
                ["tmux", "-f", "/dev/null", "-S", self.path("tmux"), *args],
                check=True, capture_output=True, text=True).stdout

        epochs = 5
        command = ["shoal", "run", "--ps=2", "--workers=2",
                   *self.saving(epochs)]
        tmux("new-session", "-d", "-x", "120", "-y", "24",
             shlex.join([*self.slow.prefix,
                         os.path.join(harness.BIN, command[0]), *command[1:]]))
        self.addCleanup(subprocess.run, ["tmux", "-S", self.path("tmux"),
                                         "kill-server"], capture_output=True)
        pid = int(tmux("list-panes", "-F", "#{pane_pid}"))
        deadline = time.monotonic() + 60
        while not re.search(r", step [1-9]", tmux("capture-pane", "-p")):
            self.assertLess(time.monotonic(), deadline)
            threading.Event().wait(0.02)
        tmux("kill-session")
        while os.path.exists(f"/proc/{pid}"):
            self.assertLess(time.monotonic(), deadline)
            threading.Event().wait(0.02)
        summary = self.summary()
        self.assertIn("SIGHUP; saved", summary["exit_reason"])
        self.finish(epochs, *command)

    def in_terminal(self, *command):
        """Starts a job in a new terminal; returns both once it has trained."""
        terminal, end = pty.openpty()
        job = subprocess.Popen(
            [*self.slow.prefix, os.path.join(harness.BIN, command[0]),
             *command[1:]], stdin=end, stdout=end, stderr=end,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.addCleanup(lambda: (job.kill(), job.wait()))
        os.close(end)
        said = b""
        while not re.search(rb", step [1-9]", said):
            said = said[-10:] + os.read(terminal, 4096)
        return job, terminal

    def test_a_closed_terminal_saves_the_job(self):
        """The system sends SIGHUP to the session's leader and to the processes
        in the foreground, and every write to the terminal fails."""
        epochs = 3 + 2 * STORMS
        command = ["shoal", "run", "--ps=2", "--workers=2",
                   *self.saving(epochs)]
        before = 0
        for _ in range(STORMS):
            job, terminal = self.in_terminal(*command)
            threading.Event().wait(self.chance.uniform(0, 0.3))
            os.close(terminal)
            self.assertEqual(job.wait(30), STOPPED)
            summary = self.summary()
            self.assertIn("SIGHUP; saved", summary["exit_reason"])
            checkpoint = summary["checkpoint"]
            self.assertEqual(checkpoint["resumed_step"], before)
            # A job that trained nothing has the checkpoint that it began from.
            before = max(checkpoint["step"], before)
            self.assertEqual(before, summary["batches"]["trained"])
        self.finish(epochs, *command)


if __name__ == "__main__":
    harness.main()
