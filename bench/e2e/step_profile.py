#!/usr/bin/env python3
"""Where does the time of a training step go?

Runs the jobs of speed.py, samples the threads of each with `perf record`
(Debian's linux-perf) over a window of steady work, and prints

  - the processor time a sample that each stage took, in all processes and in
    the processes of each kind: the window's cpu_us, divided by perf's samples.
    The table STAGES below assigns each function to a stage; --others lists
    functions without a stage;
  - the time line of a worker's step, by the worker's own clock
    (shoal_worker_step_seconds_total): the states, in which the worker computes
    or waits, one after the other; they add up to the step.

  bench/e2e/step_profile.py --jobs=shoal-2+2 --models=A --batches=1024
"""

import collections
import re
import subprocess
import sys
import tempfile

import timed_window
import training_job

# A stage, and a pattern for the names of its functions in Shoal's programs. The
# first stage that fits gets the sample.
OURS = r"/shoal(-ps|-worker)?$"
OUR_STAGES = r"""
dense products      [Gg]emm
transposed weights  Transpose
allocation          malloc|free|alloc|unlink_chunk|operator (new|delete)
initial values      Initial|TruncatedNormal|Philox
row update          EmbeddingTable::(Apply|Update|Push)|Adagrad|Ftrl
row update          OptimizerStep|RepeatFinder|RowUpdate|UpdateRows
dense update        Adam|DenseStore|Sgd
rows looked up      EmbeddingTable|ArrayTable|HashTable|IdIndex
rows looked up      PrefetchRow|GatherRows|Locate
dedup               UniqueIds|SplitIds|PrepareStep|Dedup|SharedSplit
sums of distinct products  BagSum|DistinctDense
gather, FM, row gradients  Fm|Gather|Scatter|Embedding|DeepFm|Interaction
bias, ReLU, loss    Bias|Relu|Loss|Sigmoid|Logit|LastLayer
checks              CheckGradient|IsSound|IsFinite|AllFinite
parsing, shuffling  Parse|TfExample|TfRecord|Crc32|Shuffle|RowWindow|Batch
parsing, shuffling  Reader|Source|Example|AppendRow
AUC                 ExactAuc|ScoredExample
wire                rpc::|Rpc|Wire|Codec|Encode|Decode|Message|ParameterServ
wire                ParameterClient|ClientLoop
shard, marks        Shard|Mark|Push|Pull
"""
# The same for other files, with a pattern for the file's name.
STAGES = [
    ("kernel", r"", r"\[(kernel|vdso|guest)"),
    ("dense products", r"", r"/perf-\d+\.map$|libdnnl|\[JIT\]|//anon"),
    ("copies", r"^_*mem(move|cpy|set)", r"libc"),
    ("allocation", r"malloc|free|alloc|unlink_chunk|operator (new|delete)",
     r"lib(c|stdc\+\+)[.-]"),
    ("gRPC", r"", r"lib(grpc|gpr|absl|protobuf|address_sorting|upb|re2|cares)"),
    ("exp, log", r"", r"/libm[.-]"),  # loss; initial values of rows
    *((*re.split("  +", line), OURS) for line in OUR_STAGES.split("\n")[1:-1]),
    ("threads, OpenMP", r"", r"libgomp|libpthread"),
    ("threads, OpenMP", r"pthread|Executor|Mutex|futex|sem_", r""),
]
LINE = re.compile(r"^\s*(\d+)\s+[0-9a-f]+ (.*) \((.*)\)$")


def stage_of(symbol, file):
    for stage, symbols, files in STAGES:
        if re.search(files, file) and re.search(symbols, symbol):
            return stage
    return "other"


def record(job, pids, seconds, path):
    """Records a thousand samples of processor time a second on each core."""
    process = subprocess.Popen(
        ["perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "-m", "512",
         "-o", path, "-p", ",".join(map(str, pids)), "--", "sleep",
         str(seconds + 1)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True)
    try:
        found = job.measure(seconds)
    finally:
        errors = process.communicate()[1]
    if process.returncode != 0:
        sys.exit(f"perf: {errors}\nIt needs kernel.perf_event_paranoid <= 1, "
                 "or root.")
    return found


def read_samples(path):
    """(pid, symbol, file) of every sample."""
    text = subprocess.run(
        ["perf", "script", "-i", path, "-F", "pid,ip,sym,dso"], check=True,
        capture_output=True, text=True).stdout
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            yield int(match[1]), match[2], match[3]


def by_stage(samples, kinds, cpu_us):
    """{stage: {kind of process: CPU us a sample}}, and the functions without a
    stage. `kinds`: kind of process by pid."""
    counts = collections.Counter()
    others = collections.Counter()
    for pid, symbol, file in samples:
        stage = stage_of(symbol, file)
        counts[stage, kinds.get(pid, "worker")] += 1
        if stage == "other":
            others[symbol, file] += 1
    each = cpu_us / sum(counts.values())
    stages = collections.defaultdict(dict)
    for (stage, kind), count in counts.items():
        stages[stage][kind] = each * count
    return stages, [(each * count, *what)
                    for what, count in others.most_common()]


def print_stages(stages, cpu_us):
    columns = sorted({kind for row in stages.values() for kind in row})
    rows = sorted(stages.items(), key=lambda r: -sum(r[1].values()))
    rows.append(("all", {kind: sum(row.get(kind, 0) for row in stages.values())
                         for kind in columns}))
    print(f"{'CPU us a sample':28}{'share':>7}{'all':>8}" +
          "".join(f"{kind:>10}" for kind in columns))
    for stage, row in rows:
        whole = sum(row.values())
        print(f"{stage:28}{whole / cpu_us:7.1%}{whole:8.2f}" +
              "".join(f"{row.get(kind, 0):10.2f}" for kind in columns))


def time_line(before, after):
    """Figures of one worker, from its metrics at both ends of the window:
    batches, ms a step by state, ms a pull and a push."""
    def grown(key):
        return after[key] - before[key]
    batches = grown("shoal_worker_batches_total")
    found = {"batches": batches, "states_ms": {
        re.search('state="(.*)"', key)[1]: 1e3 * grown(key) / batches
        for key in after if key.startswith("shoal_worker_step_seconds_total")}}
    for what in ("pull", "push"):
        key = f"shoal_worker_{what}_seconds_"
        if grown(key + "count") > 0:
            found[what + "_ms"] = (1e3 * grown(key + "sum") /
                                   grown(key + "count"))
    return found


def print_time_line(worker, line):
    states = line["states_ms"]
    step = sum(states.values())
    print(f"worker {worker}: step of {step:.2f} ms, mean of "
          f"{line['batches']:.0f}; a pull takes {line.get('pull_ms', 0):.2f} "
          f"ms, a push {line.get('push_ms', 0):.2f} ms")
    begin = 0
    for state, ms in states.items():
        bar = " " * round(60 * begin / step) + "#" * round(60 * ms / step)
        print(f"  {state:11}{ms:8.2f} ms {ms / step:6.1%}  {bar.rstrip()}")
        begin += ms


def profile(args, kind, net, batch):
    rate = training_job.sgemm_rate(args)
    with tempfile.NamedTemporaryFile() as samples:
        with training_job.Job(args, kind, net, batch) as job:
            job.warm_up()
            pids = timed_window.process_tree([job.process.pid])
            kinds = dict.fromkeys(pids, "worker")
            kinds |= dict.fromkeys(job.servers(), "servers")
            before = [timed_window.metrics(p) for p in job.worker_ports]
            found = record(job, pids, args.window, samples.name)
            after = [timed_window.metrics(p) for p in job.worker_ports]
        stages, others = by_stage(read_samples(samples.name), kinds,
                                  found["cpu_us"])
    found |= {"job": kind, "net": net, "batch": batch,
              "sgemm_gflops": rate / 1e9,
              "limit_us": 1e6 * training_job.flop_per_sample(net) / rate,
              "stages_cpu_us": stages,
              "workers": [time_line(*ends) for ends in zip(before, after)]}
    print(f"\n{kind}, model {net}, batch {batch}: "
          f"{found['samples_per_second']:,.0f} samples/s, CPU "
          f"{found['cpu_us']:.2f} us/sample; limit {found['limit_us']:.2f} us "
          f"at sgemm {found['sgemm_gflops']:.1f} GFLOP/s; others used "
          f"{found['others_cores']:.2f} cores")
    print_stages(stages, found["cpu_us"])
    for micros, symbol, file in others[:args.others]:
        print(f"  other {micros:6.3f}  {symbol[:80]} ({file})")
    for worker, line in enumerate(found["workers"]):
        print_time_line(worker, line)
    sys.stdout.flush()
    return found


def main():
    parser = training_job.flags_of(__doc__)
    training_job.add_choice(parser, training_job.JOBS, window=6)
    parser.add_argument("--others", type=int, default=0, metavar="N",
                        help="list the N most frequent functions without stage")
    training_job.measure_all(training_job.parse(parser), "profiles", profile)


if __name__ == "__main__":
    main()
