#include "launch/job_flag_set.h"

#include <utility>

#include "absl/strings/str_join.h"

namespace shoal {
namespace {

std::string About(Command command) {
  switch (command) {
    case Command::kTrain:
      return "Trains a model in this one process, without a network. With "
             "--workers=1, the default, runs are reproducible bit for bit.";
    case Command::kRun:
      return "Trains a model with parameter servers and workers, each a "
             "process of its own on this host, and sees the job through to "
             "its end.";
    case Command::kPs:
      return "A parameter server: holds one shard of all variables. Start one "
             "on every host, with the same flags everywhere but --task_index; "
             "any order will do. Task 0 also coordinates the job.";
    case Command::kWorker:
      return "A worker: reads its share of the data, pulls the rows that it "
             "needs, computes gradients and pushes them. Start one on every "
             "host, before or after the parameter servers.";
  }
  return "";
}

void DefineModel(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kYes,
            {"model", &f->model,
             "What to train: deepfm, fm (factorisation machine), lr "
             "(logistic regression) or linear_probe (for tests).",
             Choices{{"deepfm", "fm", "lr", "linear_probe"}, {"wide_deep"}}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"feature_size", &f->feature_size,
             "Feature ids lie in [0, feature_size); 0: they are any 64-bit "
             "numbers, and tables grow with the rows in use.",
             IntRange{0, int64_t{1} << 48}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"table_row_limit", &f->table_row_limit,
             "Rows of a table that a parameter server may hold, without "
             "--feature_size; 0: no limit.",
             IntRange{0}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"table_full", &f->table_full,
             "What happens to new ids at --table_row_limit: refuse ends "
             "the job, share lets them use one row together.",
             Choices{{"refuse", "share"}, {}}});
  rows->Add(
      kAllCommands, Canonical::kYes,
      {"field_size", &f->field_size,
       "Features of a row, at most; shorter rows are padded.",
       IntRange{1, 1 << 16}, "the model's input is that many fields wide"});
  rows->Add(kAllCommands, Canonical::kYes,
            {"embedding_size", &f->embedding_size,
             "Floats of an embedding (K).", IntRange{1, 4096}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"deep_layers", &f->deep_layers,
             "Units of each hidden layer of the MLP.", IntRange{1, 1 << 16}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"dropout", &f->dropout,
             "Chance to KEEP a unit, one a hidden layer, as in "
             "0.5,0.5,0.5; left out: keep all.",
             RealRange{0, 1, /*above_min=*/true}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"batch_norm", &f->batch_norm,
             "Batch norm after each hidden layer; not there yet."});
  rows->Add(
      kAllCommands, Canonical::kYes,
      {"seed", &f->seed, "Of initial values, order of data and dropout."});
}

void DefineOptimizers(JobFlags* f, JobFlagRows* rows) {
  const Choices optimizers = {
      {"sgd", "adagrad", "rowwise_adagrad", "adam", "ftrl"}, {"momentum"}};
  const RealRange positive = {0, 1e6, /*above_min=*/true};
  rows->Add(kAllCommands, Canonical::kYes,
            {"optimizer", &f->optimizer,
             "How weights are updated. Adam moves only the rows that a "
             "batch touches; rowwise_adagrad is for tables alone.",
             optimizers});
  rows->Add(kAllCommands, Canonical::kYes,
            {"learning_rate", &f->learning_rate, "Step size.",
             RealRange{0, 1e6, /*above_min=*/true}});
  rows->Add(
      kAllCommands, Canonical::kYes,
      {"table_optimizer", &f->table_optimizer,
       "Of embedding tables, where it differs from --optimizer.", optimizers});
  rows->Add(kAllCommands, Canonical::kYes,
            {"table_learning_rate", &f->table_learning_rate,
             "Of embedding tables; 0: as --learning_rate.", RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"wide_optimizer", &f->wide_optimizer,
             "Of the tables' one weight an id (w of deepfm and lr), where "
             "it differs from --table_optimizer.",
             optimizers});
  rows->Add(kAllCommands, Canonical::kYes,
            {"wide_learning_rate", &f->wide_learning_rate,
             "Of the same; 0: as --table_learning_rate.", RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"warmup_batches", &f->warmup_batches,
             "Every rate rises from 0 to its full value over so many "
             "batches: rate * min(1, t / N) at the t-th.",
             IntRange{0}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"table_warmup_batches", &f->table_warmup_batches,
             "Of embedding tables; -1: as --warmup_batches.", IntRange{-1}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"l2_reg", &f->l2_reg,
             "L2 on table rows, added once a push for the rows of "
             "--l2_scope.",
             RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"wide_l2_reg", &f->wide_l2_reg,
             "Of the tables' one weight an id; -1: as --l2_reg.",
             RealRange{-1, 1e6}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"dense_l2_reg", &f->dense_l2_reg,
             "L2 on dense variables, biases among them, added once a push.",
             RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"l2_scope", &f->l2_scope,
             "Rows that --l2_reg moves at every push: touched is those of "
             "the batch; table is every row in existence, in shoal train "
             "with one worker.",
             Choices{{"touched", "table"}, {}}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"adagrad_initial_accumulator", &f->adagrad_initial_accumulator,
             "What adagrad and rowwise_adagrad start summing from.", positive});
  rows->Add(kAllCommands, Canonical::kYes,
            {"ftrl_initial_accumulator", &f->ftrl_initial_accumulator,
             "What ftrl starts summing squares from.", positive});
  rows->Add(kAllCommands, Canonical::kYes,
            {"ftrl_l1", &f->ftrl_l1, "L1 of ftrl: weights that it holds are 0.",
             RealRange{0, 1e6}});
  rows->Add(
      kAllCommands, Canonical::kYes,
      {"ftrl_l2", &f->ftrl_l2, "L2 of ftrl's own objective, beside --l2_reg.",
       RealRange{0, 1e6}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"adam_beta1", &f->adam_beta1, "Decay of adam's mean of gradients.",
             RealRange{0, 1}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"adam_beta2", &f->adam_beta2, "Decay of adam's mean of squares.",
             RealRange{0, 1}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"adam_epsilon", &f->adam_epsilon,
             "Added to the root that adam divides by.", positive});
  rows->Add(kAllCommands, Canonical::kYes,
            {"clip_norm", &f->clip_norm,
             "Largest L2 norm of a batch's whole gradient, which is scaled "
             "down to it before it is pushed; 0: no limit.",
             RealRange{0, 1e30}});
}

void DefineTraining(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kYes,
            {"task_type", &f->task_type,
             "What to do: train; eval scores --val_data_dir; infer writes "
             "predictions for it.",
             Choices{{"train", "eval", "infer"}, {"export"}}});
  rows->Add(
      kAllCommands, Canonical::kYes,
      {"mode", &f->mode, "When gradients are applied: async is on arrival.",
       Choices{{"async"}, {"ssp", "sync", "ring", "hybrid"}}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"batch_size", &f->batch_size, "Examples of a batch.",
             IntRange{1, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"num_epochs", &f->num_epochs, "Passes over the data.",
             IntRange{1, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"pipeline_depth", &f->pipeline_depth,
             "0 pulls the next batch after the push of this one, 1 beside "
             "it, 2 before this one is computed; -1: 0 in one process, 1 "
             "over gRPC.",
             IntRange{-1, 2}});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"warmup_steps", &f->warmup_steps,
       "Steps of the job before its steady speed is measured.", IntRange{0}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"canary", &f->canary,
             "Check that every push counts once: each also adds 1 to a row "
             "of its own on every shard, and at the end all must be 1."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"backend", &f->backend,
             "Arithmetic of the model: reference is plain loops; auto "
             "takes the fastest there is.",
             Choices{{"auto", "reference", "onednn"}, {"cuda"}}});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"first_layer", &f->first_layer,
       "How deepfm computes its first deep layer, the results equal but for "
       "rounding: dense multiplies each occurrence of an embedding, "
       "distinct each different one of a batch; auto takes what it "
       "estimates to cost less.",
       Choices{{"auto", "dense", "distinct"}, {}}});
}

void DefineData(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kNo,
            {"training_data_dir", &f->training_data_dir,
             "Files to train on: a file, directory or glob, or several "
             "with commas between. No two may have one base name. Needed "
             "to train."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"val_data_dir", &f->val_data_dir,
             "Files to evaluate on, or to predict for, in the same "
             "manner."});
  rows->Add(kProcesses, Canonical::kYes,
            {"data_scope", &f->data_scope,
             "shared: every worker can read all files, and lists the "
             "same; host: each lists and reads files of its own.",
             Choices{{"shared", "host"}, {}}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"shuffle", &f->shuffle,
             "Train in an order that depends on the seed and the epoch; "
             "false: as listed."});
  rows->Add(kAllCommands, Canonical::kYes,
            {"shuffle_rows", &f->shuffle_rows,
             "Rows shuffled together; a worker holds so many in memory.",
             IntRange{1, 1 << 26}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"piece_bytes", &f->piece_bytes,
             "Bytes of a piece of the data, the unit of leasing. -1: a "
             "32nd of the data, in [64 KiB, 64 MiB]; 0: a file.",
             ByteRange{-1, int64_t{1} << 40}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"max_bad_rows", &f->max_bad_rows,
             "Rows that cannot be parsed before the job fails; -1: no "
             "limit.",
             IntRange{-1}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"auc_exact_rows", &f->auc_exact_rows,
             "Rows of an evaluation whose scores are kept for the exact "
             "AUC, up to 13 bytes each; with more rows it comes from a "
             "histogram, with a bound on its error.",
             IntRange{1}});
  rows->Add(kAllCommands, Canonical::kYes,
            {"data_format", &f->data_format,
             "What the files hold, plain or as gzip or zstd. auto: what "
             "each begins with.",
             Choices{{"auto", "libsvm", "tfrecord", "criteo"}, {}}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"quarantine_dir", &f->quarantine_dir,
             "Directory into which each worker writes the bad rows that it "
             "meets: file, row and reason. Left out: bad_rows in "
             "--model_dir; without that they are counted, and the first is "
             "named."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"parse_threads", &f->parse_threads,
             "Threads of a worker that parse rows ahead. 1: the one that "
             "reads. The order of rows is the same with any number.",
             IntRange{1, 64}});
}

void DefineCheckpoints(JobFlags* f, JobFlagRows* rows) {
  const DurationRange some = {absl::Milliseconds(1), absl::Hours(24)};
  rows->Add(kAllCommands, Canonical::kNo,
            {"model_dir", &f->model_dir,
             "Directory of the job's checkpoints: of this job alone, and "
             "the same for all processes, or one on each host's own disk. "
             "Left out: none are written."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"resume", &f->resume,
             "Begin from the newest checkpoint in --model_dir: auto if "
             "there is one, must or fail, never.",
             Choices{{"auto", "never", "must"}, {}}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"save_checkpoint_steps", &f->save_checkpoint_steps,
             "Save whenever so many more batches are trained; 0: at the "
             "end, on SIGTERM and on request alone.",
             IntRange{0}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"keep_checkpoints", &f->keep_checkpoints,
             "How many to keep, the newest; 0: all.", IntRange{0, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"save_timeout", &f->save_timeout,
             "How long training may stand still for a checkpoint; then it "
             "is void and training goes on. The disks have as long again "
             "to sync it, while training goes on: a last checkpoint that "
             "is late then fails the job.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"stop_timeout", &f->stop_timeout,
             "How long SIGTERM leaves for the last checkpoint.", some});
}

void DefineEvaluation(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kNo,
            {"eval_every_epochs", &f->eval_every_epochs,
             "With --val_data_dir: evaluate after every so many epochs, "
             "and at the end; 0: only at the end.",
             IntRange{0, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"predictions_file", &f->predictions_file,
             "Of --task_type=infer: where the probabilities are written, "
             "in the order of the input, a row each; nan for a row that "
             "cannot be parsed. Left out: predictions.txt (.f32) in "
             "--model_dir."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"predictions_format", &f->predictions_format,
             "text: a line each, of 9 digits; binary: little-endian "
             "float32.",
             Choices{{"text", "binary"}, {}}});
}

void DefineCluster(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kRunAlone, Canonical::kYes,
            {"ps", &f->ps, "Parameter servers to start.", IntRange{1, 1024}});
  rows->Add(kWholeJobs, Canonical::kNo,
            {"workers", &f->workers,
             f->command == Command::kTrain
                 ? "Worker loops, a thread each, on one shard."
                 : "Workers to start.",
             IntRange{1, 1024}});
  rows->Add(kProcesses, Canonical::kNo,
            {"ps_hosts",
             &f->ps_hosts,
             "host:port of every parameter server, in order, commas "
             "between.",
             {},
             "it says where the parameter servers are"});
  rows->Add(
      kProcesses, Canonical::kNo,
      {"worker_hosts",
       &f->worker_hosts,
       "Hosts of the workers, in order: how many to expect.",
       {},
       f->command == Command::kPs ? "it says how many workers to expect" : ""});
  rows->Add(
      kProcesses, Canonical::kNo,
      {"task_index", &f->task_index, "Which of them this process is, from 0.",
       IntRange{0, 65534}, "it says which entry of the hosts this process is"});
  rows->Add(kPsAlone, Canonical::kNo,
            {"listen", &f->listen,
             "host:port to listen on, where it is not the own entry of "
             "--ps_hosts."});
  rows->Add(kProcesses, Canonical::kNo,
            {"token_file", &f->token_file,
             "File of mode 0600 that holds the job's secret; needed "
             "unless all is on the loopback address. -: the first line "
             "of stdin, at whose end the process then stops."});
  rows->Add(kProcesses, Canonical::kNo,
            {"job", &f->job,
             "Label of the job, of the same text on every process; may "
             "be left out. A number that PS 0 draws tells jobs apart."});
  rows->Add(kAllCommands, Canonical::kYes,
            {"partition", &f->partition,
             "How table rows are spread over the parameter servers: "
             "fixed_size is ranges, mod is id mod n, hash is for tables "
             "without --feature_size. Left out: what fits.",
             Choices{{"fixed_size", "mod", "hash"}, {"min_max"}}});
  rows->Add(kRunAlone, Canonical::kNo,
            {"max_restarts", &f->max_restarts,
             "How often to start a worker again that a signal killed.",
             IntRange{0, 1 << 20}});
  rows->Add(kRunAlone, Canonical::kNo,
            {"hosts", &f->hosts,
             "Start one parameter server and one worker on each of these "
             "hosts by ssh, commas between, in place of --ps and --workers "
             "here (docs/operations.md)."});
  rows->Add(kRunAlone, Canonical::kNo,
            {"ps_port", &f->ps_port,
             "Port of the parameter servers on --hosts.", IntRange{1, 65535}});
  rows->Add(kRunAlone, Canonical::kNo,
            {"remote_bin", &f->remote_bin,
             "Where the programs lie on --hosts; left out: where this one "
             "lies here."});
  rows->Add(kRunAlone, Canonical::kNo,
            {"ssh_command", &f->ssh_command,
             "How --hosts are reached: a program and its options, which may "
             "ask no questions."});
}

void DefineLimits(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kNo,
            {"max_ps_bytes", &f->max_ps_bytes,
             "Rows, slots and dense blocks that a parameter server may "
             "hold; 0: no limit. Calls that are under way come on top "
             "(docs/operations.md: some 4 GiB at most).",
             ByteRange{}});
  rows->Add(kOverNetwork, Canonical::kYes,
            {"max_message_bytes", &f->max_message_bytes,
             "Largest message sent or taken.",
             ByteRange{1 << 20, int64_t{2047} << 20}});
}

void DefineDeadlines(JobFlags* f, JobFlagRows* rows) {
  const DurationRange some = {absl::Milliseconds(1), absl::Hours(24)};
  rows->Add(kAllCommands, Canonical::kNo,
            {"heartbeat", &f->heartbeat,
             "How often a process tells the coordinator that it lives.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"silent_after", &f->silent_after,
             "A process silent for so long is taken for dead.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"worker_lease", &f->worker_lease,
             "How long a worker keeps a piece without a heartbeat.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"ps_lease", &f->ps_lease,
             "How long a parameter server serves after its last "
             "answered heartbeat.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"pull_timeout", &f->pull_timeout,
             "How long a pull is tried, repeats included, before the worker "
             "starts it anew.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"push_timeout", &f->push_timeout,
             "How long a push is tried, repeats included, before the worker "
             "starts it anew; it counts once.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"start_timeout", &f->start_timeout,
             "How long to wait at the start for the other processes.", some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"worker_grace", &f->worker_grace,
             "How long the first worker waits for the others once all "
             "parameter servers are there.",
             DurationRange{absl::ZeroDuration(), absl::Hours(24)}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"speculate_after", &f->speculate_after,
             "At the end, a piece without progress for so long is given "
             "to an idle worker too.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"progress_timeout", &f->progress_timeout,
             "Workers alive but nothing read, trained or scored for so "
             "long: the job ends and names who holds what.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"linger", &f->linger,
             "After the job's end, how long to wait until every process "
             "has heard of it.",
             some});
  rows->Add(kAllCommands, Canonical::kNo,
            {"shutdown_timeout", &f->shutdown_timeout,
             "How long an orderly stop may take before it is forced.", some});
}

void DefineOutput(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kNo,
            {"summary", &f->summary,
             "Write the run as one JSON object to this file "
             "(docs/summary.md)."});
  rows->Add(kPsAlone, Canonical::kNo,
            {"progress", &f->progress,
             "How task 0 tells of the job on stdout: text for people, json "
             "(docs/commands.md) for programs.",
             Choices{{"text", "json", "none"}, {}}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"log_level", &f->log_level, "How much to log.",
             Choices{{"debug", "info", "warn", "error"}, {}}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"print_config", &f->print_config,
             "Print all flags in force at the start."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"progress_every", &f->progress_every,
             "How often to print a line of progress where the output is "
             "no terminal.",
             DurationRange{absl::Milliseconds(50), absl::Hours(24)}});
}

void DefineConfig(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kNo,
            {"config", &f->config,
             "A file of flags in protobuf's text format (proto/config.proto, "
             "docs/operations.md); flags given here win."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"write_config", &f->write_config,
             "Write all flags in force to this file, for --config."});
}

void DefineMonitoring(JobFlags* f, JobFlagRows* rows) {
  rows->Add(kAllCommands, Canonical::kNo,
            {"metrics_port", &f->metrics_port,
             f->command == Command::kRun
                 ? "Serve metrics as Prometheus text (docs/metrics.md): "
                   "ps k on this port + k, worker i on this port + --ps + "
                   "i, with --hosts ps on this port and worker on the next; "
                   "0: not."
                 : "Serve metrics as Prometheus text on this port "
                   "(docs/metrics.md); 0: not.",
             IntRange{0, 65535}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"metrics_listen", &f->metrics_listen,
             "Address that metrics are served on; anyone who reaches it can "
             "read them."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"tensorboard_dir", &f->tensorboard_dir,
             "Write TensorBoard event files of the job here, where its "
             "coordinator runs; left out: to events in --model_dir, if "
             "that is given."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"memory_check", &f->memory_check,
             "on refuses to start what will not fit into this host's "
             "memory; off only says so.",
             Choices{{"on", "off"}, {}}});
}

// "shoal-ps, shoal-worker": the commands of a set.
std::string Names(unsigned commands) {
  std::vector<std::string> names;
  for (const Command command :
       {Command::kTrain, Command::kRun, Command::kPs, Command::kWorker}) {
    if ((commands & static_cast<unsigned>(command)) != 0) {
      names.push_back(CommandName(command));
    }
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

JobFlagRows AllJobFlagRows(JobFlags* flags) {
  JobFlagRows rows(flags->command);
  rows.Group("Model");
  DefineModel(flags, &rows);
  rows.Group("Optimizers");
  DefineOptimizers(flags, &rows);
  rows.Group("Training");
  DefineTraining(flags, &rows);
  rows.Group("Data");
  DefineData(flags, &rows);
  rows.Group("Checkpoints");
  DefineCheckpoints(flags, &rows);
  rows.Group("Evaluation");
  DefineEvaluation(flags, &rows);
  rows.Group("Cluster");
  DefineCluster(flags, &rows);
  rows.Group("Limits");
  DefineLimits(flags, &rows);
  rows.Group("Deadlines");
  DefineDeadlines(flags, &rows);
  rows.Group("Output");
  DefineOutput(flags, &rows);
  rows.Group("Config");
  DefineConfig(flags, &rows);
  rows.Group("Monitoring");
  DefineMonitoring(flags, &rows);
  return rows;
}

FlagSet JobFlagSet(JobFlags* flags) {
  FlagSet set(CommandName(flags->command), About(flags->command));
  const JobFlagRows rows = AllJobFlagRows(flags);
  for (const JobFlagRow& row : rows.rows()) {
    if ((row.takers & static_cast<unsigned>(flags->command)) != 0) {
      set.Group(row.group);
      set.Add(row.flag);
    } else {
      set.AddForeign(row.flag.name, Names(row.takers));
    }
  }
  return set;
}

}  // namespace shoal
