#!/bin/bash
# The whole check: every build and every test that a commit must pass.
#
#   tools     build/venv, for tests against packages of PyPI
#   release   all of it with warnings as errors, all tests
#   dev       all but the tests with clang and its lock analysis
#   asan tsan the tests labelled for the sanitizers, under them
#   fuzz      every fuzzer for 20 s, each of which counts as one test
#
# Goes on after a failure, so that one run tells all, and ends with a summary
# in which a build counts as one test. Exits 1 if anything failed.
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=$(nproc)
total=0
failed=0
summary=()

# count NAME TOTAL FAILED: takes a result into the summary.
count() {
  total=$((total + $2))
  failed=$((failed + $3))
  summary+=("$(printf '%-16s %3d of %3d passed' "$1" $(($2 - $3)) "$2")")
}

# Without these the tests that need them are skipped: a failure of its own.
test_tools() {
  echo "== test tools"
  if tools/install_test_tools.sh; then
    count "test tools" 1 0
  else
    count "test tools" 1 1
  fi
}

# build PRESET TARGET...: false if it fails, as then it cannot be tested.
build() {
  local preset=$1
  shift
  echo "== $preset: build"
  if cmake --preset "$preset" >"build/$preset.log" 2>&1 &&
    cmake --build --preset "$preset" --target "$@" -- -k 0 -j "$jobs" --quiet
  then
    count "$preset build" 1 0
  else
    # The compiler's own words are above; cmake's are only in its log.
    grep -q 'Configuring incomplete\|CMake Error' "build/$preset.log" &&
      cat "build/$preset.log"
    count "$preset build" 1 1
    return 1
  fi
}

run_tests() {
  local preset=$1 log line
  log=build/$preset.tests.log
  echo "== $preset: tests"
  ctest --preset "$preset" -j "$jobs" --no-tests=error 2>&1 | tee "$log"
  # ctest's closing line: "98% tests passed, 1 tests failed out of 50".
  line=$(grep -E '% tests passed, [0-9]+ tests failed out of' "$log")
  if [[ $line =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    count "$preset tests" "${BASH_REMATCH[2]}" "${BASH_REMATCH[1]}"
  else
    count "$preset tests" 1 1
  fi
}

run_fuzzers() {
  local log=build/fuzz.runs.log
  echo "== fuzz: runs"
  tools/fuzz.sh 20 2>&1 | tee "$log"
  if [[ $(tail -n 1 "$log") =~ ([0-9]+)\ of\ ([0-9]+)\ fuzzers\ passed ]]; then
    count "fuzz runs" "${BASH_REMATCH[2]}" \
      $((BASH_REMATCH[2] - BASH_REMATCH[1]))
  else
    count "fuzz runs" 1 1
  fi
}

mkdir -p build
test_tools
build release all headers_compile_alone && run_tests release
build dev house
build asan all && run_tests asan
build tsan all && run_tests tsan
build fuzz fuzzers && run_fuzzers

echo "== summary (a build counts as one test)"
printf '%s\n' "${summary[@]}"
echo "wall time ${SECONDS} s"
echo
# Rounded down, so that 100% means all.
echo "$(((total - failed) * 100 / total))% tests passed," \
  "$failed tests failed out of $total"
[ "$failed" -eq 0 ]
