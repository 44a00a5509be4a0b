"""The last line of a command says why the job ended, what can be done about it,
and promises nothing that the same command would not do."""

import os
import re
import socket

import harness
from cluster import PROBE

MODEL = ["--feature_size=300", "--field_size=4", "--embedding_size=3",
         "--deep_layers=8,4"]
# A server that died is gone in 1.5 s; a directory is waited for that long.
FAST = ["--heartbeat=200ms", "--silent_after=1500ms", "--ps_lease=1s"]
COMMANDS = [["shoal", "train"], ["shoal", "run", "--ps=1", "--workers=2"]]


class WordsTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data/tr.libsvm", harness.linear_rows(2000))
        self.model_dir = self.path("model")

    def flags(self, *more):
        return ["--training_data_dir=" + self.data, "--batch_size=50",
                "--model_dir=" + self.model_dir, *FAST, *more]

    def last(self, *command, code):
        """The last line of a command that ends with this code."""
        process = self.start(command[1], *command)
        self.assertEqual(process.wait(60), code, process.output()[-4000:])
        return process.lines[-1]


class RefusedResumeTest(WordsTest):

    def trained(self, command):
        """Makes a checkpoint; returns its path."""
        last = self.last(*command, *PROBE, *self.flags("--num_epochs=2"),
                         code=0)
        found = re.fullmatch(r"a larger --num_epochs trains on from (\S+), "
                             r"step 80", last)
        self.assertIsNotNone(found, last)
        return found[1]

    def expect_no_promise(self, last, cause, path):
        self.assertIn(cause, last)
        self.assertTrue(last.endswith(f"; the newest checkpoint is {path}, "
                                      "step 80"), last)
        self.assertNotIn("same command goes on", last)

    def test_what_would_fail_again_promises_nothing(self):
        for i, command in enumerate(COMMANDS):
            self.model_dir = self.path(f"model-{i}")
            path = self.trained(command)
            more = [*command, *PROBE, *self.flags()]
            self.expect_no_promise(self.last(*more, "--num_epochs=1", code=1),
                                   "may grow but not shrink", path)
            more.append("--num_epochs=3")
            self.expect_no_promise(
                self.last(*more, "--piece_bytes=10000", code=1),
                "--piece_bytes must be what it was", path)
            with open(self.data, "a", encoding="utf-8") as file:
                file.write(harness.linear_rows(1, seed=2))
            self.expect_no_promise(self.last(*more, code=1),
                                   "the checkpoint was trained on", path)
            self.write("data/tr.libsvm", harness.linear_rows(2000))
            shard = os.path.join(path, "shard-00000-of-00001.safetensors")
            with open(shard, "r+b") as file:
                file.seek(-1, os.SEEK_END)
                byte = file.read(1)[0]
                file.seek(-1, os.SEEK_END)
                file.write(bytes([byte ^ 1]))
            self.expect_no_promise(self.last(*more, code=1),
                                   f"move {path} away", path)

    def test_bad_rows_do_not_begin_from_the_start(self):
        for i, command in enumerate(COMMANDS):
            self.model_dir = self.path(f"model-{i}")
            bad = self.write("bad/tr.libsvm", "no row\n" * 10 + "1 5:1\n")
            last = self.last(*command, *PROBE, *self.flags(),
                             "--training_data_dir=" + bad,
                             "--data_format=libsvm", code=1)
            self.assertIn("could not be parsed", last)
            self.assertNotIn("same command", last)

    def test_flags_that_contradict_the_checkpoint_name_the_cure(self):
        for i, command in enumerate(COMMANDS):
            self.model_dir = self.path(f"model-{i}")
            self.last(*command, *MODEL, *self.flags(), code=0)
            for flag in ("--embedding_size=5", "--model=fm",
                         "--batch_size=60"):
                last = self.last(*command, *MODEL, *self.flags(flag), code=2)
                self.assertIn(flag[:flag.index("=")], last)
                self.assertIn("; go on with the same value, or start afresh "
                              "with --resume=never and another --model_dir",
                              last)


class KeptTest(WordsTest):

    def test_the_log_names_the_checkpoints_that_are_removed(self):
        for epochs in (1, 2):  # each ends with a checkpoint
            output = self.run_ok("shoal", "train", *PROBE, *self.flags(
                f"--num_epochs={epochs}", "--keep_checkpoints=1"))
        removed = re.findall(r"info removed old checkpoints "
                             r"\(--keep_checkpoints=1\): (ckpt-\d+)", output)
        kept = [name for name in os.listdir(self.model_dir)
                if name.startswith("ckpt-")]
        self.assertEqual(len(kept), 1)
        self.assertEqual(len(removed), 1, output)
        self.assertNotIn(kept[0], removed)


class CauseTest(WordsTest):
    """What a process of `shoal run` could not use is the launcher's last
    line, and nothing is said of the processes that the launcher stopped."""

    def expect_cause(self, cause, *flags, who="ps 0"):
        job = self.start("run", "shoal", "run", "--ps=2", "--workers=2",
                         *flags)
        self.assertEqual(job.wait(60), 2, job.output()[-4000:])
        self.assertIn(f"shoal run: the job failed: {who} exited with code 2; "
                      "its last words: shoal-ps: ", job.lines[-1])
        self.assertIn(cause, job.lines[-1])
        for line in job.lines:
            self.assertNotRegex(line, r"warning (ps|worker) \d+ (was killed by "
                                      r"SIGTERM|exited with code 3)")

    def test_it_is_in_the_last_line(self):
        probe = [*PROBE, *self.flags()]
        self.expect_cause("--resume=must", *probe, "--resume=must")
        self.run_ok("shoal", "train", *MODEL, *self.flags())
        self.expect_cause("the dim of 'fm_v' is 3 in the checkpoint and 5 in "
                          "this job (--embedding_size)", *MODEL,
                          *self.flags("--embedding_size=5"))
        self.expect_cause("the model is 'deepfm' in the checkpoint and 'fm'",
                          *MODEL, *self.flags("--model=fm"))
        self.expect_cause("Not a directory", *probe,
                          "--model_dir=" + self.data)
        self.expect_cause("the directory cannot be made", *probe,
                          "--model_dir=/proc/no_such_place")

    def test_a_directory_of_another_job(self):
        first = self.start("first", "shoal", "run", "--ps=1", "--workers=1",
                           *PROBE, *self.flags("--num_epochs=100000"))
        first.wait_for_line(harness.TRAINED)
        self.expect_cause("belongs to another job", *PROBE, *self.flags())

    def test_a_port_that_is_taken(self):
        with socket.socket() as taken:
            # The ports after it, of the other processes, are nobody's.
            taken.bind(("0.0.0.0", harness.own_port()))
            taken.listen()
            self.expect_cause("cannot listen", *PROBE, *self.flags(),
                              f"--metrics_port={taken.getsockname()[1]}")


if __name__ == "__main__":
    harness.main()
