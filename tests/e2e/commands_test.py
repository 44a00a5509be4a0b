"""First steps of users: help, mistakes on the command line, and processes that
cannot find each other."""

import json
import os
import signal
import socket
import subprocess
import sys
import unittest

import harness
import launched
from cluster import PROBE, Cluster

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
COMMANDS = [["shoal", "train"], ["shoal", "run"], ["shoal", "data", "gen"],
            ["shoal-ps"], ["shoal-worker"], ["shoal", "data", "prepare"],
            ["shoal", "data", "stat"], ["shoal", "eval"], ["shoal", "infer"],
            ["shoal", "plan"], ["shoal", "bench", "allreduce"],
            ["shoal", "bench", "report"]]


class HelpTest(harness.ShoalTest):

    def test_every_command_explains_itself(self):
        for command in COMMANDS:
            output = self.run_ok(*command, "--help")
            self.assertIn("Usage: " + " ".join(command), output)
            self.assertLessEqual(max(map(len, output.splitlines())), 80)
        self.assertIn("shoal data gen", self.run_ok("shoal", "--help"))

    def test_the_document_has_the_flags_of_the_help(self):
        check = subprocess.run(
            [sys.executable, os.path.join(ROOT, "tools", "flag_tables.py"),
             "--check", harness.BIN], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)


class MistakesTest(harness.ShoalTest):

    def usage_error(self, *args):
        code, output = self.run_fails(*args)
        self.assertEqual(code, 2, output)
        return output

    def test_each_binary_says_which_version_it_is(self):
        said = set()
        for binary in ("shoal", "shoal-ps", "shoal-worker"):
            output = self.run_ok(binary, "--version")
            self.assertRegex(output, rf"^{binary} \d+\.\d+\.\d+, protocol \d+, "
                             r"checkpoint format \d+$")
            said.add(output.split(" ", 1)[1])
        self.assertEqual(len(said), 1)

    def test_the_last_of_a_flag_given_twice_wins_and_is_named_once(self):
        data = self.write("data/tr", harness.linear_rows(100))
        summary = "--summary=" + self.path("summary.json")
        flags = ["--field_size=4", "--model=lr", "--training_data_dir=" + data,
                 "--num_epochs=nonsense", summary]
        for command in ["shoal", "train"], ["shoal", "run", "--ps=1",
                                            "--workers=2"]:
            output = self.run_ok(*command, *flags, "--num_epochs=3")
            self.assertEqual(self.summary()["samples"]["trained"], 300)
            said = [line for line in output.splitlines()
                    if "given twice" in line]
            self.assertEqual(said, [
                " ".join(command[:2]) + ": --num_epochs is given twice; the "
                "last value is used: --num_epochs=3"])
        output = self.run_ok("shoal", "data", "gen", "--rows=10", "--rows=20",
                             "--out=" + self.path("gen"), "--test_rows=5")
        self.assertIn("shoal data gen: --rows is given twice; the last value "
                      "is used: --rows=20", output)

    def test_a_mistyped_flag_names_the_right_one(self):
        for command in COMMANDS[:2] + COMMANDS[3:5]:
            output = self.usage_error(*command, "--batchsize=7")
            self.assertIn("did you mean --batch_size?", output)
        self.assertIn("did you mean --test_rows?", self.usage_error(
            "shoal", "data", "gen", "--test-row=7"))

    def test_a_mistyped_subcommand_names_the_right_one(self):
        self.assertIn("did you mean 'shoal train'?",
                      self.usage_error("shoal", "trian"))
        self.assertIn("did you mean 'shoal data gen'?",
                      self.usage_error("shoal", "data", "gne"))
        self.usage_error("shoal")
        for words, instead in ((["trian"], "; did you mean 'shoal train'?"),
                               (["ckpt"], "; a word must follow: save, ls, "
                                          "show, balance, verify"),
                               (["xxxxxxxx"], "")):
            output = self.usage_error("shoal", *words)
            self.assertEqual(output.splitlines()[-1],
                             "shoal: there is no subcommand "
                             f"'{' '.join(words)}'{instead}")

    def test_a_bad_value_is_named_with_what_is_allowed(self):
        self.assertIn("--batch_size=0: must be an integer in [1,",
                      self.usage_error("shoal", "train", "--batch_size=0"))
        self.assertIn("--task_type=export is not there yet",
                      self.usage_error("shoal", "run", "--task_type=export"))

    def test_a_missing_flag_is_named_with_the_reason(self):
        self.assertIn("shoal-ps needs --ps_hosts: ", self.usage_error(
            "shoal-ps", "--feature_size=9", "--field_size=3"))

    def test_missing_data_is_named_before_anything_starts(self):
        flags = ["--feature_size=9", "--field_size=3",
                 "--training_data_dir=/no/such/rows"]
        for command in (["shoal", "train"], ["shoal", "run"]):
            self.assertIn("/no/such/rows",
                          self.usage_error(*command, *flags))

    def test_a_place_that_cannot_be_used_is_a_mistake_of_the_command(self):
        file = self.write("file", "1 2:1\n")
        empty = self.write("empty.libsvm", "")
        directory = self.path("directory")
        os.mkdir(directory)
        job = ["--feature_size=9", "--field_size=3"]
        places = [(self.path("nowhere"), "o such file or directory"),
                  (directory, "has no file"), (empty, "is empty")]
        for place, why in places:
            for command in (["train"], ["run"]):
                output = self.usage_error("shoal", *command, *job,
                                          "--training_data_dir=" + place)
                self.assertRegex(output, f"--training_data_dir.*{place}.*{why}")
                output = self.usage_error(
                    "shoal", *command, *job, "--training_data_dir=" + file,
                    "--val_data_dir=" + place)
                self.assertRegex(output, f"--val_data_dir.*{place}.*{why}")
            self.assertRegex(self.usage_error(
                "shoal", "data", "prepare", "--input=" + place,
                "--out=" + self.path("out")), place + ".*" + why)
            self.assertFalse(os.path.exists(self.path("out")))
        for place, why in places[:2]:
            self.assertRegex(self.usage_error("shoal", "data", "stat", place),
                             place + ".*" + why)
        for place, why in ((places[0]), (directory, "holds no checkpoint"),
                           (file, "Not a directory")):
            for command in ("ls", "show", "balance", "verify"):
                self.assertRegex(self.usage_error("shoal", "ckpt", command,
                                                  place), place + ".*" + why)
        missing = "--write_config=" + self.path("nowhere", "flags")
        self.assertIn(missing, self.usage_error(
            "shoal", "train", *job, "--training_data_dir=" + file, missing))
        for flag in ("--ps_hosts=no-port", "--token_file=/no/such/token"):
            flags = {"--ps_hosts": "127.0.0.1:1", **dict([flag.split("=")])}
            self.assertIn(flag.split("=")[1], self.usage_error(
                "shoal", "ckpt", "save", *map("=".join, flags.items())))

    def test_a_summary_that_cannot_be_written_is_named_at_the_start(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(10))
        for path in (self.path("no", "such", "file"), self.path("data")):
            for command in (["shoal", "train"], ["shoal", "run"],
                            ["shoal", "run", "--hosts=h1,h2"]):
                self.assertIn("--summary=" + path, self.usage_error(
                    *command, "--feature_size=300", "--field_size=4",
                    "--training_data_dir=" + data, "--summary=" + path))

    def test_an_output_that_cannot_be_a_file_is_refused_at_the_start(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(10))
        os.symlink("/dev/null", self.path("link"))
        for path in ("/dev/null", "/dev/stdout", self.path("link")):
            for command in (["train"], ["run", "--ps=1", "--workers=1"]):
                output = self.usage_error(
                    "shoal", *command, *PROBE, "--training_data_dir=" + data,
                    "--summary=" + path)
                self.assertIn("--summary=" + path, output)
                self.assertIn("a regular file is needed", output)
                self.assertNotIn("trained", output)
        for flags in (["--write_config=/dev/stdout"],
                      ["--task_type=infer", "--val_data_dir=" + data,
                       "--resume=never", "--predictions_file=/dev/null"]):
            self.assertIn("a regular file is needed", self.usage_error(
                "shoal", "train", *PROBE, "--training_data_dir=" + data,
                *flags))
        self.assertTrue(os.path.islink(self.path("link")))

    def test_a_link_stays_and_the_file_that_it_leads_to_is_written(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(100))
        os.mkdir(self.path("far"))
        names = ("summary.json", "config", "predictions")
        for name in names:
            os.symlink(os.path.join("far", name), self.path(name))
        job = [*PROBE, "--training_data_dir=" + data]
        self.run_ok("shoal", "train", *job,
                    "--summary=" + self.path("summary.json"),
                    "--write_config=" + self.path("config"))
        self.run_ok("shoal", "run", "--ps=1", "--workers=1", *job,
                    "--summary=" + self.path("summary.json"))
        self.run_ok("shoal", "train", *PROBE, "--task_type=infer",
                    "--resume=never", "--val_data_dir=" + data,
                    "--predictions_file=" + self.path("predictions"))
        for name in names:
            self.assertTrue(os.path.islink(self.path(name)), name)
            self.assertGreater(os.path.getsize(self.path("far", name)), 0)
        self.expect_whole(self.summary())

    def test_a_refused_job_leaves_nothing_behind(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(100))
        job = [*PROBE, "--training_data_dir=" + data,
               "--model_dir=" + self.path("runs", "m"),
               "--quarantine_dir=" + self.path("bad", "rows")]
        with socket.socket() as busy:
            busy.bind(("127.0.0.1", 0))
            busy.listen()
            port = busy.getsockname()[1]
            self.usage_error("shoal", "train", *job, f"--metrics_port={port}")
            self.usage_error("shoal-ps", f"--ps_hosts=127.0.0.1:{port}",
                             "--worker_hosts=a", "--task_index=0", *job)
        self.run_fails("shoal-worker", "--ps_hosts=127.0.0.1:1",
                       "--task_index=0", *job, "--start_timeout=100ms")
        self.assertEqual(os.listdir(self.dir), ["data"])

    def test_a_worker_without_its_data_says_so(self):
        code, output = self.run_fails(
            "shoal-worker", "--feature_size=9", "--field_size=3",
            "--ps_hosts=127.0.0.1:1", "--task_index=0",
            "--training_data_dir=/no/such/rows")
        self.assertEqual(code, 2)
        self.assertIn("/no/such/rows", output)

    def test_bad_rows_are_written_beside_the_checkpoints(self):
        rows = harness.linear_rows(100).splitlines()
        rows[41] = "1 no-feature"
        data = self.write("data/tr.libsvm", "\n".join(rows) + "\n")
        for command in (["shoal", "train"],
                        ["shoal", "run", "--ps=1", "--workers=1"]):
            model_dir = self.path(command[1])
            self.run_ok(*command, "--feature_size=300", "--field_size=4",
                        "--training_data_dir=" + data, "--max_bad_rows=1",
                        "--model_dir=" + model_dir)
            name = os.path.join(model_dir, "bad_rows",
                                "bad-rows-worker-0.tsv")
            with open(name) as file:
                lines = file.read().splitlines()
            self.assertEqual(len(lines), 2, lines)
            self.assertEqual(lines[1].split("\t")[:2], [data, "42"])
            # A job without bad rows makes no such directory.
            os.rename(model_dir, model_dir + "-bad")
            good = self.write("good/tr.libsvm", harness.linear_rows(100))
            self.run_ok(*command, "--feature_size=300", "--field_size=4",
                        "--training_data_dir=" + good,
                        "--model_dir=" + model_dir)
            self.assertNotIn("bad_rows", os.listdir(model_dir))

    def test_a_bad_row_is_named_by_file_and_line(self):
        rows = harness.linear_rows(100).splitlines()
        rows[41] = "1 no-feature"
        data = self.write("data/tr.libsvm", "\n".join(rows) + "\n")
        for command in (["shoal", "train"],
                        ["shoal", "run", "--ps=1", "--workers=1"]):
            code, output = self.run_fails(
                *command, "--feature_size=300", "--field_size=4",
                "--training_data_dir=" + data)
            self.assertEqual(code, 1, output)
            self.assertIn("tr.libsvm", output)
            self.assertIn("42", output)


class DataGenTest(harness.ShoalTest):

    FLAGS = ["--rows=3000", "--test_rows=1000", "--fields=6", "--ids=500",
             "--files=2"]

    def generate(self, name, *flags):
        return self.run_ok("shoal", "data", "gen", "--out=" + self.path(name),
                           *self.FLAGS, *flags)

    def read(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read()

    def test_the_same_flags_give_the_same_bytes(self):
        self.assertIn("best possible AUC", self.generate("a"))
        self.generate("b")
        self.generate("c", "--seed=2")
        for name in ("tr-00000.libsvm", "tr-00001.libsvm", "te.libsvm",
                     "_meta.json"):
            self.assertEqual(self.read("a", name), self.read("b", name), name)
            self.assertNotEqual(self.read("a", name), self.read("c", name))

    def test_what_is_written_can_be_trained_on(self):
        self.generate("a")
        output = self.run_ok(
            "shoal", "train", "--feature_size=500", "--field_size=6",
            "--embedding_size=4", "--deep_layers=8",
            "--training_data_dir=" + self.path("a", "tr*"),
            "--val_data_dir=" + self.path("a", "te*"))
        self.assertIn("samples 3000 = 3000 trained", output)
        best = json.loads(self.read("a", "_meta.json"))["best_auc"]
        self.assertIn(f"best       {best:.5f}", output)

    def test_a_run_that_was_cut_off_can_be_repeated(self):
        flags = ["shoal", "data", "gen", "--out=" + self.path("a"),
                 "--rows=30000", "--test_rows=1000", "--fields=6",
                 "--ids=500", "--files=3"]
        # Rows that take minutes; the second file comes at once.
        cut = self.start("gen", *flags, "--rows=30000000", "--files=3000")
        while not os.path.exists(self.path("a", ".tr-00001.libsvm.partial")):
            self.assertIsNone(cut.popen.poll(), "it ended too early")
        cut.kill()
        self.assertFalse([name for name in os.listdir(self.path("a"))
                          if name.startswith(("tr-", "te.", "_meta"))])
        self.run_ok(*flags)
        self.assertEqual(sorted(os.listdir(self.path("a"))), [
            "_meta.json", "te.libsvm", "tr-00000.libsvm", "tr-00001.libsvm",
            "tr-00002.libsvm"])

    def test_a_link_of_a_files_own_name_is_replaced(self):
        self.generate("a")
        whole = self.read("a", "te.libsvm")
        far = self.write("far", "of another user")
        os.remove(self.path("a", "te.libsvm"))
        os.symlink(far, self.path("a", "te.libsvm"))
        self.generate("a")
        self.assertFalse(os.path.islink(self.path("a", "te.libsvm")))
        self.assertEqual(self.read("a", "te.libsvm"), whole)
        self.assertEqual(self.read("far"), b"of another user")

    def test_a_place_that_cannot_be_written_is_named(self):
        path = self.write("file", "not a directory")
        code, output = self.run_fails(
            "shoal", "data", "gen", "--out=" + path + "/below", *self.FLAGS)
        self.assertEqual(code, 2)
        self.assertIn(path, output)


class MeetingTest(harness.ShoalTest):
    """Processes that should not work together, or cannot."""

    def cluster(self, **more):
        data = self.write("data/tr.libsvm", harness.linear_rows(2000))
        return Cluster(self, 1, 1, PROBE + ["--batch_size=16"],
                       worker_flags=["--training_data_dir=" + data], **more)

    def stop(self, process):
        process.signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 3, process.output())

    def test_a_port_in_use_is_named(self):
        with socket.socket() as busy:
            busy.bind(("127.0.0.1", 0))
            busy.listen()
            cluster = self.cluster()
            cluster.common[0] = f"--ps_hosts=127.0.0.1:{busy.getsockname()[1]}"
            ps = cluster.start_ps(0)
            self.assertEqual(ps.wait(), 2)
            self.assertIn(str(busy.getsockname()[1]),
                          ps.lines[-1])

    def test_another_token_is_refused(self):
        cluster = self.cluster()
        ps = cluster.start_ps(0)
        ps.wait_for_line("listening")
        cluster.common[2] = "--token_file=" + self.token_file(
            "other", "another-token-of-the-tests")
        worker = cluster.start_worker(0)
        self.assertEqual(worker.wait(), 1)
        self.assertIn("token", worker.lines[-1])
        self.stop(ps)

    def test_a_token_that_others_can_read_is_refused(self):
        cluster = self.cluster()
        os.chmod(self.path("token"), 0o644)
        self.assertEqual(cluster.start_worker(0).wait(), 2)
        self.assertIn("600", cluster.workers[0].lines[-1])

    def test_the_network_is_not_served_without_a_token(self):
        code, output = self.run_fails(
            "shoal-ps", "--ps_hosts=0.0.0.0:2223", "--worker_hosts=a",
            "--task_index=0", *PROBE)
        self.assertEqual(code, 2)
        self.assertIn("token", output)

    def test_a_worker_of_another_config_is_told_the_first_difference(self):
        cluster = self.cluster()
        ps = cluster.start_ps(0)
        worker = cluster.start_worker(0, "--num_epochs=2",
                                      "--shuffle_rows=99")
        self.assertEqual(worker.wait(), 1)
        self.assertIn("num_epochs", worker.lines[-1])
        self.assertNotIn("shuffle_rows", worker.lines[-1])
        self.stop(ps)

    def test_a_worker_of_another_number_of_servers_is_told_its_own_flag(self):
        cluster = self.cluster()
        ps = cluster.start_ps(0)
        cluster.common[0] += ",127.0.0.1:1"
        worker = cluster.start_worker(0)
        self.assertEqual(worker.wait(), 1)
        self.assertIn("--ps_hosts, or --worker_hosts with --mode=ring, "
                      "differs in its number of entries: worker 0 "
                      "has 2, the coordinator has 1", worker.lines[-1])
        self.stop(ps)

    def test_a_worker_whose_servers_never_come_gives_up(self):
        cluster = self.cluster()
        worker = cluster.start_worker(0, "--start_timeout=500ms")
        self.assertEqual(worker.wait(), 1)
        self.assertIn("ps 0", worker.lines[-1])

    def test_a_server_whose_workers_never_come_gives_up(self):
        cluster = self.cluster()
        ps = cluster.start_ps(0, "--start_timeout=500ms")
        self.assertEqual(ps.wait(), 1)
        self.assertIn("worker", ps.lines[-1])

    def test_progress_for_programs_is_json_to_the_end(self):
        cluster = self.cluster(ps_flags=["--progress=json",
                                         "--log_level=error",
                                         "--print_config=false"])
        cluster.start_all().wait_all()
        news = [json.loads(line) for line in cluster.ps[0].lines]
        self.assertTrue(news[-1]["end"]["ok"])
        self.assertIn("samples 2000 = 2000 trained",
                      news[-1]["end"]["lines"][0])
        summary = news[-1]["end"]["summary"]
        self.assertEqual(summary["samples"]["trained"], 2000)
        self.assertEqual(summary["exit_reason"], "done")
        self.assertTrue(all("progress" in line for line in news[:-1]))


class RunTest(harness.ShoalTest):

    def flags(self, epochs):
        data = self.write("data/tr.libsvm", harness.linear_rows(20000))
        return PROBE + ["--batch_size=16", f"--num_epochs={epochs}",
                        "--training_data_dir=" + data]

    def test_a_batch_that_is_not_finite_is_rejected_and_the_job_goes_on(self):
        rows = harness.linear_rows(3000).splitlines()
        rows[1234] = "1 5:1 6:1e38 7:1"
        data = self.write("data/tr.libsvm", "\n".join(rows) + "\n")
        output = self.run_ok(
            "shoal", "run", "--training_data_dir=" + data, "--batch_size=64",
            "--feature_size=300", "--field_size=4", "--embedding_size=4",
            "--deep_layers=8", "--piece_bytes=8192",
            "--val_data_dir=" + self.write("data/te.libsvm",
                                           harness.linear_rows(200, seed=2)),
            "--summary=" + self.path("summary.json"))
        self.assertIn("is not finite, or too large; it changed no parameter",
                      output)
        summary = self.summary()
        samples = summary["samples"]
        self.assertEqual(samples["trained"] + samples["rejected"], 3000)
        self.assertGreater(samples["rejected"], 0)
        self.assertLessEqual(samples["rejected"], 64)
        self.assertEqual(samples["lost"], 0)
        self.assertLess(summary["eval"]["logloss"], 2)

    def test_two_jobs_on_one_host_do_not_meet(self):
        flags = self.flags(1)
        jobs = [self.start(f"run {i}", "shoal", "run", *flags,
                           "--summary=" + self.path(f"{i}.json"))
                for i in range(2)]
        for job in jobs:
            self.assertEqual(job.wait(), 0, job.output())
        for i in range(2):
            summary = self.summary(f"{i}.json")
            self.expect_whole(summary)
            self.assertEqual(summary["samples"]["trained"], 20000)

    def test_an_interrupt_stops_all_and_leaves_nobody(self):
        run = self.start("run", "shoal", "run", *self.flags(100000),
                         "--summary=" + self.path("summary.json"))
        run.wait_for_line(harness.TRAINED)
        children = self.children(run.popen.pid)
        self.assertEqual(len(children), 4)
        run.signal(signal.SIGINT)
        self.assertEqual(run.wait(), 3, run.output())
        for pid in children:
            self.assertFalse(os.path.exists(f"/proc/{pid}"), pid)
        self.assertNotIn("SIGKILL", run.output())
        self.assertIn("SIGINT", self.summary()["exit_reason"])

    def test_a_closed_terminal_stops_all_in_order(self):
        run = self.start("run", "shoal", "run", *self.flags(100000),
                         "--summary=" + self.path("summary.json"))
        run.wait_for_line(harness.TRAINED)
        run.signal(signal.SIGHUP)
        self.assertEqual(run.wait(), 3, run.output())
        self.assertIn("SIGHUP", self.summary()["exit_reason"])

    def test_the_summary_that_ps_0_wrote_is_kept(self):
        """Of a job that ended before it had begun, too."""
        model = "--model_dir=" + self.path("m")
        self.run_ok("shoal", "run", *self.flags(1), model)
        run = launched.Launched(
            self, *self.flags(2), model, "--worker_grace=60s",
            "--stop_timeout=1s", "--shutdown_timeout=1s",
            "--summary=" + self.path("summary.json"))
        # The others wait for it before they begin.
        os.kill(run.pid("shoal-worker", 1), signal.SIGSTOP)
        run.process.wait_for_line("worker 0 joined", timeout=20)
        run.process.signal(signal.SIGINT)
        self.assertEqual(run.process.wait(), 3, run.process.output())
        self.assertRegex(self.summary()["checkpoint"]["resumed_from"], "ckpt-")

    def test_a_full_table_ends_the_job_and_says_what_to_do(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(2000))
        code, output = self.run_fails(
            "shoal", "run", "--field_size=4", "--embedding_size=2",
            "--deep_layers=4", "--training_data_dir=" + data,
            "--table_row_limit=20", "--pull_timeout=1s", timeout=60)
        self.assertEqual(code, 1)
        self.assertIn("raise --table_row_limit", output.splitlines()[-1])
        self.assertNotIn("gave up", output)

    def test_a_full_server_ends_the_job_and_names_the_flag(self):
        data = self.write("data/tr.libsvm", harness.linear_rows(2000))
        for command in (["shoal", "run", "--pull_timeout=20s"],
                        ["shoal", "train"]):
            code, output = self.run_fails(
                *command, "--field_size=4", "--embedding_size=2",
                "--deep_layers=4", "--training_data_dir=" + data,
                "--max_ps_bytes=4KiB", timeout=60)
            self.assertEqual(code, 1)
            self.assertIn("--max_ps_bytes", output.splitlines()[-1])
            # It was not tried again and again: no waiting makes room.
            self.assertNotIn("gave up", output)

    def test_the_smallest_messages_are_enough(self):
        output = self.run_ok("shoal", "run", *self.flags(1),
                             "--max_message_bytes=1MiB")
        self.assertIn("samples 20000 = 20000 trained", output)

    def test_a_failed_job_names_the_first_failure(self):
        run = self.start("run", "shoal", "run", *self.flags(100000))
        run.wait_for_line(harness.TRAINED)
        victim = next(pid for pid in self.children(run.popen.pid)
                      if self.is_ps(pid, 1))
        os.kill(victim, signal.SIGKILL)
        self.assertEqual(run.wait(30), 1, run.output())
        self.assertIn("first to fail: ps 1 was killed by SIGKILL",
                      run.lines[-1])

    def children(self, parent):
        with open(f"/proc/{parent}/task/{parent}/children") as file:
            return [int(pid) for pid in file.read().split()]

    def is_ps(self, pid, index):
        with open(f"/proc/{pid}/cmdline") as file:
            words = file.read().split("\0")
        return (words[0].endswith("shoal-ps") and
                f"--task_index={index}" in words)


if __name__ == "__main__":
    harness.main()
