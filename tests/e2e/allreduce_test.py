"""`shoal bench allreduce`: ranks that find each other, and what each rank says if
they do not. No speed is asserted."""

import json
import os
import signal
import subprocess

import harness

QUICK = ["--sizes=4KiB,1MiB", "--repeats=2", "--turn_time=2ms"]


class AllReduceTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.hosts = [f"127.0.0.1:{harness.own_port()}" for _ in range(2)]
        self.token = self.token_file()

    def flags(self, rank, *more):
        return ["bench", "allreduce", "--hosts=" + ",".join(self.hosts),
                f"--rank={rank}", f"--token_file={self.token}", *more]

    def rank(self, rank, *more):
        return self.start(f"rank {rank}", "shoal", *self.flags(rank, *more))

    def expect_failed(self, process, *texts, code=1):
        self.assertEqual(process.wait(), code, process.output())
        for text in texts:
            self.assertIn(text, process.output())

    def test_rank_0_decides_and_prints_the_table(self):
        # Sizes of others count for nothing.
        other = self.rank(1, "--sizes=4", "--repeats=99")
        first = self.rank(0, *QUICK)
        self.assertEqual(first.wait(), 0, first.output())
        self.assertEqual(other.wait(), 0, other.output())
        self.assertIn("AllReduce of 2 ranks in a ring, --reduction=fast",
                      first.output())
        self.assertRegex(first.output(), r"\n +4 KiB +[\d.]+ [µm]?s .* GB/s")
        self.assertRegex(first.output(), r"\n +1 MiB +[\d.]+ [µm]?s .* GB/s")
        self.assertIn("rank 1 of 2 is done; rank 0 (" + self.hosts[0] +
                      ") has the figures", other.output())
        self.assertNotIn("GB/s", other.output())

    def test_json_has_busbw_of_three_ranks(self):
        self.hosts.append(f"127.0.0.1:{harness.own_port()}")
        others = [self.rank(r, "--reduction=rank_order") for r in (1, 2)]
        command = [os.path.join(harness.BIN, "shoal"),
                   *self.flags(0, *QUICK, "--reduction=rank_order", "--json")]
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for other in others:
            self.assertEqual(other.wait(), 0, other.output())
        found = json.loads(done.stdout)
        self.assertEqual((found["ranks"], found["reduction"]),
                         (3, "rank_order"))
        self.assertEqual([point["bytes"] for point in found["points"]],
                         [4096, 1 << 20])
        for point in found["points"]:
            self.assertAlmostEqual(
                point["busbw"] * point["seconds"] / point["bytes"], 4 / 3)
            self.assertLessEqual(point["least"], point["seconds"])
            self.assertLessEqual(point["seconds"], point["most"])
            self.assertGreaterEqual(point["calls"], 2)

    def test_a_rank_that_does_not_come_is_named(self):
        self.expect_failed(
            self.rank(0, "--start_timeout=300ms"),
            f"rank 0 of 2 listens on {self.hosts[0]}",
            f"rank 1 ({self.hosts[1]})", "Connection refused",
            "within --start_timeout=300ms", "let firewalls pass the ports")

    def test_a_wrong_token_is_said_on_both_sides(self):
        first = self.rank(0, "--start_timeout=3s")
        self.token = self.token_file("other", "another-token")
        second = self.rank(1, "--start_timeout=3s")
        for process in (first, second):
            self.expect_failed(process, "does not have the job's token",
                               "the same token")

    def test_ranks_with_another_reduction_are_refused(self):
        first = self.rank(0, "--start_timeout=3s")
        second = self.rank(1, "--start_timeout=3s", "--reduction=rank_order")
        for process in (first, second):
            self.expect_failed(process, "the same --hosts and --reduction")

    def test_a_rank_that_leaves_is_named(self):
        first = self.rank(0, "--sizes=64KiB", "--repeats=10000",
                          "--size_time=10m")
        second = self.rank(1)
        first.wait_for_line("all 2 ranks are there")
        second.signal(signal.SIGKILL)
        self.expect_failed(first, f"rank 1 ({self.hosts[1]}) is lost",
                           "see what the process of that rank printed last")

    def test_a_rank_that_stands_still_is_given_up(self):
        first = self.rank(0, "--sizes=64KiB", "--repeats=10000",
                          "--size_time=10m", "--timeout=300ms")
        second = self.rank(1, "--timeout=10m")
        first.wait_for_line("all 2 ranks are there")
        second.signal(signal.SIGSTOP)
        self.expect_failed(first, f"rank 1 ({self.hosts[1]})",
                           "--timeout=300ms")
        second.signal(signal.SIGCONT)
        self.expect_failed(second, f"rank 0 ({self.hosts[0]})")

    def test_mistakes_are_named_before_anything_begins(self):
        self.expect_failed(self.rank(2), "--rank=2: --hosts has 2 entries",
                           code=2)
        token, self.token = self.token, self.path("missing")
        self.expect_failed(self.rank(0), self.token, code=2)
        self.token = token
        # The address of another host, and one that is in use.
        far = [f"203.0.113.1:{harness.own_port()}", self.hosts[1]]
        near, self.hosts = self.hosts, far
        self.expect_failed(self.rank(0), "rank 0 listens on its entry of "
                           "--hosts, " + far[0], "--listen", code=2)
        self.hosts = near
        waits = self.rank(0)
        waits.wait_for_line("listens on")
        self.expect_failed(self.rank(0), "rank 0 listens on its entry of "
                           "--hosts, " + near[0], code=2)
        waits.signal(signal.SIGTERM)
        self.assertEqual(waits.wait(), 3, waits.output())

    def test_the_end_of_stdin_ends_a_rank_that_has_its_token_from_there(self):
        self.token = "-"
        with subprocess.Popen(
                [os.path.join(harness.BIN, "shoal"), *self.flags(0)],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True) as process:
            process.stdin.write("a-token-of-the-tests\n")
            process.stdin.flush()
            self.assertIn("listens on", process.stderr.readline())
            process.stdin.close()
            self.assertIn("stdin has ended", process.stderr.read())
            self.assertEqual(process.wait(60), 3)


if __name__ == "__main__":
    harness.main()
