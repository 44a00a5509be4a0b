"""Slurm on this host alone: a controller, a node and munge, with all their files
in one directory and no port but those of the loopback address."""

import os
import shutil
import socket
import subprocess
import time

import harness

PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "munged": "munge",
            "srun": "slurm-client"}
CPUS = 8  # that Slurm believes in
UP = 30  # seconds until the node must be idle

CONFIG = """\
ClusterName=shoal
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={d_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus}
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
"""


def why_not():
    """Why Slurm cannot be started here, or None."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian package {package})"
    return None


class Slurm:
    """The daemons. `environment` is that of commands such as srun."""

    def __init__(self, directory):
        self.dir = directory
        self.daemons = []
        config = os.path.join(directory, "slurm.conf")
        self.environment = {**os.environ, "SLURM_CONF": config}

    def start(self):
        """An error says why there is no Slurm here."""
        for name in ("state", "spool"):
            os.makedirs(os.path.join(self.dir, name))
        ctld_port, d_port = harness.free_ports(2)
        with open(self.environment["SLURM_CONF"], "w") as file:
            file.write(CONFIG.format(
                host=socket.gethostname().split(".")[0], dir=self.dir,
                ctld_port=ctld_port, d_port=d_port, cpus=CPUS))
        key = os.path.join(self.dir, "munge.key")
        with open(key, "wb", opener=lambda path, flags: os.open(
                path, flags, 0o600)) as file:
            file.write(os.urandom(1024))
        munge = {name: os.path.join(self.dir, "munge." + name)
                 for name in ("sock", "pid", "log", "seed")}
        # --force: the directory is for root alone.
        self._daemon("munged", "--foreground", "--force", "--key-file=" + key,
                     "--socket=" + munge["sock"], "--pid-file=" + munge["pid"],
                     "--log-file=" + munge["log"],
                     "--seed-file=" + munge["seed"])
        self._await(lambda: os.path.exists(munge["sock"]), "munged")
        self._daemon("slurmctld", "-D")
        self._daemon("slurmd", "-D", "-N", "node")
        self._await(lambda: self.ask("sinfo", "-h", "-o", "%T") == "idle",
                    "the node")

    def _daemon(self, name, *args):
        log = open(os.path.join(self.dir, name + ".out"), "w")
        with log:
            self.daemons.append(subprocess.Popen(
                [name, *args], env=self.environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True))

    def _await(self, there, what):
        deadline = time.monotonic() + UP
        while not there():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    raise RuntimeError(self._why(daemon.args[0]))
            if time.monotonic() > deadline:
                raise RuntimeError(f"{what} is not there after {UP} s: " +
                                   self._why("slurmd"))
            time.sleep(0.05)

    def _why(self, name):
        with open(os.path.join(self.dir, name + ".out")) as file:
            return f"{name}: " + " ".join(file.read().splitlines()[-2:])

    def ask(self, *command):
        """What a command prints, or "" if it fails."""
        done = subprocess.run(command, env=self.environment, timeout=30,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    def stop(self):
        if len(self.daemons) == 3:
            # The steps of a test that failed are children of no daemon.
            self.ask("scancel", "--full", "--signal=KILL", "--user=root")
            deadline = time.monotonic() + 15
            while (self.ask("squeue", "-h") and
                   time.monotonic() < deadline):
                time.sleep(0.1)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
