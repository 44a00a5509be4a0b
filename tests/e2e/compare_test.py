"""`shoal bench compare`: over loopback, in a lab of played hosts, stopped and
gone on with, and where it cannot work. No speed is asserted."""

import glob
import json
import os
import signal
import subprocess
import sys
import time

import harness
import namespaces
from cluster import PROBE


class CompareTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(4000))
        self.out = self.path("out")

    def flags(self, *more):
        return ["bench", "compare", f"--out={self.out}",
                f"--training_data_dir={self.data}", *PROBE,
                "--batch_sizes=32", "--piece_bytes=4096", "--retries=0", *more]

    def compared(self):
        with open(os.path.join(self.out, "compare.json")) as file:
            return json.load(file)

    def expect_run(self, cell, run):
        self.assertTrue(run["ok"], (cell["name"], run["error"]))
        self.assertGreater(run["samples_per_second"], 0)
        self.assertGreater(run["seconds"], 0)
        self.assertAlmostEqual(sum(run["state_shares"].values()), 1, 3)
        if cell["hosts"] > 1:
            self.assertGreater(run["bytes_per_sample"]["worker_sent"], 0)
        self.assertGreater(run["peak_rss_bytes"]["worker"], 0)

    def expect_collective(self, found, network, most):
        """AllReduce of two ranks was measured, of 4 KiB to `most` KiB x 4."""
        self.assertEqual(
            [(point["network"], point["ranks"], point["bytes"])
             for point in found["collective"]],
            [(network, 2, 4096 * 4 ** i) for i in range(8) if 4 ** i <= most])
        for point in found["collective"]:
            self.assertGreater(point["seconds"], 0)
        with open(os.path.join(self.out, "report.html")) as file:
            self.assertIn(f'data-row="{network}_2_4096"', file.read())

    def left(self, pid):
        """What a comparison of this process has left."""
        return [path for pattern in ("/run/netns", "/sys/fs/cgroup/*")
                for path in glob.glob(f"{pattern}/shoal-lab{pid}-*")]

    def expect_nothing_left(self, pid):
        self.assertEqual(self.left(pid), [])

    def need_lab(self):
        reason = namespaces.why_not()
        if reason:
            print(f"no lab here: {reason}")
            self.skipTest(reason)

    def test_loopback_compares_jobs_that_run_to_their_end(self):
        flags = self.flags("--modes=sync,ring", "--hosts=1,2",
                           "--repeats=1", "--cell_time=0",
                           "--val_data_dir=" + self.data,
                           "--num_epochs=5", "--eval_every_epochs=0",
                           "--rates=ring:0.125", "--price=0.5")
        output = self.run_ok("shoal", *flags)
        found = self.compared()
        self.assertEqual(found["where"], "loopback")
        self.assertEqual(found["price_per_host_hour"], .5)
        self.assertIsNotNone(found["ended"])
        self.assertIn("tell nothing of networks", found["not_played"][0])
        self.assertEqual(found["data"], {"rows": 4000, "files": 1})
        self.assertEqual(sorted(cell["name"] for cell in found["cells"]), [
            f"linear_probe_{mode}_h{hosts}_b32_none"
            for mode in ("ring", "sync") for hosts in (1, 2)])
        for cell in found["cells"]:
            [run] = cell["runs"]
            self.expect_run(cell, run)
            self.assertEqual(cell["global_batch"], 32 * cell["hosts"])
            if cell["mode"] == "ring":
                self.assertEqual(cell["learning_rate"], .125)
            self.assertGreater(cell["formula"]["worker_sent"] +
                               (cell["hosts"] == 1), 0)
        self.assertEqual(len(found["verdicts"]), 2)
        for verdict, hosts in zip(found["verdicts"], (1, 2)):
            self.assertIn(verdict["text"].replace("\n", "\n  "), output)
            self.assertEqual(verdict["hosts"], hosts)
            self.assertEqual(verdict["batch_size"], 32)
            self.assertEqual(verdict["compute"], "computed")
            self.assertIsNone(verdict["straggler"])
            # Nobody knows the bandwidth of loopback.
            self.assertEqual(verdict["turn"], "")
            self.assertGreater(verdict["no_turn"], "")
        self.expect_collective(found, "none", 4 ** 7)
        self.assertIn("AllReduce of 2 hosts\n", output)

        # Nothing is measured twice.
        ring = f"{self.out}/collective/h2_none.json"
        written = os.stat(ring).st_mtime_ns
        self.assertNotIn("ring 1 of 1", self.run_ok("shoal", *flags))
        self.assertEqual(os.stat(ring).st_mtime_ns, written)
        self.assertEqual(self.compared()["collective"], found["collective"])
        self.run_ok("shoal", *flags, "--allreduce=false")
        self.assertEqual(self.compared()["collective"], [])
        self.expect_same_report()

    def expect_same_report(self):
        """compare.json alone makes the report that the comparison wrote."""
        again = self.path("again.html")
        output = self.run_ok("shoal", "bench", "report", f"--out={again}",
                             f"--compare={self.out}/compare.json")
        for verdict in self.compared()["verdicts"]:
            self.assertIn(verdict["text"].replace("\n", "\n  "), output)
        with open(f"{self.out}/report.html", "rb") as written:
            with open(again, "rb") as made_again:
                self.assertEqual(made_again.read(), written.read())

    def test_a_stopped_comparison_goes_on(self):
        flags = self.flags("--modes=async,ring", "--hosts=1", "--repeats=2",
                           "--cell_time=300ms")
        first = self.start("compare", "shoal", *flags)
        first.wait_for_line("run 2 of 4")
        first.signal(signal.SIGTERM)
        self.assertEqual(first.wait(60), 3, first.output())
        self.assertIn("the same command goes on from", first.output())
        before = self.compared()
        self.assertIsNone(before["ended"])
        kept = {path: os.stat(path).st_mtime_ns
                for path in glob.glob(f"{self.out}/runs/*")}
        self.assertGreaterEqual(len(kept), 1)
        self.assertLess(len(kept), 4)

        done = self.start("compare again", "shoal", *flags)
        self.assertEqual(done.wait(60), 0, done.output())
        self.assertIn(f"{len(kept)} run", done.output())
        for path, written in kept.items():
            self.assertEqual(os.stat(path).st_mtime_ns, written, path)
        found = self.compared()
        self.assertEqual(found["started"], before["started"])
        for cell in found["cells"]:
            self.assertEqual([run["repeat"] for run in cell["runs"]], [0, 1])

        code, other = self.run_fails("shoal", *flags, "--seed=6")
        self.assertEqual(code, 2, other)
        self.assertIn("is a run of another comparison", other)
        self.assertIn("(was linear_probe: seed=5, is linear_probe: seed=6)",
                      other)

    def test_two_comparisons_do_not_write_into_one_directory(self):
        flags = self.flags("--modes=async", "--hosts=1", "--cell_time=300ms")
        first = self.start("compare", "shoal", *flags)
        first.wait_for_line("run 1 of 3")
        first.signal(signal.SIGSTOP)
        code, other = self.run_fails("shoal", *flags)
        self.assertEqual(code, 2, other)
        self.assertIn(f"--out={self.out} belongs to another comparison", other)
        self.assertIn(f"pid {first.popen.pid} on ", other)
        first.signal(signal.SIGCONT)
        self.assertEqual(first.wait(60), 0, first.output())
        self.assertNotIn("there from before", first.output())

    def test_a_busy_neighbour_makes_a_cell_grey(self):
        neighbour = subprocess.Popen([sys.executable, "-c", "while 1: pass"])
        self.addCleanup(neighbour.wait)
        self.addCleanup(neighbour.kill)
        self.run_ok("shoal", *self.flags("--modes=ring", "--hosts=1",
                                         "--repeats=1", "--cell_time=1s"))
        [cell] = self.compared()["cells"]
        self.expect_run(cell, cell["runs"][0])
        self.assertIn("other programs used", cell["grey"])

    def test_a_neighbour_of_the_record_disturbs_its_run(self):
        neighbour = subprocess.Popen([sys.executable, "-c", "while 1: pass"])
        self.addCleanup(neighbour.wait)
        self.addCleanup(neighbour.kill)
        compare = self.start(
            "compare", "shoal",
            *self.flags("--modes=ring", "--hosts=1", "--repeats=1",
                        "--cell_time=1s", "--replay_hosts=1"))
        profiles = f"{self.out}/profiles/*.json"
        end = time.monotonic() + 60
        while not glob.glob(profiles):
            self.assertLess(time.monotonic(), end, compare.output())
            time.sleep(.01)
        neighbour.kill()
        neighbour.wait()
        self.assertEqual(compare.wait(60), 0, compare.output())
        [cell] = self.compared()["cells"]
        self.expect_run(cell, cell["runs"][0])
        self.assertEqual(cell["compute"], "replayed")
        self.assertIn("other programs used", cell["grey"])

    def test_a_record_of_an_earlier_command_is_not_used(self):
        flags = self.flags("--modes=ring", "--hosts=1", "--repeats=1",
                           "--cell_time=300ms", "--replay_hosts=1",
                           "--models=A:--embedding_size=3;"
                           "B:--embedding_size=2")
        self.run_ok("shoal", *flags)
        for cell in self.compared()["cells"]:
            [run] = cell["runs"]
            self.expect_run(cell, run)
            self.assertEqual(cell["compute"], "replayed")
            self.assertIsNone(run["cpu_seconds_per_sample"])
            self.assertIsNone(run["curve"])
            self.assertIsNone(run["auc"])
        for path in glob.glob(f"{self.out}/runs/*"):
            os.remove(path)
        os.replace(f"{self.out}/profiles/A_ring_b32_c0_t1.1.json",
                   f"{self.out}/profiles/B_ring_b32_c0_t1.1.json")
        self.run_ok("shoal", *flags)
        for cell in self.compared()["cells"]:
            self.expect_run(cell, cell["runs"][0])

    def test_a_lab_plays_hosts_and_leaves_nothing(self):
        self.need_lab()
        compare = self.start(
            "compare", "shoal",
            # Servers and a ring in one.
            *self.flags("--lab", "--modes=hybrid", "--hosts=2",
                        "--networks=100mbit", "--repeats=1", "--cores=0.4",
                        "--cell_time=1s", "--straggler=1:0.5",
                        "--dilation=2", "--make_up_pauses=false"))
        self.assertEqual(compare.wait(120), 0, compare.output())
        self.expect_nothing_left(compare.popen.pid)
        self.assertTrue(glob.glob(f"{self.out}/dilation/*_twice.1.json"))
        found = self.compared()
        self.assertEqual(found["where"], "lab")
        self.assertTrue(any("latency" in what for what in found["not_played"]))
        for cell in found["cells"]:
            [run] = cell["runs"]
            self.expect_run(cell, run)
            self.assertEqual(cell["compute"], "computed")
            self.assertEqual(run["paused_speed"], 1)
            self.assertGreaterEqual(cell["dilation"], 2)
            self.assertAlmostEqual(run["link_expected"] / 1e8, .9564, 3)
            # A busy machine has a slower link, and the cell is grey then.
            share = run["link_bits_per_second"] / run["link_expected"]
            self.assertGreater(share, .7)
            self.assertLess(share, 1.1)
        self.assertEqual([cell["straggler"] for cell in found["cells"]],
                         [None, {"host": 1, "share": .5}])
        # 16 MiB and more would take seconds at 100 Mbit/s.
        self.expect_collective(found, "100mbit", 4 ** 5)
        largest = found["collective"][-1]
        # 2 (n - 1) / n is 1. Nothing is faster than the link.
        self.assertLess(8 * largest["bytes"] / largest["seconds"], 1.1e8)

    def test_a_lab_records_and_replays(self):
        self.need_lab()
        flags = self.flags(
            "--lab", "--modes=async", "--hosts=1", "--cores=1.5",
            "--cell_time=300ms", "--replay_hosts=1", "--dilation=2",
            "--check_dilation=false", "--allreduce=false")
        os.makedirs(self.out)
        pauses = os.path.join(self.out, "pauses.json")
        with open(pauses, "w") as file:
            file.write("{")
        output = self.run_ok("shoal", *flags, "--repeats=1")
        self.assertIn("what was measured of pauses before is not used, "
                      + pauses, output)
        [cell] = self.compared()["cells"]
        [run] = cell["runs"]
        self.expect_run(cell, run)
        self.assertEqual(cell["compute"], "replayed")
        # Before it, one host trained with and without pauses.
        self.assertIn("how much pauses slow a host down, model linear_probe in "
                      "mode async at dilation 2", output)
        # Beside other programs the pair does not count.
        self.assertRegex(output, "us a sample without pauses"
                                 "|does not count: other programs used")
        for how in ("unpaused", "paused_t2"):
            self.assertTrue(os.path.exists(
                f"{self.out}/logs/linear_probe_async_h1_{how}.log"))
        self.assertGreater(run["paused_speed"], 0)
        self.assertLessEqual(run["paused_speed"], 1)
        [profile] = glob.glob(f"{self.out}/profiles/*")
        self.assertTrue(profile.endswith("_c1.5_t2.1.json"), profile)
        with open(f"{self.out}/logs/{cell['name']}.log") as log:
            self.assertIn("compute replayed from " + profile, log.read())

        with open(pauses) as file:
            text = file.read()
        if text == "{" or len(json.loads(text)["pairs"]) < 2:
            self.skipTest("other programs disturbed the pairs, so those of the "
                          "next command are not kept from this one")
        more = self.run_ok("shoal", *flags, "--repeats=2")
        self.assertIn("run 2 of 2", more)
        self.assertNotIn("how much pauses slow a host down", more)
        # The record of the first repeat stays, and the second has its own.
        self.assertEqual(len(glob.glob(f"{self.out}/profiles/*")), 2)

    def test_a_lab_is_removed_after_a_signal_and_after_a_kill(self):
        self.need_lab()
        flags = self.flags("--lab", "--modes=ring", "--hosts=2",
                           "--networks=none", "--repeats=1",
                           "--cell_time=60s", "--make_up_pauses=false")
        for number, code in ((signal.SIGTERM, 3), (signal.SIGKILL, -9)):
            compare = self.start(f"compare {number}", "shoal", *flags)
            self.wait_until_it_trains()
            pid = compare.popen.pid
            self.assertTrue(self.left(pid))
            compare.signal(number)
            self.assertEqual(compare.wait(60), code, compare.output())
            if number == signal.SIGTERM:
                self.assertIn("stopped by SIGTERM; the same command goes on",
                              compare.output())
                self.expect_nothing_left(pid)
        self.assertTrue(self.left(pid))
        # The next one is stopped while it measures what pauses cost.
        after = self.start("compare after", "shoal", *flags,
                           "--make_up_pauses")
        after.wait_for_line("leftover")
        after.wait_for_line("run 1 of ")
        self.expect_nothing_left(pid)
        self.wait_until_it_trains()
        after.signal(signal.SIGTERM)
        self.assertEqual(after.wait(60), 3, after.output())
        self.assertIn("how much pauses slow a host down", after.output())
        self.expect_nothing_left(after.popen.pid)

    def wait_until_it_trains(self):
        """Waits until the log of a job says so, and removes the log."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for path in glob.glob(f"{self.out}/logs/*"):
                with open(path, errors="replace") as file:
                    if "training on" in file.read():
                        os.remove(path)
                        return
            time.sleep(.05)
        self.fail("no job has begun")

    def test_says_why_there_is_no_lab(self):
        flags = self.flags("--lab", "--modes=ring", "--hosts=2")
        user = 65534 if os.geteuid() == 0 else None
        for directory in (self.path(""), os.path.dirname(self.data)):
            os.chmod(directory, 0o755)
        code, output = self.run_fails("shoal", *flags, user=user)
        self.assertEqual(code, 2, output)
        self.assertIn("which need root", output)
        self.need_lab()
        # No `tc`: a PATH in which there is nothing but env.
        tools = self.path("tools")
        os.makedirs(tools)
        failed = self.start("compare", "shoal", *flags,
                            env={**os.environ, "PATH": tools})
        self.assertEqual(failed.wait(60), 2, failed.output())
        self.assertIn("the program `tc` is not installed", failed.output())
        self.assertIn("leave --lab out", failed.output())

    def test_hosts_that_cannot_be_reached_fail_their_cells_alone(self):
        # The first host answers, and the second one does not.
        ssh = self.write("ssh", "#!/bin/sh\n"
                         "case $1 in 127.0.0.2) echo no route >&2; exit 255;; "
                         "esac\nshift\nexec /bin/sh -c \"$*\"\n")
        os.chmod(ssh, 0o755)
        port = harness.own_port()
        output = self.run_ok(
            "shoal", *self.flags("--on=127.0.0.1,127.0.0.2", "--modes=ring",
                                 "--hosts=1,2", "--repeats=1",
                                 "--cell_time=300ms", f"--ssh_command={ssh}",
                                 f"--ps_port={port}"))
        alone, both = self.compared()["cells"]
        self.assertEqual(self.compared()["where"], "hosts")
        self.expect_run(alone, alone["runs"][0])
        self.assertFalse(both["runs"][0]["ok"])
        self.assertIn("127.0.0.2: no route", both["runs"][0]["error"])
        self.assertIn("127.0.0.2: no route", both["grey"])
        self.assertIn("127.0.0.2: no route", output)
        self.assertEqual(self.compared()["collective"], [])
        [note] = self.compared()["collective_notes"]
        self.assertIn("AllReduce of 2 hosts was not measured: rank 1 exited "
                      "with code 255: no route", note)
        self.assertIn(note, output)

    def test_a_full_disk_is_said_with_what_was_measured(self):
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        os.makedirs(self.out)
        try:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs",
                            self.out], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("a small file system cannot be mounted")
        self.addCleanup(subprocess.run, ["umount", self.out], check=True)
        with open(os.path.join(self.out, "filler"), "wb", 0) as file:
            try:
                while True:
                    file.write(bytes(1024))
            except OSError:
                pass  # it is full
        failed = self.start("compare", "shoal", *self.flags(
            "--modes=ring,async", "--hosts=1", "--repeats=1",
            "--cell_time=500ms"))
        self.assertEqual(failed.wait(60), 1, failed.output())
        self.assertIn("No space left on device", failed.output())
        # The one run of all that was measured, and not its progress line.
        self.assertRegex(failed.output(),
                         r"\nmodel linear_probe on 1 host, .*\n"
                         r"  .*(ring|async).* \d+ samples/s")
        self.assertNotIn("Report: ", failed.output())
        self.assertNotIn("All figures: ", failed.output())


if __name__ == "__main__":
    harness.main()
