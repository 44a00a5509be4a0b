#ifndef SHOAL_LAUNCH_JOB_FLAGS_H_
#define SHOAL_LAUNCH_JOB_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "launch/command.h"

namespace shoal {

// Every flag of a training job with its default: the reference script's, but
// for batch_size, dropout, l2_reg and num_epochs. What each means, takes and
// allows is said once, in job_flag_set.cc, and so in --help.
struct JobFlags {
  explicit JobFlags(Command command);

  Command command;

  // Model
  std::string model = "deepfm";
  uint64_t feature_size = 0;  // 0: dynamic tables
  uint64_t table_row_limit = 0;
  std::string table_full = "refuse";
  int field_size = 0;
  int embedding_size = 32;
  std::vector<int> deep_layers = {256, 128, 64};
  std::vector<double> dropout;  // chance to keep; empty: keep all
  bool batch_norm = false;
  uint64_t seed = 1;

  // Optimizers
  std::string optimizer = "adam";
  double learning_rate = 5e-4;
  std::string table_optimizer = "";  // "": as optimizer
  double table_learning_rate = 0;    // 0: as learning_rate
  std::string wide_optimizer = "";   // "": as table_optimizer
  double wide_learning_rate = 0;     // 0: as table_learning_rate
  int64_t warmup_batches = 0;
  int64_t table_warmup_batches = -1;  // -1: as warmup_batches
  double l2_reg = 0;
  double wide_l2_reg = -1;  // -1: as l2_reg
  double dense_l2_reg = 0;
  std::string l2_scope = "touched";
  double adagrad_initial_accumulator = 1e-8;
  double ftrl_initial_accumulator = 0.1;
  double ftrl_l1 = 0;
  double ftrl_l2 = 0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;
  double clip_norm = 0;  // 0: none

  // Training
  std::string task_type = "train";
  std::string mode = "async";
  int batch_size = 1024;
  int num_epochs = 1;
  int pipeline_depth = -1;  // -1: the command's own; see PipelineDepth
  int64_t warmup_steps = 0;
  bool canary = false;
  std::string backend = "auto";
  std::string first_layer = "auto";

  // Data
  std::string training_data_dir;
  std::string val_data_dir;
  std::string data_scope = "shared";
  bool shuffle = true;
  int shuffle_rows = 65536;
  int64_t piece_bytes = -1;
  int64_t max_bad_rows = 0;
  uint64_t auc_exact_rows = 20'000'000;
  std::string data_format = "auto";
  std::string quarantine_dir;
  int parse_threads = 1;

  // Checkpoints
  std::string model_dir;
  std::string resume = "auto";
  int64_t save_checkpoint_steps = 0;
  int keep_checkpoints = 5;
  absl::Duration save_timeout = absl::Seconds(120);
  absl::Duration stop_timeout = absl::Seconds(20);

  // Evaluation and inference
  int eval_every_epochs = 1;
  std::string predictions_file;  // empty: see PredictionsFile
  std::string predictions_format = "text";

  // Cluster
  int ps = 1;       // how many; of a process: the entries of ps_hosts
  int workers = 1;  // how many; of shoal-ps: the entries of worker_hosts
  std::string partition = "";  // "": see Partition
  std::string ps_hosts;
  std::string worker_hosts;
  int task_index = 0;
  std::string listen;
  std::string token_file;
  std::string job;
  int max_restarts = 3;
  std::string hosts;  // of shoal run; "": this host alone
  int ps_port = 2223;
  std::string remote_bin;  // "": where the own program lies
  std::string ssh_command =
      "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5";

  // Limits
  uint64_t max_ps_bytes = 0;
  int64_t max_message_bytes = int64_t{64} << 20;

  // Deadlines
  absl::Duration heartbeat = absl::Seconds(1);
  absl::Duration silent_after = absl::Seconds(5);
  absl::Duration worker_lease = absl::Seconds(10);
  absl::Duration ps_lease = absl::Seconds(5);
  absl::Duration pull_timeout = absl::Seconds(10);
  absl::Duration push_timeout = absl::Seconds(10);
  absl::Duration start_timeout = absl::Seconds(120);
  absl::Duration worker_grace = absl::Seconds(3);
  absl::Duration speculate_after = absl::Seconds(2);
  absl::Duration progress_timeout = absl::Minutes(10);
  absl::Duration linger = absl::Seconds(2);
  absl::Duration shutdown_timeout = absl::Seconds(5);

  // Output
  std::string summary;
  std::string progress = "text";
  std::string log_level = "info";
  bool print_config = true;
  absl::Duration progress_every = absl::Seconds(2);

  // Where flags come from
  std::string config;
  std::string write_config;

  // Monitoring
  int metrics_port = 0;  // 0: none
  std::string metrics_listen = "127.0.0.1";
  std::string tensorboard_dir;
  std::string memory_check = "on";

  // Checks what no single flag can be checked for alone, and counts the
  // hosts into ps and workers. INVALID_ARGUMENT names the flags and what to do.
  // Call after parsing.
  absl::Status Validate();

  // The flags that must agree on every process of a job, `name=value` a line,
  // sorted by name (RegisterRequest::config): those that are Canonical in
  // their rows, whether or not this command takes them.
  std::string CanonicalConfig() const;

  // The same with each flag that leaves its value to other flags, or to the
  // command, filled in.
  JobFlags Resolved() const;

  // Whether the job writes checkpoints: it trains, and --model_dir says where.
  bool Saves() const { return !model_dir.empty() && task_type == "train"; }

  // Where workers write bad rows: unless the flag says so, into --model_dir.
  std::string QuarantineDir() const;

  // Where --task_type=infer writes: unless the flag says so, into --model_dir.
  std::string PredictionsFile() const;

  // LeaseTrainerOptions::pipeline_depth: 0 for `shoal train`, which keeps to
  // the serial order, and 1 over gRPC, unless the flag says otherwise.
  int PipelineDepth() const;

  // How rows are placed: fixed_size where tables are arrays, hash where they
  // are dynamic, unless the flag says otherwise.
  std::string Partition() const;

  // What the workers train on: nothing but in --task_type=train.
  std::string TrainingData() const {
    return task_type == "train" ? training_data_dir : "";
  }

  // What tables use, where the flags leave it to the dense ones, and the wide
  // column, where they leave it to the tables.
  const std::string& TableOptimizer() const;
  double TableLearningRate() const;
  const std::string& WideOptimizer() const;
  double WideLearningRate() const;
  int64_t TableWarmupBatches() const;
  double WideL2() const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_JOB_FLAGS_H_
