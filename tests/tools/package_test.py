"""The Debian package that the target `package` makes, and its systemd units."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BIN = os.environ.get("SHOAL_BIN", "")
CONFIG = os.environ.get("SHOAL_CPACK_CONFIG", "")
PROGRAMS = ["shoal", "shoal-ps", "shoal-worker"]
UNITS = ["shoal-ps@.service", "shoal-worker@.service"]


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def need(program, package):
    if shutil.which(program) is None:
        raise unittest.SkipTest(
            f"{program} is not installed (Debian package {package})")


class PackageTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        for program, package in (("dpkg-shlibdeps", "dpkg-dev"),
                                 ("file", "file"), ("dpkg-deb", "dpkg")):
            need(program, package)
        cls.dir = tempfile.mkdtemp(prefix="shoal-package-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        output_of("cpack", "--config", CONFIG, "-B", cls.dir)
        cls.deb, = [os.path.join(cls.dir, name) for name in os.listdir(cls.dir)
                    if name.endswith(".deb")]
        cls.tree = os.path.join(cls.dir, "tree")
        output_of("dpkg-deb", "-x", cls.deb, cls.tree)

    def field(self, name):
        return output_of("dpkg-deb", "-f", self.deb, name).strip()

    def test_its_head_says_what_it_is(self):
        version = output_of(os.path.join(BIN, "shoal"), "--version")
        self.assertEqual(self.field("Package"), "shoal")
        self.assertIn(f"shoal {self.field('Version')},", version)
        self.assertEqual(os.path.basename(self.deb),
                         f"shoal_{self.field('Version')}_"
                         f"{self.field('Architecture')}.deb")
        self.assertRegex(self.field("Maintainer"), r"<\S+@\S+>")
        self.assertEqual(self.field("Section"), "science")
        summary, _, more = self.field("Description").partition("\n")
        self.assertLess(len(summary), 80)
        self.assertIn("parameter server", more)

    def test_it_depends_on_libraries_alone(self):
        depends = [entry.split()[0]
                   for entry in self.field("Depends").split(", ")]
        self.assertIn("libc6", depends)
        self.assertTrue([name for name in depends
                         if name.startswith("libgrpc++")], depends)
        for name in depends:
            self.assertRegex(name, r"\A(lib|zlib)")
            self.assertNotRegex(name, r"-dev\b|-dbg\b|g\+\+-|gtest|benchmark")
        self.assertLessEqual(len(depends), 25, depends)

    def test_its_files_and_their_modes(self):
        listed = {}
        for line in output_of("dpkg-deb", "-c", self.deb).splitlines():
            mode, owner, _size, _day, _time, path = line.split(None, 5)
            self.assertEqual(owner, "root/root", line)
            listed[path.lstrip(".")] = mode
        for program in PROGRAMS:
            self.assertEqual(listed["/usr/bin/" + program], "-rwxr-xr-x")
        doc = "/usr/share/doc/shoal/"
        for name in ["copyright", "README.md", "docs/operations.md",
                     "docs/commands.md", "examples/job.textproto",
                     "examples/job.env"] + ["examples/" + u for u in UNITS]:
            self.assertEqual(listed[doc + name], "-rw-r--r--")
        others = [path for path, mode in listed.items()
                  if mode[0] != "d" and not path.startswith(doc)]
        self.assertEqual(sorted(others),
                         ["/usr/bin/" + program for program in PROGRAMS])

    def test_its_programs_are_stripped_and_run(self):
        for program in PROGRAMS:
            path = os.path.join(self.tree, "usr", "bin", program)
            self.assertIn(", stripped", output_of("file", path))
            self.assertNotIn("RUNPATH", output_of("file", path))
            self.assertEqual(output_of(path, "--version"),
                             output_of(os.path.join(BIN, program),
                                       "--version"))

    def test_lintian_finds_no_error(self):
        need("lintian", "lintian")
        # Debian's own changelog; CHANGELOG.md is in the package.
        done = subprocess.run(
            ["lintian", "--allow-root", "--fail-on", "error",
             "--suppress-tags", "no-changelog", self.deb],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def seconds(text):
    """Of "1m30s", "500ms" or systemd's "60"."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": .001, "": 1}
    return sum(float(number) * units[unit] for number, unit in
               re.findall(r"([\d.]+)(ms|h|m|s|)", text) if number)


class UnitTest(unittest.TestCase):

    def settings(self, unit):
        found = {}
        with open(os.path.join(ROOT, "packaging", unit),
                  encoding="utf-8") as file:
            for line in file.read().replace("\\\n", "").splitlines():
                key, is_setting, value = line.partition("=")
                if is_setting and not line.startswith("#"):
                    self.assertNotIn(key, found, "given twice")
                    found[key] = value
        return found

    def default(self, program, flag):
        text = output_of(os.path.join(BIN, program), "--help")
        found = re.search(rf"--{flag}=.*?\[([^\[\]]*)\]", text, re.S)
        self.assertIsNotNone(found, flag)
        return seconds(found[1])

    def test_systemd_accepts_them(self):
        need("systemd-analyze", "systemd")
        with tempfile.TemporaryDirectory() as directory:
            for unit in UNITS:
                with open(os.path.join(ROOT, "packaging", unit),
                          encoding="utf-8") as file:
                    text = file.read()
                # The programs are not installed on this host.
                with open(os.path.join(directory, unit), "w",
                          encoding="utf-8") as file:
                    file.write(text.replace("=/usr/bin/", f"={BIN}/"))
                done = subprocess.run(
                    ["systemd-analyze", "verify",
                     os.path.join(directory, unit)],
                    capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_stop_has_the_time_that_a_job_takes_to_save(self):
        for unit in UNITS:
            program = unit.partition("@")[0]
            settings = self.settings(unit)
            needed = 1 + sum(self.default(program, flag) for flag in
                             ("stop_timeout", "linger", "shutdown_timeout"))
            self.assertGreater(seconds(settings["TimeoutStopSec"]), needed)
            self.assertNotIn("KillSignal", settings)  # SIGTERM
            self.assertEqual(settings["KillMode"], "mixed")
            self.assertEqual(settings["SuccessExitStatus"], "3")

    def test_only_a_lost_process_starts_a_job_again(self):
        for unit in UNITS:
            settings = self.settings(unit)
            self.assertEqual(settings["RestartForceExitStatus"], "138")
            self.assertEqual(settings["Restart"], "on-abnormal")
            # systemd counts starts within this time; the pause must not hide
            # a job that never gets going.
            self.assertGreater(
                seconds(settings["StartLimitIntervalSec"]),
                int(settings["StartLimitBurst"]) *
                seconds(settings["RestartSec"]))

    def test_their_command_lines_are_understood(self):
        for unit in UNITS:
            words = self.settings(unit)["ExecStart"].split()
            program = os.path.basename(words[0])
            with tempfile.TemporaryDirectory() as directory:
                config = os.path.join(ROOT, "packaging", "job.textproto")
                words = [word.replace("/etc/shoal/%i.textproto", config)
                         .replace("${TASK_INDEX}", "0")
                         .replace("%d", directory) for word in words[1:]]
                done = subprocess.run(
                    [os.path.join(BIN, program), *words],
                    capture_output=True, text=True, timeout=60)
            # All flags are known; the token is what is missing.
            self.assertEqual(done.returncode, 2)
            self.assertIn("token file", done.stderr.splitlines()[-1])


if __name__ == "__main__":
    if not BIN:
        sys.exit("set SHOAL_BIN to the directory of the binaries")
    unittest.main(verbosity=2)
