#!/bin/bash
# Runs every fuzzer of tests/fuzz.
#
# Usage: tools/fuzz.sh [SECONDS] [NAME...]
#
# Builds the fuzzers of the preset `asan`, then runs each fuzzer (or only the
# named ones) for SECONDS of CPU time, 600 by default, one on each core. The
# inputs that they find are kept in build/fuzz/corpus for the next run. An input
# that fails is left in build/fuzz/failures; `build/asan/fuzzers/NAME FILE`
# repeats the failure. A fuzzer may take 2 GiB of memory and 25 s for an input.
# Ends with "fuzz: N of M fuzzers passed". Exits with 1 if a fuzzer failed or if
# no fuzzer ran.
set -u
cd "$(dirname "$0")/.." || exit 1

seconds=${1:-600}
[ $# -eq 0 ] || shift
case $seconds in
  '' | *[!0-9]* | 0*)
    echo "fuzz: '$seconds' is not a number of seconds" >&2
    exit 2
    ;;
esac

mkdir -p build
if ! cmake --preset asan >build/asan.log 2>&1; then
  cat build/asan.log
  exit 1
fi
cmake --build --preset asan --target fuzzers -- -j "$(nproc)" --quiet || exit 1

programs=$PWD/build/asan/fuzzers
root=$PWD/build/fuzz
mkdir -p "$root/failures" "$root/logs"

# run NAME [SEEDS]: runs one fuzzer; its log says why it fails. The fuzzer runs
# in turns of wall time until it has used its CPU time: on a busy machine the
# two differ.
run() {
  local name=$1 seeds=${2:-} log=$root/logs/$1.log
  local spent=0 inputs=0 TIMEFORMAT="%0U %0S"
  mkdir -p "$root/corpus/$name"
  while [ "$spent" -lt "$seconds" ]; do
    local turn
    turn=$({
      time "$programs/$name" -max_total_time=$((seconds - spent)) \
        -timeout=25 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
        -artifact_prefix="$root/failures/$name-" \
        "$root/corpus/$name" ${seeds:+"$seeds"} >"$log" 2>&1
    } 2>&1) || {
      tail -n 40 "$log"
      echo "fuzz: $name FAILED; its log is $log"
      return 1
    }
    turn=$((${turn/ /+}))  # user and system time
    # A turn of less than half a second still counts, so that the loop ends.
    spent=$((spent + (turn > 0 ? turn : 1)))
    inputs=$((inputs + $(grep -o 'number_of_executed_units: [0-9]*' "$log" |
      grep -o '[0-9]*')))
  done
  echo "fuzz: $name passed: $inputs inputs in $spent s of CPU time"
}

total=0
passed=0
pids=()
# One fuzzer on each core at a time.
collect() {
  for pid in "${pids[@]}"; do
    wait "$pid" && passed=$((passed + 1))
  done
  pids=()
}
while read -r name seeds; do
  [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
  run "$name" "$seeds" &
  pids+=($!)
  total=$((total + 1))
  [ "${#pids[@]}" -lt "$(nproc)" ] || collect
done <"$programs/list.txt"
collect
echo "fuzz: $passed of $total fuzzers passed"
[ "$total" -gt 0 ] && [ "$passed" -eq "$total" ]
