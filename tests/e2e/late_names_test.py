"""Host names that do not resolve yet when a process starts.

Each test has an /etc/hosts of its own: the processes run in a mount namespace
in which a file of the test lies over it, and names appear in this file later.
"""

import os
import shutil
import signal
import subprocess
import threading

import harness
from cluster import PROBE

STOPPED = 3  # docs/commands.md
NAMES = ["ps-zero.shoal.invalid", "ps-one.shoal.invalid"]


def why_not(hosts):
    """Why a process cannot have a file of names of its own here, or None."""
    if os.geteuid() != 0:
        return "a mount namespace needs root"
    if shutil.which("unshare") is None:
        return "unshare is not installed (Debian package util-linux)"
    tried = subprocess.run(with_hosts(hosts) + ["true"], capture_output=True,
                           text=True)
    if tried.returncode != 0:
        return "no mount namespace: " + tried.stderr.strip()
    return None


def with_hosts(path):
    """The beginning of a command that sees the file as /etc/hosts."""
    return ["unshare", "--mount", "sh", "-c",
            f'mount --bind "{path}" /etc/hosts && exec "$@"', "sh"]


class LateNamesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.hosts = self.write("hosts", "127.0.0.1 localhost\n")
        reason = why_not(self.hosts)
        if reason:
            self.skipTest(reason)
        self.ports = harness.free_ports(2)
        self.flags = [
            *PROBE, "--batch_size=16", "--worker_hosts=a,b",
            "--token_file=" + self.token_file(), "--ps_hosts=" +
            ",".join(f"{n}:{p}" for n, p in zip(NAMES, self.ports))]
        self.data = "--training_data_dir=" + self.write(
            "data/tr.libsvm", harness.linear_rows(2000))

    def name(self, name, address="127.0.0.1"):
        """The name resolves from now on."""
        with open(self.hosts, "a", encoding="utf-8") as file:
            file.write(f"{address} {name}\n")

    def ps(self, index, *more):
        return self.start(f"ps {index}", "shoal-ps", *self.flags,
                          f"--task_index={index}", *more,
                          prefix=with_hosts(self.hosts))

    def worker(self, index, *more):
        return self.start(f"worker {index}", "shoal-worker", *self.flags,
                          self.data, f"--task_index={index}", *more,
                          prefix=with_hosts(self.hosts))

    def expect_waiting(self, process, *names):
        line = process.lines[process.wait_for_line("waiting for a host name")]
        for name in NAMES:
            self.assertEqual(f"'{name}'" in line, name in names, line)

    def test_a_job_whose_names_come_one_after_the_other(self):
        servers = [self.ps(0, "--summary=" + self.path("summary.json")),
                   self.ps(1)]
        workers = [self.worker(0), self.worker(1)]
        # A server waits for its own name too, as that of a container may come
        # with its network; a worker needs all servers.
        self.expect_waiting(servers[0], NAMES[0])
        for process in [servers[1], *workers]:
            self.expect_waiting(process, *NAMES)
        # Long enough for gRPC's own pauses between two lookups to grow, if it
        # were the one to wait: then the job would go on late, or not at all.
        threading.Event().wait(float(os.environ.get("SHOAL_LATE_SECONDS", 2)))
        self.name(NAMES[0])
        servers[0].wait_for_line("listening", timeout=10)
        self.name(NAMES[1])
        for process in servers + workers:
            self.assertEqual(process.wait(30), 0, process.output())
            self.assertIn("resolves now", process.output())
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], 2000)

    def test_a_name_that_never_comes_is_named_when_the_time_is_over(self):
        self.name(NAMES[0])
        worker = self.worker(0, "--start_timeout=1s")
        self.assertEqual(worker.wait(20), 1, worker.output())
        self.assertIn(NAMES[1], worker.lines[-1])
        self.assertNotIn(NAMES[0], worker.lines[-1])
        self.assertIn("--start_timeout", worker.lines[-1])
        self.assertIn("of ps 1", worker.lines[-1])
        server = self.ps(1, "--start_timeout=1s")
        self.assertEqual(server.wait(20), 1, server.output())
        self.assertIn("of this server", server.lines[-1])
        self.assertIn("--listen", server.lines[-1])

    def test_with_listen_a_server_needs_no_name_of_its_own(self):
        server = self.ps(0, f"--listen=0.0.0.0:{self.ports[0]}")
        server.wait_for_line("listening on 0.0.0.0")
        self.assertNotIn("host name", server.output())

    def test_a_name_that_is_a_loopback_address_on_its_own_host_is_a_warning(
            self):
        """As Debian's installer writes it into /etc/hosts."""
        self.name(NAMES[0], "127.0.1.1")
        server = self.ps(0)
        line = server.lines[server.wait_for_line("no other host can reach")]
        self.assertIn("127.0.1.1", line)
        self.assertIn(f"--listen=0.0.0.0:{self.ports[0]}", line)
        server.kill()
        server = self.ps(0, f"--listen=127.0.0.1:{self.ports[0]}",
                         "--start_timeout=1s")
        self.assertEqual(server.wait(20), 1, server.output())
        self.assertNotIn("no other host can reach", server.output())

    def test_a_signal_ends_the_wait(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for process in (self.ps(0), self.worker(0)):
                self.expect_waiting(process, *(
                    NAMES[:1] if process.name == "ps 0" else NAMES))
                process.signal(number)
                self.assertEqual(process.wait(10), STOPPED, process.output())

    def test_a_name_that_can_never_resolve_is_refused_at_once(self):
        for host in ("10.0.0.300", "h1..internal", "h" * 64):
            for program, more in (("shoal-worker", [self.data]),
                                  ("shoal-ps", [])):
                code, output = self.run_fails(
                    program, *self.flags, "--task_index=0", *more,
                    f"--ps_hosts={host}:2223", "--worker_hosts=a",
                    timeout=20)
                self.assertEqual(code, 2, output)
                self.assertIn(host, output.splitlines()[-1])
                self.assertIn("can never resolve", output)


if __name__ == "__main__":
    harness.main()
