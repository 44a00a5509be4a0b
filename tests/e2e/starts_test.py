"""Processes of an earlier start on the same port do not affect a job: their
messages are refused, whatever they hold and whenever they wake up."""

import json
import os
import re
import signal
import threading

import harness
from cluster import PROBE, Cluster
from slow_data import SlowData

SENT = re.compile(r"push sent (\S+)")
DONE = re.compile(r"push done (\S+)")
HEAD_BYTES = 64 << 10  # of a file, which workers compare


def other_tail(text):
    """Rows of the same sizes, of which those beyond the head have the other
    label: to the coordinator the file is the same, to the model it is not."""
    lines = text.splitlines(keepends=True)
    size = 0
    for i, line in enumerate(lines):
        if size >= HEAD_BYTES:
            lines[i] = str(1 - int(line[0])) + line[1:]
        size += len(line)
    return "".join(lines)


class StartsTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        # A job reads at full speed only in the moments in which its workers
        # are to be caught with a push in flight, so that it outlives them.
        self.slow = SlowData(self)

    def digest(self, data, flags):
        self.run_ok("shoal", "train", "--training_data_dir=" + data, *PROBE,
                    *flags, "--summary=" + self.path("serial.json"))
        return self.summary("serial.json")["digest"]

    def job(self, workers, flags, hosts=None, **more):
        return Cluster(
            self, 1, workers, PROBE + flags + ["--canary=true"], hosts=hosts,
            ps_flags=["--summary=" + self.path("summary.json"),
                      *more.get("ps_flags", [])],
            worker_flags=["--log_level=debug"],
            worker_prefix=self.slow.prefix)

    def freeze_with_pushes_in_flight(self, cluster, data):
        """Stops the server while every worker waits for an answer to a push,
        so that each worker sends the push again and again."""
        for worker in cluster.workers:
            worker.wait_for_line("push done ")
        for _ in range(100):
            self.slow.fast(data)
            threading.Event().wait(0.05)
            cluster.ps[0].signal(signal.SIGSTOP)
            self.slow.slow(data, 0.3)
            if all(self.in_flight(worker) for worker in cluster.workers):
                return
            cluster.ps[0].signal(signal.SIGCONT)
        self.fail("the workers were not caught with a push in flight")

    def in_flight(self, worker):
        count = -1
        while count != len(worker.lines):
            count = len(worker.lines)
            threading.Event().wait(0.1)
        sent = [m.group(1) for m in map(SENT.search, worker.lines) if m]
        done = {m.group(1) for m in map(DONE.search, worker.lines) if m}
        return sent[-1] not in done

    def expect_as_if_alone(self, digest, samples):
        summary = self.summary()
        self.expect_whole(summary)
        self.assertEqual(summary["samples"]["trained"], samples)
        self.assertEqual(summary["digest"], digest)
        shard, = summary["canary"]
        self.assertEqual(shard["rows"], summary["batches"]["trained"])
        self.assertEqual(shard["not_one"], 0)

    def test_a_frozen_worker_of_the_job_before_wakes_up_under_the_next(self):
        text = harness.linear_rows(20000)
        flags = ["--batch_size=16", "--num_epochs=8", "--piece_bytes=16384"]
        paths = [self.write("a/tr.libsvm", text),
                 self.write("b/tr.libsvm", other_tail(text))]
        digest = self.digest(paths[1], flags)
        self.assertNotEqual(digest, self.digest(paths[0], flags))
        first = self.job(1, flags)
        first.start_ps(0)
        self.slow.slow(paths[0], 0.3)
        first.start_worker(0, "--training_data_dir=" + paths[0])
        self.freeze_with_pushes_in_flight(first, paths[0])
        first.workers[0].signal(signal.SIGSTOP)
        first.ps[0].kill()
        # Files of one name.
        self.slow.slow(paths[1], 0.3)
        second = self.job(1, flags, hosts=first.hosts)
        second.start_ps(0)
        second.start_worker(0, "--training_data_dir=" + paths[1])
        second.workers[0].wait_for_line("push done ")
        # It is not taken for the worker of its index, which is alive.
        first.workers[0].signal(signal.SIGCONT)
        first.workers[0].wait_for_line("joining again")
        threading.Event().wait(2)
        first.workers[0].kill()
        self.slow.fast(paths[1])
        second.wait_all()
        self.expect_as_if_alone(digest, 160000)

    def test_a_server_killed_and_started_again_at_once_under_its_workers(self):
        text = harness.linear_rows(20000)
        flags = ["--batch_size=16", "--num_epochs=4", "--piece_bytes=16384"]
        data = self.write("data/tr.libsvm", text)
        digest = self.digest(data, flags)
        starts = []
        for model_dir in ([], ["--model_dir=" + self.path("m"),
                               "--save_checkpoint_steps=1000000"]):
            cluster = self.job(2, flags, ps_flags=model_dir)
            self.slow.slow(data, 0.3)
            cluster.start_ps(0)
            for i in range(2):
                cluster.start_worker(i, "--training_data_dir=" + data)
            self.freeze_with_pushes_in_flight(cluster, data)
            if model_dir:
                starts.append(self.kept_start())
            cluster.ps[0].kill()
            cluster.start_ps(0)
            self.slow.fast(data)
            cluster.wait_all()
            self.expect_as_if_alone(digest, 80000)
        starts.append(self.kept_start())
        self.assertLess(starts[0], starts[1])
        # The checkpoint of the end says which start made it.
        checkpoint, = [name for name in os.listdir(self.path("m"))
                       if name.startswith("ckpt-")]
        with open(self.path("m", checkpoint, "manifest.json")) as f:
            manifest = json.load(f)
        self.assertEqual(int(manifest["start"], 16), starts[1])
        # Neither a log nor the manifest tells anything of the token.
        self.assertEqual(manifest["job"], "")
        for process in self.processes:
            self.assertNotRegex(process.output(), r"job-[0-9a-f]{16}")

    def test_a_server_that_dies_before_training_begins_is_waited_for(self):
        cluster = Cluster(self, 3, 1, PROBE + ["--batch_size=16"],
                          ps_flags=["--summary=" + self.path("summary.json")])
        leader = cluster.start_ps(0)
        # The first when server 2 is not there yet, the second when all are.
        for victim in (1, 2):
            joined = f"ps {victim} ({cluster.hosts[victim]}) joined"
            cluster.start_ps(victim)
            at = leader.wait_for_line(joined)
            cluster.ps[victim].kill()
            at = leader.wait_for_line(
                "nothing is trained yet, so another process may take its place",
                start=at)
            cluster.start_ps(victim)
            leader.wait_for_line(joined, start=at)
        cluster.start_worker(0, "--training_data_dir=" + self.write(
            "data/tr.libsvm", harness.linear_rows(2000)))
        cluster.wait_all()
        self.expect_whole(self.summary())

    def kept_start(self):
        with open(self.path("m", "START")) as f:
            return int(f.read(), 16)


if __name__ == "__main__":
    harness.main()
