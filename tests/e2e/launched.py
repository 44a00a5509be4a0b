"""A `shoal run` and the processes that it started."""

import threading
import time


class Launched:
    """A `shoal run` whose processes are found by their command lines."""

    def __init__(self, test, *flags, prefix=()):
        self.process = test.start("run", "shoal", "run", "--log_level=debug",
                                  *flags, prefix=prefix)

    def pid(self, binary, index):
        """Of the process that is there now; waits for one."""
        parent = self.process.popen.pid
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with open(f"/proc/{parent}/task/{parent}/children") as file:
                children = file.read().split()
            for child in children:
                words = self.command_line(child)
                if (words and words[0].endswith(binary) and
                        f"--task_index={index}" in words):
                    return int(child)
            threading.Event().wait(0.01)
        raise AssertionError(f"no {binary} {index}: {self.process.output()}")

    @staticmethod
    def command_line(pid):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                return file.read().split("\0")
        except FileNotFoundError:
            return []
