"""Measures processes from outside, over a window of their steady work.

A process reports its work by a count that grows batch by batch. For each count
the window begins and ends at the moment at which the count changes, so that no
part of a batch is counted. The processor time is that of the whole tree of
processes. The processor time that other processes used meanwhile is reported,
too, so that a disturbed window can be recognised.
"""

import os
import signal
import time
import urllib.request

TICK = os.sysconf("SC_CLK_TCK")
NOISY_CORES = 0.15  # a window in which other processes use more is marked


def stat_fields(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()


def process_tree(roots):
    """The processes `roots` and all that descend from them, sorted."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                children.setdefault(int(stat_fields(name)[1]), []).append(
                    int(name))
            except OSError:
                pass  # it has ended
    found, todo = set(), list(roots)
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo += children.get(pid, [])
    return sorted(found)


def cpu_seconds(pids):
    """User and system time of the processes that are alive."""
    ticks = 0
    for pid in pids:
        fields = stat_fields(pid)
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


def machine_seconds():
    """Core-seconds in which the machine was busy, or its host used them."""
    with open("/proc/stat") as file:
        user, nice, system, idle, wait, irq, softirq, steal = (
            int(field) for field in file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICK


def rss_mb(pids):
    """Resident memory of all processes together."""
    pages = 0
    for pid in pids:
        with open(f"/proc/{pid}/statm") as file:
            pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def metrics(port):
    """Samples of a Prometheus page by name and labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics",
                                timeout=10) as page:
        lines = page.read().decode().splitlines()
    return {key: float(value) for key, _, value in
            (line.rpartition(" ") for line in lines if line[:1] != "#")}


def examples_of(port):
    """The examples trained by the worker with its metrics on `port`."""
    def count():
        try:
            return metrics(port)["shoal_worker_examples_total"]
        except (OSError, KeyError):
            return 0  # it has not started
    return count


def wait_until(condition, what, deadline, check=lambda: None, every=0.02):
    while not condition():
        check()
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited too long for {what}")
        time.sleep(every)


def edge(counts, deadline, check):
    """(time, count) at the next change of each count."""
    before = [count() for count in counts]
    marks = [None] * len(counts)

    def all_changed():
        for i, count in enumerate(counts):
            if marks[i] is None:
                value = count()
                if value != before[i]:
                    marks[i] = (time.monotonic(), value)
        return None not in marks

    wait_until(all_changed, "a batch to end", deadline, check, 0.01)
    return marks


def measure(roots, counts, seconds, check=lambda: None, extra=()):
    """Measures a window of about `seconds` over the trees of `roots`.

    `counts` are functions, one a worker, that return samples done. `check`
    raises if the work has ended. `extra` names subsets of the processes whose
    processor time is reported separately: [(key, pids)].
    """
    deadline = time.monotonic() + seconds + 120
    first = edge(counts, deadline, check)
    pids = process_tree(roots)
    sets = [pids] + [process_tree(group) for _, group in extra]
    t0, busy0 = time.monotonic(), machine_seconds()
    cpu0 = [cpu_seconds(group) for group in sets]
    while time.monotonic() < t0 + seconds:
        check()
        time.sleep(0.1)
    last = edge(counts, deadline, check)
    t1, busy1 = time.monotonic(), machine_seconds()
    cpu = [cpu_seconds(group) - start for group, start in zip(sets, cpu0)]
    wall = t1 - t0
    rate = sum((end[1] - begin[1]) / (end[0] - begin[0])
               for begin, end in zip(first, last))
    others = max(0, (busy1 - busy0 - cpu[0]) / wall)
    found = {"samples_per_second": rate,
             "samples_per_cpu_second": rate * wall / cpu[0],
             "cpu_us": 1e6 * cpu[0] / (rate * wall),
             "cores": cpu[0] / wall, "others_cores": others,
             "window_seconds": wall, "rss_mb": rss_mb(pids)}
    for (key, _), part in zip(extra, cpu[1:]):
        found[key] = 1e6 * part / (rate * wall)
    return found


def end_by_signal(process, number=signal.SIGINT, grace=30):
    """Ends a child process in good order, or kills it after `grace` seconds."""
    if process.poll() is None:
        process.send_signal(number)
    try:
        process.wait(grace)
    except Exception:
        for pid in process_tree([process.pid]):
            os.kill(pid, signal.SIGKILL)
        process.wait()
