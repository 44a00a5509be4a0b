"""Calls that hold memory, with the token or without, and connections that hold
descriptors: none of it ends a job or one of its sessions."""

import harness
import raw_calls
from cluster import PROBE, Cluster

MIB = 1 << 20


class FloodTest(harness.ShoalTest):

    def job(self, epochs, workers=2, **more):
        """A job of some seconds that is not started yet, and its PS 0's port."""
        self.samples = 40000 * epochs
        data = self.write("data/tr.libsvm", harness.linear_rows(40000))
        job = Cluster(
            self, 2, workers,
            PROBE + ["--batch_size=16", f"--num_epochs={epochs}", "--canary",
                     "--training_data_dir=" + data],
            ps_flags=["--summary=" + self.path("summary.json")],
            worker_flags=["--log_level=debug"], **more)
        return job, int(job.hosts[0].rpartition(":")[2])

    def peak_bytes(self, process):
        try:
            with open(f"/proc/{process.popen.pid}/status") as file:
                for line in file:
                    if line.startswith("VmHWM:"):
                        return int(line.split()[1]) * 1024
        except OSError:
            pass
        return 0

    def expect_unharmed(self, job):
        """The job ends by itself, with every push counted once, and no process
        was ever taken for lost."""
        peak = 0

        def ended():
            nonlocal peak
            peak = max(peak, self.peak_bytes(job.ps[0]))
            return job.ps[0].popen.poll() is not None

        self.flood.wait_until(ended, 60)
        flood = self.flood.stop()
        job.wait_all(10)
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], self.samples)
        for shard in summary["canary"]:
            self.assertEqual(shard["rows"], summary["batches"]["trained"])
            self.assertEqual(shard["not_one"], 0, summary["canary"])
        for process in job.ps + job.workers:
            self.assertNotIn("session", process.output().lower())
        print(f"{flood.made} connections, {flood.refused} refused, "
              f"{flood.answered} calls answered, "
              f"{flood.payload / 1e6:.0f} MB sent; PS 0 held at most "
              f"{peak / 1e6:.0f} MB", flush=True)
        return peak

    def flood_with_pushes(self, token, most=0, made=3, workers=2):
        """120 pushes of 60 MiB on 3 connections, of which all but the last
        byte come, into a job that is to train once `made` connections were
        made and `most` bytes are sent or the server takes no more."""
        job, port = self.job(2, workers)
        for i in range(2):
            job.start_ps(i)
        job.ps[0].wait_for_line("ps 1 (")

        def begin(connection):
            for _ in range(40):
                connection.call(raw_calls.PUSH, token, 60 * MIB, 60 * MIB - 1)

        self.flood = raw_calls.Flood(port, 3, begin)
        self.flood.start()
        self.assertTrue(
            self.flood.wait_until(lambda: self.flood.made >= made, 30))
        self.flood.wait_until_full(most, 30)
        for i in range(workers):
            job.start_worker(i)
        return self.expect_unharmed(job)

    def test_unfinished_pushes_without_a_token(self):
        self.expect_refused(None)

    def test_unfinished_pushes_with_a_wrong_token(self):
        self.expect_refused("another-token")

    def expect_refused(self, token):
        """Unread, and their connections closed."""
        self.assertLess(self.flood_with_pushes(token, made=4), 300e6)

    def test_unfinished_pushes_with_the_token(self):
        """They hold what calls may hold, and leave room for the job's own. A
        small job limits the calls."""
        peak = self.flood_with_pushes("a-token-of-the-tests", most=2300 * MIB)
        self.assertLess(peak, 2e9)

    def test_unfinished_pushes_with_the_token_among_many_workers(self):
        """A job of more workers limits what each unread call holds."""
        peak = self.flood_with_pushes(
            "a-token-of-the-tests", most=2300 * MIB, workers=9)
        self.assertLess(peak, 2e9)

    def test_connections_that_say_nothing(self):
        """More than the server may have files open; the job's own come
        later."""
        job, port = self.job(
            1, ps_prefix=["prlimit", "--nofile=256:256"])
        for i in range(2):
            job.start_ps(i)
        job.ps[0].wait_for_line("listening on")
        self.flood = raw_calls.Flood(port, 300, lambda connection: None, 0.01)
        self.flood.start()
        self.assertTrue(
            self.flood.wait_until(lambda: self.flood.made >= 300, 20))
        for i in range(2):
            job.start_worker(i)
        self.expect_unharmed(job)


if __name__ == "__main__":
    harness.main()
