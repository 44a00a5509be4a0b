#!/bin/bash
# The whole check: every build and every test that a commit must pass.
#
# Usage: tools/check.sh [--long]
#
#   style    tools/tidy.py, in a second
#   tools    build/venv, for tests against packages of PyPI
#   release  all of it with gcc and warnings as errors, headers alone, all tests
#   asan     all but the unlabelled tests with clang: its lock analysis, ASan and
#            UBSan, the tests labelled for them; every fuzzer for 10 s
#   tsan     the tests labelled for ThreadSanitizer
#
# --long adds what takes an hour: the tests labelled `long` (many kills, many
# seeds of the simulation), and every fuzzer for ten minutes of CPU time.
#
# What fails most often comes first. Goes on after a failure, so that one run
# tells all, and ends with a summary of every part, its results and its seconds,
# in which a build, the style and a fuzzer count as one test. Exits 1 if anything
# failed, 2 for a wrong argument.
set -u
cd "$(dirname "$0")/.." || exit 1

long=false
case "$*" in
  '') ;;
  --long) long=true ;;
  *)
    echo "check: '$*' is no argument; there is --long" >&2
    exit 2
    ;;
esac

jobs=$(nproc)
total=0
failed=0
summary=()
part_began=0  # in $SECONDS

# count NAME TOTAL FAILED: takes the result of a part, which began where the last
# one ended, into the summary.
count() {
  total=$((total + $2))
  failed=$((failed + $3))
  summary+=("$(printf '%-14s %3d of %3d passed %6d s' "$1" $(($2 - $3)) "$2" \
    $((SECONDS - part_began)))")
  part_began=$SECONDS
}

# one NAME COMMAND...: a part that passes or fails as a whole.
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
  # The compiler's own words are above; cmake's are only in its log.
  grep -q 'Configuring incomplete\|CMake Error' "build/$preset.log" &&
    cat "build/$preset.log"
  return 1
}

# build PRESET TARGET...: false if it fails, as then it cannot be tested.
build() {
  one "$1 build" configure_and_build "$@"
}

# run_tests PRESET: of ctest, as many at once as there are cores.
run_tests() {
  local preset=$1 log line
  log=build/$preset.tests.log
  echo "== $preset tests"
  ctest --preset "$preset" -j "$jobs" --no-tests=error 2>&1 | tee "$log"
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
# Without these the tests that need them are skipped: a failure of its own.
one "test tools" tools/install_test_tools.sh
build release all headers_compile_alone && run_tests release
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
