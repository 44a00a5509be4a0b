#!/bin/sh
# Makes build/venv with the packages of tools/requirements-test.txt, for the
# tests that read Shoal's files with other software. Does nothing if the
# packages are installed. Needs the network; without the packages these tests
# are skipped.
set -eu
cd "$(dirname "$0")/.."

venv=build/venv
wanted=tools/requirements-test.txt
if cmp -s "$wanted" "$venv/installed.txt"; then
  echo "install_test_tools: all packages are installed"
  exit 0
fi
mkdir -p build
# The system's Python, which CMake finds, too.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
"$python" -m venv --clear "$venv"
"$venv/bin/python3" -m pip install --quiet --disable-pip-version-check \
  --only-binary :all: -r "$wanted"
cp "$wanted" "$venv/installed.txt"
echo "install_test_tools: installed into $venv"
