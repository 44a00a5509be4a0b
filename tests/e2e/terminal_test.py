"""What a user sees: the live line in terminals of several widths, logs in files,
warnings and errors said once, and results that cannot be written."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time

import harness
from cluster import PROBE, Cluster
from slow_data import SlowData

ROWS = 30000
FULL_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[-+]\d\d:\d\d (info|warning|error) ")
RUNNING = r", eval \d+ %"  # an evaluation
SHORT_TIME = re.compile(r"(?<!T)\b\d\d:\d\d:\d\d\.\d{3} (info|warning|error) ")


def shoal(*args):
    return [os.path.join(harness.BIN, args[0]), *args[1:]]


class Screen:
    """A command whose stdout and stderr are a terminal of a given width."""

    def __init__(self, command, columns, **variables):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))
        environment = dict(os.environ, TERM="xterm-256color")
        environment.pop("NO_COLOR", None)
        environment.update(variables)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
            start_new_session=True, env=environment)
        os.close(slave)
        self.master = master
        self.text = ""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while True:
            try:
                got = os.read(self.master, 65536)
            except OSError:  # the last process with the terminal has ended
                return
            self.text += got.decode(errors="replace")

    def wait_for(self, seen, timeout=60):
        """Until `seen` is true of all that was written."""
        deadline = time.monotonic() + timeout
        while not seen(self.text):
            if time.monotonic() > deadline or not self.reader.is_alive():
                raise AssertionError(f"not seen: {self.text[-4000:]}")
            threading.Event().wait(0.02)

    def end(self, timeout=60):
        """All that was written, once the command has ended well."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            code = f"none in {timeout} s"
        self.reader.join(10)
        os.close(self.master)
        if code != 0:
            raise AssertionError(f"exit {code}: {self.text[-4000:]}")
        return self.text


class LiveLineTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(ROWS))
        self.test_data = self.write("data/te.libsvm",
                                    harness.linear_rows(2000, seed=2))

    def command(self, epochs, *more):
        return shoal("shoal", *more, *PROBE, "--batch_size=64",
                     f"--num_epochs={epochs}", "--print_config=false",
                     "--training_data_dir=" + self.data,
                     "--val_data_dir=" + self.test_data)

    def draws(self, text, between="\r\x1b[K"):
        """The live lines, as they were drawn one over the other."""
        drawn = [part.split("\r")[0].split("\n")[0]
                 for part in text.split(between)[1:]]
        return [line for line in drawn if line.startswith("epoch ")]

    def through_two_epochs(self, columns):
        """The live lines of a job that is held in its first epoch, in the
        evaluation after it, and in the second epoch, until each is drawn."""
        slow = SlowData(self)
        # The second half of both files.
        half, half_test = (os.path.getsize(path) // 2
                           for path in (self.data, self.test_data))
        slow.hold(self.data, half)
        screen = Screen(slow.prefix + self.command(
            2, "train", "--piece_bytes=20000"), columns)

        def drawn(pattern, count=1):
            screen.wait_for(lambda text: sum(
                re.search(pattern, line) is not None
                for line in self.draws(text)) >= count)

        drawn(r"^epoch 1/2, (?!.* eval)")
        slow.hold(self.test_data, half_test)
        slow.fast(self.data)
        drawn(RUNNING, 3)
        slow.hold(self.data, half)
        slow.fast(self.test_data)
        drawn(rf"^epoch 2/2, (?!.*{RUNNING})")
        slow.fast(self.data)
        return screen.end()

    def test_it_fits_each_width_and_drops_the_least_worthy(self):
        parts = ["epoch", " %", " left", "/s", "loss ", ", AUC "]
        for columns, wanted in ((60, parts[:5]), (80, parts + [", eval "]),
                                (120, parts + [", eval ", ", step "])):
            with self.subTest(columns=columns):
                text = self.through_two_epochs(columns)
                draws = self.draws(text)
                self.assertLess(max(map(len, draws)), columns, draws)
                for part in wanted:
                    self.assertTrue(any(part in line for line in draws),
                                    (part, draws))
                self.assertNotIn("? left", text)

    def test_80_columns_show_a_running_evaluation_and_the_newest_one(self):
        text = self.through_two_epochs(80)
        draws = self.draws(text)
        running = [line for line in draws if re.search(RUNNING, line)]
        for line in running:
            self.assertIn(" %, - left, ", line)
            # In words where there is room for them.
            self.assertRegex(
                line, r", eval AUC (-|0\.\d{4})( so far)?, loss ")
        self.assertNotIn(" 0s left", text)
        trains = [line for line in draws
                  if line.startswith("epoch 2/2") and line not in running]
        self.assertTrue(trains, draws)
        for line in trains:
            self.assertRegex(line, r", loss .*, AUC .*, eval (AUC )?0\.\d{4}")

    def test_no_color_and_dumb_terminals_get_no_escapes(self):
        slow = SlowData(self)

        def seen(text, *command, **variables):
            """What a terminal gets of a job that is held until it shows the
            text."""
            slow.hold(self.data)
            screen = Screen(slow.prefix + self.command(2, *command), 100,
                            **variables)
            screen.wait_for(lambda said: text in said)
            slow.fast(self.data)
            return screen.end()

        run = ("run", "--ps=1", "--workers=1")
        with_colours = seen("epoch 1/2, ", *run)
        self.assertIn("\x1b[3", with_colours, "this test would see colours")
        plain = seen("epoch 1/2, ", *run, NO_COLOR="1")
        self.assertNotIn("\x1b", plain)
        drawn = self.draws(plain, "\r" + " " * 99 + "\r")
        self.assertTrue(drawn, plain)
        for command in (run, ("train",)):
            dumb = seen("epoch 1/2, ", *command, TERM="dumb")
            self.assertNotIn("\x1b", dumb)
            self.assertNotIn("\r", dumb.replace("\r\n", "\n"))
            self.assertRegex(dumb, r"(?m)^\d\d:\d\d:\d\d\.\d+ epoch \d/2, ")

    @harness.unittest.skipUnless(shutil.which("tmux"), "needs tmux")
    def test_it_follows_the_window_of_tmux(self):
        def tmux(*args):
            return subprocess.run(
                ["tmux", "-f", "/dev/null", "-S", self.path("tmux"), *args],
                check=True, capture_output=True, text=True).stdout

        command = " ".join(self.command(9999, "train"))
        tmux("new-session", "-d", "-x", "120", "-y", "24", command)
        try:
            for columns, last in ((120, ", step "), (80, ", eval "),
                                  (60, ", loss ")):
                tmux("resize-window", "-x", str(columns))
                deadline = time.monotonic() + 60
                while True:
                    rows = tmux("capture-pane", "-p").rstrip("\n").split("\n")
                    # An evaluation that runs comes before the loss.
                    if (re.match(r"epoch \d+/9999, .* left, .*/s", rows[-1]) and
                            last in rows[-1] and
                            (columns > 60 or "eval" not in rows[-1])):
                        break
                    self.assertLess(time.monotonic(), deadline, rows)
                    threading.Event().wait(0.05)
                print(f"{columns:4} columns: {rows[-1]}", flush=True)
                self.assertLess(len(rows[-1]), columns)
        finally:
            tmux("kill-server")


class LogTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(4000))

    def flags(self, *more):
        return [*PROBE, "--batch_size=64", "--print_config=false",
                "--training_data_dir=" + self.data, *more]

    def cluster(self, workers, *more):
        cluster = Cluster(self, 1, workers, [*PROBE, "--batch_size=64",
                                             "--print_config=false", *more],
                          worker_flags=["--training_data_dir=" + self.data])
        cluster.start_ps(0).wait_for_line("listening")
        return cluster

    def test_lines_in_files_have_date_and_zone(self):
        slow = SlowData(self)
        for command in (("train",), ("run", "--ps=1", "--workers=1")):
            slow.hold(self.data)
            job = self.start("job", "shoal", *command, *self.flags(),
                             prefix=slow.prefix)
            job.wait_for_line(" epoch 1/1, ")
            slow.fast(self.data)
            self.assertEqual(job.wait(), 0, job.output())
            output = job.output()
            self.assertRegex(output, FULL_TIME)
            self.assertNotRegex(output, SHORT_TIME)
            self.assertRegex(output, r"(?m)^\d{4}-\d\d-\d\dT.* epoch 1/1, ")
            output = self.run_ok("shoal", *command,
                                 *self.flags("--log_time=short"))
            self.assertRegex(output, SHORT_TIME)
            self.assertNotRegex(output, FULL_TIME)

    def test_ps_0_warns_of_a_refused_process_with_the_reason(self):
        cluster = self.cluster(1)
        refused = cluster.start_worker(0, "--num_epochs=2")
        self.assertEqual(refused.wait(), 1)
        at = cluster.ps[0].wait_for_line("refused worker 0")
        line = cluster.ps[0].lines[at]
        self.assertIn(" warning ", line)
        self.assertIn("127.0.0.1:", line)
        self.assertIn("--num_epochs differs", line)
        cluster.common[2] = "--token_file=" + self.token_file(
            "other", "another-token-of-the-tests")
        self.assertEqual(cluster.start_worker(0).wait(), 1)
        at = cluster.ps[0].wait_for_line("refused a process", start=at + 1)
        self.assertIn("token", cluster.ps[0].lines[at])
        cluster.common[2] = "--token_file=" + self.path("token")
        cluster.start_worker(0)
        cluster.wait_all()
        output = cluster.ps[0].output()
        self.assertEqual(output.count(" warning [ps 0] refused "), 2, output)

    def test_ps_0_warns_of_missing_workers(self):
        cluster = self.cluster(2, "--num_epochs=999999", "--worker_grace=100ms",
                               "--start_timeout=30s", "--heartbeat=300ms",
                               "--ps_lease=1s", "--silent_after=2s")
        ps = cluster.ps[0]
        cluster.start_worker(1)
        at = ps.wait_for_line("the job begins with 1 of 2 workers")
        self.assertIn(" warning ", ps.lines[at])
        self.assertIn("worker 0", ps.lines[at])
        cluster.start_worker(0)
        at = ps.wait_for_line("worker 0 joined", start=at)
        cluster.workers[1].kill()
        at = ps.wait_for_line("the job goes on with 1 of 2 workers", start=at)
        self.assertIn(" warning ", ps.lines[at])
        self.assertIn("worker 1", ps.lines[at])
        ps.wait_for_line("left, 1 of 2 workers, ", start=at)
        cluster.workers[0].signal(signal.SIGTERM)
        ps.wait_for_line("the job waits with 0 of 2 workers", start=at)
        ps.signal(signal.SIGTERM)
        self.assertEqual(ps.wait(), 3)

    def test_the_end_is_said_once(self):
        rows = harness.linear_rows(4000).splitlines()
        rows[3000] = "1 no-feature"
        bad = self.write("bad/tr.libsvm", "\n".join(rows) + "\n")
        for command in (("train",), ("run", "--ps=2", "--workers=2")):
            _, output = self.run_fails(
                "shoal", *command, *self.flags("--training_data_dir=" + bad,
                                               "--piece_bytes=10000"))
            self.assertEqual(output.count("tr.libsvm:3001: 'no-feature'"), 1,
                             output)
            self.assertIn("1 row could not be parsed", output)
            self.assertIn("`shoal data stat`", output)
        # A mistake that only a process finds is the cause in the last line too.
        _, output = self.run_fails(
            "shoal", "run", "--ps=1", "--workers=1",
            *self.flags("--model_dir=/dev/null/model"))
        self.assertEqual(output.count("/dev/null/model"), 2, output)
        self.assertIn("/dev/null/model", output.splitlines()[-1])

    def test_allowed_bad_rows_are_named_by_line_and_then_counted(self):
        rows = harness.linear_rows(4000).splitlines()
        for i in range(1000, 1008):
            rows[i] = "2 1:1"
        bad = self.write("bad/tr.libsvm", "\n".join(rows) + "\n")
        output = self.run_ok(
            "shoal", "run", "--ps=1", "--workers=1",
            *self.flags("--training_data_dir=" + bad, "--piece_bytes=10000",
                        "--max_bad_rows=100",
                        "--quarantine_dir=" + self.path("q")))
        named = re.findall(r"warning bad row: tr\.libsvm:(\d+): label '2'", output)
        self.assertEqual(named, [str(n) for n in range(1001, 1006)], output)
        self.assertIn("bad rows   8, see ", output)
        with open(self.path("q", "bad-rows-worker-0.tsv")) as file:
            lines = [line.split("\t")[1] for line in file.readlines()[1:]]
        self.assertEqual(lines, [str(n) for n in range(1001, 1009)])

    def test_what_cannot_be_computed_is_a_dash(self):
        rows = [re.sub(r"^\d", "0", row)
                for row in harness.linear_rows(2000).splitlines()]
        data = self.write("zero/tr.libsvm", "\n".join(rows) + "\n")
        output = self.run_ok(
            "shoal", "train", "--feature_size=300", "--field_size=4",
            "--embedding_size=4", "--deep_layers=8",
            "--training_data_dir=" + data, "--val_data_dir=" + data)
        self.assertIn("AUC        -, logloss 0.", output)
        self.assertIn("calibration - on 2000 examples", output)
        # The last line may show the evaluation while it runs.
        self.assertRegex(output, ", AUC -, .*eval AUC - after epoch 1, |"
                                 ", eval AUC - so far, .*, AUC -, ")
        self.assertNotIn("AUC 0.", output)


class FullOutputTest(harness.ShoalTest):

    def fails_to_print(self, *args):
        with open("/dev/full", "w") as full:
            done = subprocess.run(shoal(*args), stdout=full, text=True,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1, (args, done.stderr))
        self.assertIn("standard output: No space left on device", done.stderr)

    def test_a_result_that_cannot_be_written_is_an_error(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(500))
        model = self.path("model")
        flags = [*PROBE, "--training_data_dir=" + data, "--print_config=false"]
        self.run_ok("shoal", "train", *flags, "--model_dir=" + model)
        for args in (["ckpt", "ls", model], ["ckpt", "show", model],
                     ["ckpt", "balance", model], ["ckpt", "verify", model],
                     ["ckpt", "show", model, "--json"], ["data", "stat", data],
                     ["data", "gen", "--rows=100", "--test_rows=10",
                      "--out=" + self.path("gen")],
                     ["--help"], ["--version"], ["train", "--help"],
                     ["train", *flags],
                     ["run", "--ps=1", "--workers=1", *flags]):
            with self.subTest(args=args):
                self.fails_to_print("shoal", *args)
        self.fails_to_print("shoal-ps", "--help")
        self.fails_to_print("shoal-worker", "--version")

    def test_the_closing_lines_of_ps_0_and_a_saved_checkpoint_too(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(500))
        cluster = Cluster(self, 1, 1, PROBE,
                          worker_flags=["--training_data_dir=" + data])
        with open("/dev/full", "w") as full:
            ps = subprocess.Popen(
                shoal("shoal-ps", "--task_index=0", *cluster.common),
                stdout=full, stderr=subprocess.PIPE, text=True)
        try:
            self.assertEqual(cluster.start_worker(0).wait(), 0)
            _, said = ps.communicate(timeout=60)
        finally:
            ps.kill()
        self.assertEqual(ps.returncode, 1, said)
        self.assertIn("standard output: No space left on device", said)

    def test_a_closed_output_and_a_closed_pipe_are_errors_too(self):
        done = subprocess.run(
            ["sh", "-c", "exec \"$0\" --version >&-", *shoal("shoal")],
            stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("standard output", done.stderr)
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(shoal("shoal", "--version"), stdout=writing,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(writing)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Broken pipe", done.stderr)


if __name__ == "__main__":
    harness.main()
