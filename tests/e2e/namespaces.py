"""Hosts as network namespaces, joined by a bridge."""

import os
import shutil
import subprocess


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)


def why_not():
    """Why namespaces cannot be made here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "the `ip` command is not installed (Debian package iproute2)"
    probe = f"shoal-probe{os.getpid()}"
    try:
        ip("netns", "add", probe)
        ip("netns", "del", probe)
    except subprocess.CalledProcessError as error:
        return "ip netns add: " + error.stderr.strip()
    return None


class Network:
    """`count` hosts, host i with the address NET.(i + 1)."""

    def __init__(self, net, count):
        tag = f"shoal{os.getpid()}"
        self.names = [f"{tag}-{i}" for i in range(count)]
        self.addresses = [f"{net}.{i + 1}" for i in range(count)]
        self.hub = f"{tag}-hub"

    def make(self):
        ip("netns", "add", self.hub)
        ip("-n", self.hub, "link", "add", "br0", "type", "bridge")
        ip("-n", self.hub, "link", "set", "br0", "up")
        for i, name in enumerate(self.names):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "add", "eth0", "type", "veth", "peer",
               "name", f"port{i}", "netns", self.hub)
            ip("-n", self.hub, "link", "set", f"port{i}", "master", "br0")
            ip("-n", self.hub, "link", "set", f"port{i}", "up")
            ip("-n", name, "addr", "add", self.addresses[i] + "/24", "dev",
               "eth0")
            ip("-n", name, "link", "set", "eth0", "up")

    def remove(self):
        for name in self.names + [self.hub]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def on(self, host):
        """The beginning of a command that runs on it."""
        return ("ip", "netns", "exec", self.names[host])
