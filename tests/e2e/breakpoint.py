"""Stops one thread of a process where it enters a function, while the other
threads of the process go on: so a test knows what a rank is doing, and for as
long as it likes. Uses ptrace; the symbols are those of the binary."""

import ctypes
import errno
import fnmatch
import functools
import os
import platform
import signal
import subprocess
import time

SEIZE, INTERRUPT, CONT, DETACH = 0x4206, 0x4207, 7, 17
PEEK, POKE, GET_REGISTERS, SET_REGISTERS = 1, 4, 12, 13
WALL = 0x40000000
TRAPS = {"x86_64": b"\xcc", "aarch64": b"\x00\x00\x20\xd4"}
REGISTERS, PC = 27, 16  # of struct user_regs_struct on x86_64, and rip there

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                        ctypes.c_void_p]


def ptrace(request, thread, address=0, data=0):
    ctypes.set_errno(0)
    result = libc.ptrace(request, thread, address, data)
    if result == -1 and ctypes.get_errno() != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return result


@functools.cache
def why_not():
    """Why threads cannot be stopped here, or None."""
    if platform.machine() not in TRAPS:
        return "breakpoints are not written for " + platform.machine()
    child = subprocess.Popen(["sleep", "60"])
    try:
        ptrace(SEIZE, child.pid)
    except OSError as error:
        return "ptrace: " + errno.errorcode[error.errno]
    finally:
        child.kill()
        child.wait()
    return None


@functools.cache
def symbol(binary, start):
    """The address in the file of the only function whose mangled name begins so;
    a `*` stands for any text."""
    names = subprocess.run(["nm", "--defined-only", binary], check=True,
                           capture_output=True, text=True).stdout
    found = {line.split()[0] for line in names.splitlines()
             if fnmatch.fnmatchcase(line.split()[-1], start + "*")
             and not line.endswith(".cold")}
    assert len(found) == 1, (start, found)
    return int(found.pop(), 16)


def load_address(pid, binary):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) > 5 and words[5] == binary and words[2] == "0" * 8:
                return int(words[0].split("-")[0], 16)
    raise AssertionError(f"process {pid} has not loaded {binary}")


def thread_named(pid, name):
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/comm", encoding="utf-8") as file:
            if file.read().strip() == name:
                return int(thread)
    raise AssertionError(f"process {pid} has no thread {name}")


class Breakpoint:
    """A function that no other thread than `thread` may enter. All calls must
    come from one thread of the test.

        here = Breakpoint(pid, "train", "_ZN5shoal11LinearProbe7Predict")
        here.wait()
        ... kill the process, or here.release() ...
    """

    def __init__(self, pid, thread, start_of_name):
        binary = os.readlink(f"/proc/{pid}/exe")
        self.thread = thread_named(pid, thread)
        self.at = load_address(pid, binary) + symbol(binary, start_of_name)
        self.trap = TRAPS[platform.machine()]
        ptrace(SEIZE, self.thread)
        ptrace(INTERRUPT, self.thread)
        self._wait_for_stop(30)
        self.word = ptrace(PEEK, self.thread, self.at) & (2**64 - 1)
        there = self.word.to_bytes(8, "little")
        self._write(self.trap + there[len(self.trap):])
        ptrace(CONT, self.thread)

    def _write(self, code):
        ptrace(POKE, self.thread, self.at, int.from_bytes(code, "little"))

    def _wait_for_stop(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            thread, status = os.waitpid(self.thread, WALL | os.WNOHANG)
            if thread == 0:
                time.sleep(0.005)
                continue
            assert os.WIFSTOPPED(status), status
            return os.WSTOPSIG(status)
        raise AssertionError(f"thread {self.thread} did not stop")

    def wait(self, seconds=60):
        """Until the thread stands there."""
        while (number := self._wait_for_stop(seconds)) != signal.SIGTRAP:
            ptrace(CONT, self.thread, 0, number)

    def release(self):
        """The thread, which stands there, goes on, and stops no more."""
        self._write(self.word.to_bytes(8, "little"))
        if platform.machine() == "x86_64":  # it stands behind the trap
            registers = (ctypes.c_ulong * REGISTERS)()
            where = ctypes.addressof(registers)
            ptrace(GET_REGISTERS, self.thread, 0, where)
            registers[PC] = self.at
            ptrace(SET_REGISTERS, self.thread, 0, where)
        ptrace(DETACH, self.thread)

    def forget(self):
        """Once the process was killed: lets it end."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                thread, status = os.waitpid(self.thread, WALL | os.WNOHANG)
            except ChildProcessError:
                return
            if thread != 0 and not os.WIFSTOPPED(status):
                return
            time.sleep(0.005)
        raise AssertionError(f"thread {self.thread} did not end")
