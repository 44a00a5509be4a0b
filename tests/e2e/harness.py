"""Starts Shoal's real processes, collects their output, and ends them.

Every wait has a deadline; nothing sleeps in the hope that something is done.
A test that fails prints the logs of the processes that it started.
"""

import datetime
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BIN = os.environ.get("SHOAL_BIN", "")

# Processes that are started here take SIGHUP, although nohup may have started
# the tests: a handler is not inherited, and an ignored signal would be.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

DATA = os.environ.get("SHOAL_TEST_DATA_DIR", "")

# A line of progress of a job that has trained: `wait_for_line` finds it.
TRAINED = re.compile(r"/s, .*\bstep [1-9]")


LOG_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")


def time_of(line):
    """The time of a line of the log, in seconds since the epoch."""
    return datetime.datetime.fromisoformat(
        LOG_TIME.search(line).group()).timestamp()


class Process:
    """One child with its output, line by line and with arrival times."""

    def __init__(self, name, args, prefix=(), env=None, user=None):
        self.name = name
        self.lines = []
        self._cond = threading.Condition()
        command = list(prefix) + [os.path.join(BIN, args[0])] + list(args[1:])
        self.popen = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True, env=env,
            **({} if user is None else
               {"user": user, "group": user, "extra_groups": []}))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.popen.stdout:
            with self._cond:
                self.lines.append(line.rstrip("\n"))
                self._cond.notify_all()
        with self._cond:
            self._cond.notify_all()

    def output(self):
        with self._cond:
            return "\n".join(self.lines)

    def wait_for_line(self, text, timeout=60, start=0):
        """The index of the first line from `start` on that holds `text`, or
        that a compiled expression finds."""
        if isinstance(text, re.Pattern):
            found = text.search
        else:
            def found(line):
                return text in line
        deadline = time.monotonic() + timeout
        at = start
        with self._cond:
            while True:
                while at < len(self.lines):
                    if found(self.lines[at]):
                        return at
                    at += 1
                left = deadline - time.monotonic()
                if left <= 0 or (self.popen.poll() is not None and
                                 not self._reader.is_alive()):
                    raise AssertionError(
                        f"{self.name} did not say {text!r} within {timeout} s; "
                        "it said:\n" + "\n".join(self.lines[-60:]))
                self._cond.wait(min(left, 0.2))

    def wait(self, timeout=60):
        """The exit code; negative: the signal that ended it."""
        try:
            code = self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"{self.name} still runs after {timeout} s; it said:\n" +
                self.output()[-6000:]) from None
        self._reader.join(10)
        return code

    def close(self):
        """Once it has ended."""
        self._reader.join(10)
        self.popen.stdout.close()

    def signal(self, number):
        self.popen.send_signal(number)

    def kill(self):
        try:
            os.killpg(self.popen.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.popen.wait()


class ShoalTest(unittest.TestCase):
    """A test with a directory and processes of its own."""

    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="shoal-e2e-")
        self.processes = []

    def tearDown(self):
        outcome = getattr(self, "_outcome", None)
        failed = outcome is not None and any(
            error for _, error in getattr(outcome, "errors", []) if error)
        result = getattr(outcome, "result", None)
        if result is not None:
            failed = failed or any(
                t is self for t, _ in result.failures + result.errors)
        for process in self.processes:
            if process.popen.poll() is None:
                process.kill()
        for process in self.processes:
            process.close()
        if failed:
            for process in self.processes:
                print(f"---- {process.name} (exit {process.popen.returncode})",
                      file=sys.stderr)
                print(process.output()[-4000:], file=sys.stderr)
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def start(self, name, *args, prefix=(), env=None, user=None):
        process = Process(name, args, prefix, env, user)
        self.processes.append(process)
        return process

    def run_ok(self, *args, timeout=120, user=None):
        """Runs to the end, expects exit 0, returns the output."""
        process = self.start(args[0], *args, user=user)
        code = process.wait(timeout)
        self.assertEqual(code, 0, process.output())
        return process.output()

    def run_fails(self, *args, timeout=60, user=None):
        """Runs to the end, expects a failure; returns (code, output)."""
        process = self.start(args[0], *args, user=user)
        code = process.wait(timeout)
        self.assertNotEqual(code, 0, process.output())
        self.assertGreater(code, 0, "ended by a signal: " + process.output())
        return code, process.output()

    def summary(self, name="summary.json"):
        with open(self.path(name)) as f:
            return json.load(f)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        return path

    def token_file(self, name="token", token="a-token-of-the-tests"):
        path = self.write(name, token + "\n")
        os.chmod(path, 0o600)
        return path

    def expect_whole(self, summary):
        """The ledger adds up and nothing was rejected or lost."""
        samples = summary["samples"]
        self.assertEqual(summary["exit_reason"], "done", summary)
        self.assertEqual(samples["rejected"], 0)
        self.assertEqual(samples["lost"], 0)


def free_ports(count):
    """Loopback ports that are free at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def own_port():
    """A loopback port that is free, and that the kernel gives to no program that
    asks for any port, as launchers do after this."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first = int(file.read().split()[0])
    while first > 11000:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.randrange(10000, first)))
                return s.getsockname()[1]
            except OSError:
                pass
    return free_ports(1)[0]


def linear_rows(count, features=300, fields=4, seed=1):
    """LibSVM text; the same for the same arguments."""
    state = seed * 2654435761 % 2**32 or 1
    lines = []
    for _ in range(count):
        parts = []
        for f in range(fields + 1):
            state = (1103515245 * state + 12345) % 2**31
            value = state >> 8
            parts.append(str(value % 2) if f == 0 else f"{value % features}:1")
        lines.append(" ".join(parts))
    return "\n".join(lines) + "\n"


def main():
    if not BIN:
        sys.exit("set SHOAL_BIN to the directory of the binaries")
    unittest.main(verbosity=2)
