#!/bin/sh
# Makes build/venv with the packages of tools/requirements-test.txt, for the
# tests that compare Shoal's files with what others read in them. Does nothing
# where they are there. Needs the network; the tests skip where it was not.
set -eu
cd "$(dirname "$0")/.."

venv=build/venv
wanted=tools/requirements-test.txt
if cmp -s "$wanted" "$venv/installed.txt"; then
  echo "install_test_tools: all packages are there"
  exit 0
fi
mkdir -p build
# The system's own Python, which CMake finds too.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
"$python" -m venv --clear "$venv"
"$venv/bin/python3" -m pip install --quiet --disable-pip-version-check \
  --only-binary :all: -r "$wanted"
cp "$wanted" "$venv/installed.txt"
echo "install_test_tools: installed into $venv"
