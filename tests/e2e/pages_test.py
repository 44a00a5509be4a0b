"""The commands of the pages are run as they stand there.

A block of shell commands that is to be run has a comment of HTML before it,
which readers do not see:

  <!-- run here -->           in a directory with build/release/bin in it
  <!-- run on h1 -->          on the host h1, a network namespace
  <!-- run on every host -->  on h1, h2 and h3 at once, with task=0, 1 and 2

Blocks are run in the order of the page, and those with a number before all others
(`<!-- run 1: on h1 -->`), because a step may link to a section that comes later.
/data, the home directory and the time that the work takes are the test's own.
"""

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
SMALLER = {"--rows=1000000": "--rows=20000",
           "--test_rows=50000": "--test_rows=2000"}


def blocks(page):
    """[(where, commands)] of a page."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = file.read()
    matches = sorted(BLOCK.findall(text),
                     key=lambda match: int(match[1] or 1000))
    found = [(where, re.sub(rf"^{indent}", "", body, flags=re.M))
             for indent, _number, where, body in matches]
    marks = len(re.findall(r"<!-- run ", text))
    assert len(found) == marks, f"{page}: a mark without a block of sh"
    return found


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


class ReadmeTest(PagesTest):

    def test_what_it_says_to_try_works(self):
        outputs = []
        for where, commands in blocks("README.md"):
            self.assertEqual(where, "here")
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
