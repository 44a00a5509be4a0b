#!/bin/bash
# The whole check: every build and every test that a commit must pass.
#
# Usage: tools/check.sh [--long]
#
#   style    tools/tidy.py, which takes a second
#   tools    makes build/venv, for tests against packages of PyPI, beside the
#            release build
#   release  builds everything with gcc and warnings as errors, compiles each
#            header alone, and runs all tests
#   asan     builds all but the unlabelled tests with clang (lock analysis, ASan
#            and UBSan), runs the tests labelled for these, and every fuzzer for
#            10 s
#   tsan     builds and runs the tests labelled for ThreadSanitizer
#
# --long adds an hour: the tests labelled `long` (many kills, many seeds of the
# simulation), and every fuzzer for ten minutes of CPU time.
#
# The parts that fail most often come first. A failure does not end the run, so
# one run shows all failures. At the end comes a summary of the parts with their
# results and seconds; a build, the style and a fuzzer count as one test each.
# Exits with 1 if anything failed, and with 2 for a wrong argument.
set -u
cd "$(dirname "$0")/.." || exit 1

long=false
case "$*" in
  '') ;;
  --long) long=true ;;
  *)
    echo "check: '$*' is not an argument; the only one is --long" >&2
    exit 2
    ;;
esac

jobs=$(nproc)
total=0
failed=0
summary=()
part_began=0  # in $SECONDS

# count NAME TOTAL FAILED: adds the result of a part to the summary. The part
# began when the part before it ended.
count() {
  total=$((total + $2))
  failed=$((failed + $3))
  summary+=("$(printf '%-14s %3d of %3d passed %6d s' "$1" $(($2 - $3)) "$2" \
    $((SECONDS - part_began)))")
  part_began=$SECONDS
}

# one NAME COMMAND...: runs a part that passes or fails as a whole.
one() {
  local name=$1
  shift
  echo "== $name"
  if "$@"; then
    count "$name" 1 0
  else
    count "$name" 1 1
    return 1
  fi
}

configure_and_build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"build/$preset.log" 2>&1 &&
    cmake --build --preset "$preset" --target "$@" -- -k 0 -j "$jobs" \
      --quiet && return
  # The compiler's messages are above; cmake's are only in its log.
  grep -q 'Configuring incomplete\|CMake Error' "build/$preset.log" &&
    cat "build/$preset.log"
  return 1
}

# build PRESET TARGET...: returns false if the build fails, since it cannot be
# tested then.
build() {
  one "$1 build" configure_and_build "$@"
}

# installed PID: waits for the process that installs the test tools.
installed() {
  wait "$1"
  local code=$?
  cat build/tools.log
  return "$code"
}

# run_tests PRESET: runs the tests with ctest. It runs one more test at a time
# than there are cores, since end-to-end tests wait for half of their time.
run_tests() {
  local preset=$1 log line
  log=build/$preset.tests.log
  echo "== $preset tests"
  ctest --preset "$preset" -j $((jobs + 1)) --no-tests=error 2>&1 | tee "$log"
  # ctest's closing line: "98% tests passed, 1 tests failed out of 50".
  line=$(grep -E '% tests passed, [0-9]+ tests failed out of' "$log")
  if [[ $line =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    count "$preset tests" "${BASH_REMATCH[2]}" "${BASH_REMATCH[1]}"
  else
    count "$preset tests" 1 1
  fi
}

# run_fuzzers NAME SECONDS
run_fuzzers() {
  local log=build/fuzz.runs.log
  echo "== $1"
  tools/fuzz.sh "$2" 2>&1 | tee "$log"
  if [[ $(tail -n 1 "$log") =~ ([0-9]+)\ of\ ([0-9]+)\ fuzzers\ passed ]]; then
    count "$1" "${BASH_REMATCH[2]}" $((BASH_REMATCH[2] - BASH_REMATCH[1]))
  else
    count "$1" 1 1
  fi
}

mkdir -p build
one "style" python3 -B tools/tidy.py
tools/install_test_tools.sh >build/tools.log 2>&1 &
tools=$!
build release all headers_compile_alone
released=$?
# Without these packages some tests are skipped, so their absence counts as a
# failure.
one "test tools" installed "$tools"
((released == 0)) && run_tests release
build asan all house fuzzers && run_tests asan && run_fuzzers "fuzz" 10
build tsan all && run_tests tsan
if $long; then
  run_tests long
  run_fuzzers "fuzz long" 600
fi

echo "== summary (a build counts as one test)"
printf '%s\n' "${summary[@]}"
echo "wall time ${SECONDS} s"
echo
# Rounded down, so that 100% means all.
echo "$(((total - failed) * 100 / total))% tests passed," \
  "$failed tests failed out of $total"
[ "$failed" -eq 0 ]
