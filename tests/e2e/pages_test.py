"""The commands of the pages are run as they stand there.

A block of shell commands that is to be run has a comment of HTML before it,
which readers do not see:

  <!-- run here -->           in a directory with build/release/bin in it
  <!-- run on h1 -->          on the host h1, a network namespace
  <!-- run on every host -->  on h1, h2 and h3 at once, with task=0, 1 and 2
  <!-- run with a model -->   with checkpoints in /data/model, and data to score
  <!-- run with raw data -->  in a new directory with raw Criteo files: train.txt,
                              valid.txt, later.txt, and test.txt without labels
  <!-- not run: REASON -->    needs what a test has not; REASON may name the test
                              that does the same

Blocks are run in the order of the page, and those with a number before all others
(`<!-- run 1: on h1 -->`), because a step may link to a section that comes later.
/data, the home directory and the time that the work takes are the test's own.
"""

import glob
import os
import re
import subprocess

import harness
import namespaces

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
NET = "10.213.48"  # private to the namespaces
HOSTS = ["h1", "h2", "h3"]
BLOCK = re.compile(r"^( *)<!-- run (?:(\d+): )?([^\n]+) -->\n"
                   r"\1```sh\n(.*?)^\1```$", re.M | re.S)
# The same commands on less data.
SMALLER = {"--measure ": "--measure --measure_time=2s ",
           "--rows=1000000": "--rows=20000",
           "--test_rows=50000": "--test_rows=2000"}


def pages():
    """The names of the pages for users."""
    return ["README.md"] + [os.path.join("docs", name) for name in
                            sorted(os.listdir(os.path.join(ROOT, "docs")))
                            if name.endswith(".md")]


def blocks(page, wanted=None):
    """[(where, commands)] of a page, or of one kind of `where` alone."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = file.read()
    matches = sorted(BLOCK.findall(text),
                     key=lambda match: int(match[1] or 1000))
    found = [(where, re.sub(rf"^{indent}", "", body, flags=re.M))
             for indent, _number, where, body in matches]
    marks = len(re.findall(r"<!-- run ", text))
    assert len(found) == marks, f"{page}: a mark without a block of sh"
    return [block for block in found if wanted in (None, block[0])]


class PagesTest(harness.ShoalTest):

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("here", "build", "release"))
        os.symlink(harness.BIN, self.path("here", "build", "release", "bin"))
        os.makedirs(self.path("home"))
        self.environment = dict(
            os.environ, HOME=self.path("home"),
            PATH=harness.BIN + os.pathsep + os.environ["PATH"])

    def begin(self, name, commands, directory, prefix=()):
        """Starts a block of commands."""
        for full, small in SMALLER.items():
            commands = commands.replace(full, small)
        commands = commands.replace("/data/", self.path("data") + "/")
        # The binaries of this build stand for what these lines make.
        commands = re.sub(r"^(tools/install_deps\.sh|cmake .*)\n", "", commands,
                          flags=re.M)
        os.makedirs(self.path(directory), exist_ok=True)
        script = (f"set -eu -o pipefail; cd '{self.path(directory)}'\n"
                  f"{commands}\nwait\n")
        return self.start(name, "/bin/bash", "-c", script, prefix=prefix,
                          env=self.environment)

    def finish(self, process):
        self.assertEqual(process.wait(120), 0, process.output())
        return process.output()


class MarksTest(harness.ShoalTest):

    def test_each_block_of_commands_is_run_or_says_why_not(self):
        for page in pages():
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                lines = file.read().splitlines()
            for before, line in zip(lines, lines[1:]):
                if line.strip() == "```sh":
                    self.assertRegex(
                        before, r"^ *<!-- (run .+|not run: .+) -->$", page)


class ScoringTest(PagesTest):

    def test_a_checkpoint_is_evaluated_and_predicted_by(self):
        self.run_ok("shoal", "data", "gen", "--out=" + self.path("gen"),
                    "--rows=20000", "--test_rows=1000", "--fields=5",
                    "--ids=500")
        self.run_ok("shoal", "train", "--model=fm", "--field_size=5",
                    "--training_data_dir=" + self.path("gen", "tr*"),
                    "--model_dir=" + self.path("data", "model"))
        for name in ("test", "new"):
            os.makedirs(self.path("data", name))
            for file in glob.glob(self.path("gen", "te*")):
                os.link(file, self.path("data", name, os.path.basename(file)))
        found = [block for page in pages()
                 for block in blocks(page, "with a model")]
        self.assertGreaterEqual(len(found), 2)
        for i, (_where, commands) in enumerate(found):
            output = self.finish(self.begin("model", commands, f"scores{i}"))
            self.assertRegex(output, r"(?m)^AUC +0\.\d+")
            with open(self.path(f"scores{i}", "predictions.txt")) as file:
                self.assertEqual(len(file.readlines()), 1000)


class CriteoTest(PagesTest):

    def raw_data(self, directory):
        """The real rows under the names that the pages have."""
        os.makedirs(self.path(directory))
        for name, real in (("train", "train"), ("valid", "dev"),
                           ("later", "test")):
            os.symlink(os.path.join(self.raw, f"criteo_{real}.tsv"),
                       self.path(directory, name + ".txt"))
        with open(os.path.join(self.raw, "criteo_test.tsv")) as file:
            rows = [line.split("\t", 1)[1] for line in file]
        self.write(os.path.join(directory, "test.txt"), "".join(rows))
        return len(rows)

    def test_raw_files_are_trained_evaluated_and_predicted_for(self):
        self.raw = os.path.join(os.environ.get("SHOAL_TEST_DATA_DIR", ""),
                                "criteo_raw")
        if not os.path.isdir(self.raw):
            self.skipTest("needs the raw Criteo rows of SHOAL_TEST_DATA_DIR")
        found = [block for page in pages()
                 for block in blocks(page, "with raw data")]
        self.assertEqual(len(found), 4)
        for i, (_where, commands) in enumerate(found):
            rows = self.raw_data(f"raw{i}")
            # `prepare` prints the number that stands for the dots.
            commands = re.sub(r"^(shoal data prepare .*--cutoff.*)$",
                              r"\1 2>&1 | tee prepared", commands, flags=re.M)
            commands = commands.replace(
                "--feature_size=…", "--feature_size=$(grep -oP "
                "'train with --feature_size=\\K\\d+' prepared)")
            output = self.finish(self.begin("raw", commands, f"raw{i}"))
            self.assertIn("trained + 0 rejected + 0 lost", output)
            if "predictions.txt" in commands:
                with open(self.path(f"raw{i}", "predictions.txt")) as file:
                    self.assertEqual(len(file.readlines()), rows)


class ReadmeTest(PagesTest):

    def test_what_it_says_to_try_works(self):
        outputs = []
        for _where, commands in blocks("README.md", "here"):
            outputs.append(self.finish(
                self.begin("README", commands, "here")))
        self.assertGreaterEqual(len(outputs), 2)
        for output in outputs:
            self.assertIn("samples", output)
            self.assertIn("AUC", output)
            self.assertIn("best ", output)


class OperationsTest(PagesTest):

    def setUp(self):
        super().setUp()
        reason = namespaces.why_not()
        if reason:
            self.skipTest(reason)
        self.network = namespaces.Network(NET, len(HOSTS))
        self.addCleanup(self.network.remove)
        try:
            self.network.make()
        except subprocess.CalledProcessError as error:
            self.skipTest(f"{' '.join(error.cmd)}: {error.stderr.strip()}")
        names = self.write("hosts", "127.0.0.1 localhost\n" + "".join(
            f"{address} {host}\n" for address, host in
            zip(self.network.addresses, HOSTS)))
        self.named = ("unshare", "--mount", "sh", "-c",
                      f'mount --bind "{names}" /etc/hosts && exec "$@"', "sh")
        self.run_ok("shoal", "data", "gen", "--out=" + self.path("gen"),
                    "--rows=20000", "--test_rows=1000", "--fields=39",
                    "--ids=1000", "--files=3")
        for name in os.listdir(self.path("gen")):
            folder = {"tr": "train", "te": "test"}.get(name[:2])
            if folder:
                os.makedirs(self.path("data", folder), exist_ok=True)
                os.rename(self.path("gen", name),
                          self.path("data", folder, name))

    def on(self, host, commands):
        index = HOSTS.index(host)
        return self.begin(host, commands, host,
                          prefix=(*self.network.on(index), *self.named))

    def run_page(self, page):
        """The output of each block, of h1 where it ran on every host."""
        outputs = []
        for where, commands in blocks(page):
            if where == "on every host":
                self.assertIn("task=0", commands)
                started = [self.on(host, commands.replace("task=0",
                                                          f"task={i}"))
                           for i, host in enumerate(HOSTS)]
            else:
                started = [self.on(where.removeprefix("on "), commands)]
            outputs.append([self.finish(process) for process in started][0])
        return outputs

    def test_the_three_hosts_of_the_page_train_and_are_evaluated(self):
        outputs = self.run_page("docs/operations.md")
        self.assertGreaterEqual(len(outputs), 3)
        with open(self.path("h1", "ps.log"), encoding="utf-8") as file:
            log = file.read()
        self.assertIn("samples 60000 = 60000 trained", log)
        self.assertIn("a larger --num_epochs trains on from", log)
        # The page makes a summary, and the next page reads it.
        read, = self.run_page("docs/summary.md")
        auc = float(read.split()[0])
        self.assertGreater(auc, .6)
        self.assertLess(auc, 1)


class SizingTest(harness.ShoalTest):

    def test_the_table_of_the_page_is_the_forecast_of_the_program(self):
        with open(os.path.join(ROOT, "docs", "operations.md"),
                  encoding="utf-8") as file:
            part = file.read().partition("### How many hosts")[2]
        rows = re.findall(
            r"^\| (\w+).* \| 8 \+ (\d+) × (\d+) → (\d+) \| ([\d.]+) GB "
            r"\| ([\d.]+) GB \|$", part, re.M)
        self.assertEqual(len(rows), 3)
        flags = re.search(r"`(--feature_size=\d+) (--embedding_size=\d+)`",
                          part).groups()
        ports = harness.free_ports(3)
        for optimizer, floats, each, row, table, share in rows:
            floats, each, row = int(floats), int(each), int(row)
            self.assertIn(f"--embedding_size={floats - 1}", flags)
            self.assertEqual(row, -(-(8 + floats * each) // 16) * 16)
            self.assertAlmostEqual(float(table), row * 1e8 / 1e9, delta=.05)
            self.assertAlmostEqual(float(share), float(table) / 3, delta=.05)
            # A server that finds no job prints its forecast first.
            server = self.start(
                "ps", "shoal-ps", *flags, "--field_size=39", "--task_index=1",
                "--optimizer=" + optimizer, "--start_timeout=100ms",
                "--memory_check=off", "--token_file=" + self.token_file(),
                "--worker_hosts=a,b,c", "--ps_hosts=" + ",".join(
                    f"127.0.0.1:{port}" for port in ports))
            line = server.lines[server.wait_for_line("memory: 1 process")]
            self.assertIn(f"1 process ~{share} GB", line)
            self.assertEqual(server.wait(30), 1)


if __name__ == "__main__":
    harness.main()
