"""Files of data whose reads take as long as a test wants, so that no job is over
before the test has seen what it waits for, on a machine of any speed. Writes of
checkpoints that hang."""

import os
import shutil
import tempfile
import time

import harness

PRELOADED = os.path.join(os.path.dirname(harness.BIN), "tests",
                         "libhanging_disk.so")
HELD = 3600  # seconds: longer than any test


class SlowData:
    """The files that are slow now, for the processes of `prefix`. What a job
    reads first of each file, to know what it is, is never slow."""

    def __init__(self, test):
        self.directory = tempfile.mkdtemp(prefix="shoal-slow-")
        test.addCleanup(shutil.rmtree, self.directory)
        self.calls = os.path.join(self.directory, ".calls")
        self.released = os.path.join(self.directory, ".released")
        # What goes before a command, whose children inherit it.
        self.prefix = ["env", "LD_PRELOAD=" + PRELOADED,
                       "SHOAL_DISK_SLOW=" + self.directory]

    def slow(self, path, seconds, start=1):
        """From now on each read at byte `start` of the file, or behind it,
        takes so much longer. A process that stops may wait for one read."""
        place = self._place(path)
        with open(place + ".new", "w", encoding="utf-8") as file:
            file.write(f"{int(1000 * seconds)} {start}\n")
        os.rename(place + ".new", place)

    def hold(self, path, start=1):
        """No byte behind `start` is read from now on. Processes that are to
        stop need `fast` first."""
        self.slow(path, HELD, start)

    def fast(self, path):
        """The reads that wait go on at once."""
        place = self._place(path)
        if os.path.exists(place):
            os.remove(place)

    def hang(self, call, text):
        """Of processes that start now, every "write", "sync" or "rename" of a
        path with this text hangs until `let_go`, and again from `hold_on` on."""
        self.hold_on()
        self.prefix += ["SHOAL_DISK_LOG=" + self.calls,
                        "SHOAL_DISK_HANGS=" + text,
                        "SHOAL_DISK_HANGS_IN=" + call,
                        "SHOAL_DISK_RELEASE=" + self.released]

    def hold_on(self):
        if os.path.exists(self.released):
            os.remove(self.released)
        with open(self.calls, "w", encoding="utf-8"):
            pass

    def let_go(self):
        with open(self.released, "w", encoding="utf-8"):
            pass

    def wait_for_hang(self, process, timeout=60):
        """Until a call hangs; `process` says why none does."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            with open(self.calls, encoding="utf-8") as file:
                if "hangs " in file.read():
                    return
            time.sleep(0.01)
        raise AssertionError("nothing hangs; it said:\n" +
                             process.output()[-6000:])

    def _place(self, path):
        return os.path.join(self.directory, os.path.basename(path))
