"""An operator's view of a running job: metrics, TensorBoard's events, the
memory forecast, flags from a file and from TF_CONFIG."""

import glob
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import harness
from cluster import PROBE
from slow_data import SlowData

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
# Of the exposer itself, not Shoal's.
FOREIGN = re.compile(r"exposer_")


def scrape(port, host="127.0.0.1"):
    """{name with labels: value} of a process's metrics."""
    with urllib.request.urlopen(f"http://{host}:{port}/metrics",
                                timeout=10) as reply:
        text = reply.read().decode()
    metrics = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            metrics[name] = float(value)
    return metrics


def families(metrics):
    names = set()
    for name in metrics:
        name = name.split("{")[0]
        if not FOREIGN.match(name):
            names.add(re.sub(r"_(bucket|sum|count)$", "", name))
    return names


def free_range(count):
    """The first of `count` consecutive free ports."""
    for base in range(20000 + os.getpid() % 5000, 32000, count):
        sockets = []
        try:
            for port in range(base, base + count):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
        finally:
            for s in sockets:
                s.close()
    raise AssertionError("no free ports")


class OperationsTest(harness.ShoalTest):

    def data(self, rows=20000):
        return self.write("data/tr.libsvm", harness.linear_rows(rows))

    def long_job(self, *flags):
        """A job that runs until it is stopped."""
        run = self.start("run", "shoal", "run", *PROBE, "--batch_size=16",
                         "--num_epochs=100000",
                         "--training_data_dir=" + self.data(), *flags)
        run.wait_for_line(harness.TRAINED)
        return run

    def scrape_until(self, port, condition, timeout=60):
        """Metrics of the process, once they meet the condition."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                metrics = scrape(port)
            except (OSError, http.client.HTTPException):
                metrics = {}
            if metrics and condition(metrics):
                return metrics
            self.assertLess(time.monotonic(), deadline, metrics)
            threading.Event().wait(0.05)


class MetricsTest(OperationsTest):

    def documented(self):
        """{section: names} of docs/metrics.md."""
        sections = {}
        with open(os.path.join(ROOT, "docs", "metrics.md"),
                  encoding="utf-8") as file:
            for line in file:
                if line.startswith("## "):
                    title = line[3:].strip()
                row = re.match(r"\| `(\w+)` \|", line)
                if row:
                    sections.setdefault(title, set()).add(row[1])
        return sections

    def test_every_process_serves_what_the_document_lists(self):
        base = free_range(4)
        run = self.long_job("--ps=2", "--workers=2", f"--metrics_port={base}",
                            "--val_data_dir=" + self.write(
                                "te/te.libsvm", harness.linear_rows(100)))
        doc = self.documented()
        every = doc["Every process"]
        ps0, ps1 = (self.scrape_until(
            base + k, lambda m, k=k: m.get(
                f'shoal_ps_pushes_applied_total{{shard="{k}"}}', 0) > 100)
            for k in range(2))
        workers = [self.scrape_until(
            base + 2 + i, lambda m: m["shoal_worker_batches_total"] > 10)
            for i in range(2)]
        servers = doc["Parameter servers"]
        self.assertEqual(families(ps1), every | servers)
        self.assertEqual(families(ps0),
                         every | servers | doc["The coordinator"])
        for worker in workers:
            self.assertEqual(families(worker), every | doc["Workers"])

        for k, metrics in enumerate([ps0, ps1]):
            self.assertEqual(metrics[
                f'shoal_process_info{{process="ps {k}",job=""}}'], 1)
            self.assertEqual(
                metrics[f'shoal_ps_serving{{shard="{k}"}}'], 1)
            pushes = metrics[
                f'shoal_ps_requests_total{{shard="{k}",method="push"}}']
            self.assertGreater(pushes, 100)
            # A push of each worker may be between the two counts.
            self.assertAlmostEqual(metrics[f'shoal_ps_request_seconds_count'
                                           f'{{shard="{k}",method="push"}}'],
                                   pushes, delta=2)
            self.assertEqual(
                metrics[f'shoal_ps_push_staleness_bucket'
                        f'{{shard="{k}",le="+Inf"}}'],
                metrics[f'shoal_ps_push_staleness_count{{shard="{k}"}}'])
            self.assertGreater(
                metrics[f'shoal_ps_held_bytes{{shard="{k}"}}'], 0)
            self.assertGreater(metrics[f'shoal_ps_rows{{shard="{k}"}}'], 0)
            self.assertGreater(metrics[
                f'shoal_ps_payload_bytes_total{{shard="{k}",peer="worker",'
                'method="push",direction="received"}'], 0)
        for metrics in workers:
            self.assertGreater(metrics[
                'shoal_worker_payload_bytes_total{peer="ps",method="pull",'
                'direction="received"}'], 0)
            self.assertEqual(metrics[
                'shoal_worker_payload_bytes_total{peer="worker",method="ring",'
                'direction="sent"}'], 0)
            self.assertGreater(
                metrics["shoal_worker_step_interval_seconds_count"], 0)
        self.assertEqual(ps0['shoal_job_members{role="ps"}'], 2)
        self.assertEqual(ps0['shoal_job_members{role="worker"}'], 2)
        self.assertGreater(ps0['shoal_job_samples_total{outcome="trained"}'],
                           0)
        self.assertEqual(ps0['shoal_job_samples_total{outcome="lost"}'], 0)
        self.assertGreater(ps0["process_resident_memory_bytes"], 1 << 20)

        # It goes on, and counters only grow.
        later = self.scrape_until(
            base, lambda m: m["shoal_job_steps_total"] >
            ps0["shoal_job_steps_total"])
        for name, value in ps0.items():
            if re.search(r"_(total|bucket|count)(\{|$)", name):
                self.assertGreaterEqual(later[name], value, name)
        run.signal(2)
        self.assertEqual(run.wait(), 3, run.output()[-3000:])

    def test_one_process_serves_all_of_them(self):
        port = free_range(1)
        train = self.start("train", "shoal", "train", *PROBE,
                           "--batch_size=16", "--num_epochs=100000",
                           "--workers=2", f"--metrics_port={port}",
                           "--training_data_dir=" + self.data())
        metrics = self.scrape_until(
            port, lambda m: m.get("shoal_worker_batches_total", 0) > 10)
        self.assertEqual(families(metrics),
                         set().union(*self.documented().values()))
        train.signal(2)
        self.assertEqual(train.wait(), 3, train.output()[-3000:])

    def test_a_reader_that_hangs_and_one_that_never_stops_block_nobody(self):
        base = free_range(2)
        run = self.long_job("--ps=1", "--workers=1", f"--metrics_port={base}")
        # Two threads serve: both are held by readers that send nothing more.
        hung = [socket.create_connection(("127.0.0.1", base))
                for _ in range(4)]
        for s in hung:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
        at = len(run.lines)
        steps = re.compile(r"step ([\d,]+)")

        def step(line):
            return int(steps.search(line)[1].replace(",", ""))

        first = run.lines[run.wait_for_line("step ", start=at)]
        for _ in range(200):
            scrape(base + 1)
        last = run.lines[run.wait_for_line("step ", start=len(run.lines))]
        self.assertGreater(step(last), step(first))
        for s in hung:
            s.close()
        run.signal(2)
        self.assertEqual(run.wait(), 3, run.output()[-3000:])

    def test_a_port_in_use_is_named_with_what_to_do(self):
        with socket.socket() as busy:
            busy.bind(("127.0.0.1", 0))
            busy.listen()
            port = busy.getsockname()[1]
            flags = [*PROBE, f"--metrics_port={port}",
                     "--training_data_dir=" + self.data(100)]
            for command in (["shoal", "train"],
                            ["shoal", "run", "--ps=1", "--workers=1"]):
                code, output = self.run_fails(*command, *flags)
                self.assertEqual(code, 2, output)
                self.assertIn(f"127.0.0.1:{port}", output)
                self.assertIn("--metrics_port", output)


def event_reader():
    """TensorBoard's own reader, or why it is missing."""
    venv = os.path.join(ROOT, "build", "venv", "bin", "python3")
    for python in (venv, sys.executable):
        found = os.path.exists(python) and subprocess.run(
            [python, "-c", "import tensorboard"], capture_output=True)
        if found and found.returncode == 0:
            return python, None
    return None, ("TensorBoard is not installed; "
                  "tools/install_test_tools.sh does it")


READ_EVENTS = """
import json, sys
from tensorboard.backend.event_processing import event_accumulator
events = event_accumulator.EventAccumulator(sys.argv[1])
events.Reload()
print(json.dumps({tag: [(e.step, e.value, e.wall_time)
                        for e in events.Scalars(tag)]
                  for tag in events.Tags()["scalars"]}))
"""


class TensorBoardTest(OperationsTest):

    def test_its_own_reader_reads_the_curves(self):
        python, reason = event_reader()
        if reason:
            self.skipTest(reason)
        before = time.time()
        slow = SlowData(self)
        slow.slow("tr.libsvm", 0.1)
        job = self.start("job", "shoal", "run", "--ps=1", "--workers=2", *PROBE,
                         "--batch_size=16", "--num_epochs=20",
                         "--piece_bytes=16384",
                         "--training_data_dir=" + self.data(),
                         "--val_data_dir=" + self.write(
                             "te/te.libsvm", harness.linear_rows(500, seed=2)),
                         "--tensorboard_dir=" + self.path("events"),
                         "--progress_every=50ms",
                         "--summary=" + self.path("summary.json"),
                         prefix=slow.prefix)
        self.wait_for_points(b"samples_per_second", 2)
        slow.fast("tr.libsvm")
        self.assertEqual(job.wait(), 0, job.output())
        read = subprocess.run([python, "-c", READ_EVENTS,
                               self.path("events")], capture_output=True,
                              text=True)
        self.assertEqual(read.returncode, 0, read.stderr)
        curves = json.loads(read.stdout)
        self.assertLessEqual(
            {"loss", "auc/progressive", "auc/evaluation", "samples_per_second",
             "logloss/evaluation", "staleness/mean", "staleness/p99",
             "staleness/max"}, set(curves))
        summary = self.summary()
        steps = [point[0] for point in curves["samples_per_second"]]
        # The last step may have a second point, for what came after it.
        self.assertEqual(steps[:-1], sorted(set(steps[:-1])))
        self.assertLessEqual(steps[-2], steps[-1])
        self.assertEqual(steps[-1], summary["batches"]["trained"])
        self.assertAlmostEqual(curves["auc/evaluation"][-1][1],
                               summary["eval"]["auc"], places=5)
        self.assertAlmostEqual(curves["staleness/mean"][-1][1],
                               summary["staleness"]["mean"], places=3)
        for points in curves.values():
            for _, _, wall_time in points:
                self.assertGreaterEqual(wall_time, int(before))
                self.assertLessEqual(wall_time, time.time() + 1)

    def wait_for_points(self, tag, count):
        """Until the file of events has so many points of a curve."""
        deadline = time.monotonic() + 60
        while True:
            written = b""
            for name in glob.glob(self.path("events", "*")):
                with open(name, "rb") as file:
                    written += file.read()
            if written.count(tag) >= count:
                return
            self.assertLess(time.monotonic(), deadline)
            threading.Event().wait(0.05)

    def test_a_place_that_cannot_be_written_is_named_at_the_start(self):
        flags = [*PROBE, "--training_data_dir=" + self.data(100),
                 "--tensorboard_dir=/dev/null/events"]
        for command in (["shoal", "train"],
                        ["shoal", "run", "--ps=1", "--workers=1"]):
            code, output = self.run_fails(*command, *flags)
            self.assertEqual(code, 2)
            self.assertIn("--tensorboard_dir", output)
            self.assertIn("/dev/null", output)


class ConfigTest(OperationsTest):

    def test_a_job_runs_from_a_file_and_the_command_line_wins(self):
        config = self.write("job.textproto", f"""
            # The linear probe.
            model: "linear_probe"
            feature_size: 300 field_size: 4 embedding_size: 3
            optimizer: "sgd" learning_rate: 0.25
            seed: 5 batch_size: 9 num_epochs: 2
            ps: 1 workers: 2
            heartbeat: "500ms"
            training_data_dir: "{self.data(2000)}"
        """)
        written = self.path("written.textproto")
        output = self.run_ok("shoal", "run", "--config=" + config,
                             "--batch_size=16", "--write_config=" + written,
                             "--summary=" + self.path("run.json"))
        self.assertIn("batch_size=16", output)
        self.assertIn("samples 4000 = 4000 trained", output)
        self.assertEqual(self.summary("run.json")["workers"], 2)
        # The same again from what was written, in another command.
        self.run_ok("shoal", "train", "--config=" + written, "--workers=1",
                    "--summary=" + self.path("train.json"))
        self.assertEqual(self.summary("run.json")["digest"],
                         self.summary("train.json")["digest"])

    def test_what_is_wrong_in_a_file_is_named_by_its_place(self):
        for text, place, what in (
                ("model: 'fm'\n batchsize: 3", "2:2",
                 "did you mean batch_size?"),
                ("batch_size: 'many'", "1:13", "integer"),
                ("\nbatch_size: 0", "2:1", "must be an integer in [1,"),
                ("batch_size 3", "1:12", "")):
            config = self.write("bad.textproto", text)
            for command in (["shoal", "train"], ["shoal", "run"],
                            ["shoal-ps"], ["shoal-worker"]):
                code, output = self.run_fails(*command, "--config=" + config)
                self.assertEqual(code, 2, output)
                self.assertIn(f"{config}:{place}: ", output)
                self.assertIn(what, output)

    def test_a_file_that_cannot_be_read_is_named(self):
        big = self.write("big.textproto", "#" * (2 << 20))
        for path in ("/no/such/file", self.dir, big, "/dev/null"):
            code, output = self.run_fails("shoal", "run", "--config=" + path)
            self.assertEqual(code, 2, output)
            if path != "/dev/null":
                self.assertIn(path, output)

    def test_tf_config_says_who_is_where(self):
        data = self.data(2000)
        hosts = [f"127.0.0.1:{port}" for port in harness.free_ports(2)]
        cluster = {"ps": hosts, "chief": ["127.0.0.1:1"],
                   "worker": ["127.0.0.1:2"]}
        flags = [*PROBE, "--batch_size=16", "--token_file=" +
                 self.token_file(), "--training_data_dir=" + data]

        def env(kind, index):
            return dict(os.environ, TF_CONFIG=json.dumps(
                {"cluster": cluster, "task": {"type": kind, "index": index}}))

        tasks = [("shoal-ps", "ps", 0), ("shoal-ps", "ps", 1),
                 ("shoal-worker", "chief", 0), ("shoal-worker", "worker", 0)]
        processes = [self.start(f"{kind} {index}", binary, *flags,
                                env=env(kind, index))
                     for binary, kind, index in tasks]
        for process in processes:
            self.assertEqual(process.wait(), 0, process.output())
        self.assertIn("samples 2000 = 2000 trained", processes[0].output())
        self.assertIn("[worker 1]", processes[3].output())

    def test_a_wrong_tf_config_is_named_by_its_path(self):
        for config, what in (
                ("{", "TF_CONFIG is not a JSON object"),
                ('{"cluster": {"ps": ["a:1"], "worker": [3]}}',
                 "TF_CONFIG: cluster.worker[0] must be"),
                ('{"cluster": {"ps": ["a:1"], "worker": ["a:1"]},'
                 ' "task": {"type": "worker", "index": 0}}',
                 "task.type is 'worker', which is for shoal-worker"),
                ('{"cluster": {"ps": ["a"], "worker": ["a:1"]},'
                 ' "task": {"type": "ps", "index": 0}}',
                 "must be host:port")):
            ps = self.start("ps", "shoal-ps", *PROBE,
                            env=dict(os.environ, TF_CONFIG=config))
            self.assertEqual(ps.wait(), 2, ps.output())
            self.assertIn(what, ps.lines[-1])


class InputTest(OperationsTest):

    def start_ps(self, line):
        ps = subprocess.Popen(
            [os.path.join(harness.BIN, "shoal-ps"), *PROBE, "--task_index=0",
             f"--ps_hosts=127.0.0.1:{harness.free_ports(1)[0]}",
             "--worker_hosts=a", "--token_file=-", "--start_timeout=20s"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(ps.wait)
        self.addCleanup(ps.kill)
        ps.stdin.write(line)
        ps.stdin.flush()
        return ps

    def test_a_process_stops_when_the_input_that_brought_its_token_ends(self):
        ps = self.start_ps("a-token-of-the-tests\nmore, passed over\n")
        for line in ps.stderr:
            if "listening" in line:
                break
        ps.stdin.close()
        rest = ps.stderr.read()
        self.assertEqual(ps.wait(30), 3, rest)
        self.assertIn("SIGHUP", rest)
        ps.stderr.close()

    def test_a_line_that_is_no_token_is_refused(self):
        for line in ("\n", "two words\n", "x" * 2000, "unended"):
            ps = self.start_ps(line)
            ps.stdin.close()
            text = ps.stderr.read()
            self.assertEqual(ps.wait(30), 2, text)
            self.assertIn("--token_file=-", text)
            ps.stderr.close()


class MemoryTest(OperationsTest):

    def test_the_forecast_is_near_the_peak_of_the_readmes_job(self):
        bench = subprocess.run(
            [sys.executable, os.path.join(ROOT, "bench", "e2e", "memory.py"),
             "--bin=" + harness.BIN, "--jobs=README"],
            capture_output=True, text=True)
        print(bench.stdout)
        # It fails where the two are 20 % apart.
        self.assertEqual(bench.returncode, 0, bench.stdout + bench.stderr)

    def test_what_cannot_fit_is_refused_with_what_to_do(self):
        flags = ["--feature_size=20000000000", "--field_size=4",
                 "--training_data_dir=" + self.data(100)]
        for command in (["shoal", "train"],
                        ["shoal", "run", "--ps=1", "--workers=1"]):
            code, output = self.run_fails(*command, *flags)
            self.assertEqual(code, 2, output)
            self.assertIn("of memory are needed", output)
            self.assertIn("--memory_check=off", output)
            # A table takes memory as its rows are used: it runs all the same.
            output = self.run_ok(*command, *flags, "--memory_check=off",
                                 "--embedding_size=2", "--deep_layers=4")
            self.assertIn("memory: ", output)


if __name__ == "__main__":
    harness.main()
