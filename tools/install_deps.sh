#!/bin/sh
# Installs everything that Shoal is built and checked with: only packages of
# Debian 12. Runs as root, or through sudo. Does nothing if all packages are
# installed.
set -eu

packages='
  ccache clang cmake dpkg-dev file g++ iproute2 llvm mold ninja-build pkg-config python3
  python3-venv protobuf-compiler protobuf-compiler-grpc
  libabsl-dev libbenchmark-dev libcli11-dev libdnnl-dev libgmock-dev
  libclang-rt-14-dev libgloo-dev libgrpc++-dev libgtest-dev libhwy-dev
  libprotobuf-dev libspdlog-dev libssl-dev libzstd-dev nlohmann-json3-dev
  munge openmpi-bin openssh-client openssh-server prometheus-cpp-dev
  slurm-client slurmctld slurmd zlib1g-dev
'

installed() {
  for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
      grep -q '^install ok installed$' || return 1
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
  else
    echo "install_deps: not root, and sudo is missing: run as root" >&2
    exit 1
  fi
}

if ! command -v apt-get >/dev/null; then
  echo "install_deps: needs Debian 12; apt-get is missing" >&2
  exit 1
fi
if installed; then
  echo "install_deps: all packages are installed"
  exit 0
fi
as_root apt-get update -q
# shellcheck disable=SC2086  # one word a package
as_root apt-get install -q -y --no-install-recommends $packages
