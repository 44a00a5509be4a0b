#ifndef SHOAL_LAUNCH_JOB_FLAGS_H_
#define SHOAL_LAUNCH_JOB_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "launch/command.h"
#include "launch/flags/checkpoint_flags.h"
#include "launch/flags/cluster_flags.h"
#include "launch/flags/compute_flags.h"
#include "launch/flags/config_flags.h"
#include "launch/flags/data_flags.h"
#include "launch/flags/deadline_flags.h"
#include "launch/flags/evaluation_flags.h"
#include "launch/flags/limit_flags.h"
#include "launch/flags/mode_flags.h"
#include "launch/flags/model_flags.h"
#include "launch/flags/monitoring_flags.h"
#include "launch/flags/optimizer_flags.h"
#include "launch/flags/output_flags.h"
#include "launch/flags/training_flags.h"

namespace shoal {

// Every flag of a training job with its default. The defaults are those of the
// reference script, except for batch_size, keep_prob, l2_reg and num_epochs.
// The rows of a group (launch/flags/) say what each flag means, takes and
// allows; --help prints the rows. The groups are those of --help.
struct JobFlags {
  explicit JobFlags(Command command);

  Command command;
  ModelFlags model;
  OptimizerFlags optimizers;
  TrainingFlags training;
  ModeFlags modes;
  ComputeFlags compute;
  DataFlags data;
  CheckpointFlags checkpoints;
  EvaluationFlags evaluation;
  ClusterFlags cluster;
  LimitFlags limits;
  DeadlineFlags deadlines;
  OutputFlags output;
  ConfigFlags config_files;
  MonitoringFlags monitoring;
  // The flags that were given, in the order of --help, with their values as
  // they are typed. Filled by the command that parses them.
  std::vector<std::pair<std::string, std::string>> given;

  // Checks what the limits of single flags cannot check: calls the Validate()
  // of each group that has one. Also counts the hosts into cluster.ps and
  // cluster.workers. INVALID_ARGUMENT names the flags, their values and what to
  // do. Call after parsing.
  absl::Status Validate();

  // The flags that must have one value on all processes of a job, as lines of
  // `name=value`, sorted by name (RegisterRequest::config). These are the flags
  // whose row has another Canonical than kNo, whether or not this command takes
  // them.
  std::string CanonicalConfig() const;

  // The names of the canonical flags that may have another value than in the
  // checkpoint from which the job resumes.
  std::vector<std::string> MayDifferOnResume() const;

  // A copy of these flags in which every flag that leaves its value to other
  // flags, or to the command, is filled in.
  JobFlags Resolved() const;

  // True if the job writes checkpoints: it trains, and --model_dir is given.
  bool Saves() const {
    return !checkpoints.model_dir.empty() && training.Trains();
  }

  // The task as the user has asked for it, for messages: "--task_type=eval", or
  // "shoal eval".
  std::string TaskText() const;

  // Directory for the bad rows of the workers: --quarantine_dir, otherwise
  // bad_rows in --model_dir; empty without both. A command that only scores
  // writes nothing into --model_dir.
  std::string QuarantineDir() const;

  // File that --task_type=infer writes: --predictions_file, otherwise a file in
  // --model_dir; empty without both. A command that only scores writes nothing
  // into --model_dir.
  std::string PredictionsFile() const;

  // LeaseTrainerOptions::pipeline_depth: that of the flag, otherwise that of
  // the mode. In async it is 0 in one process, as in `shoal train`, which keeps
  // to the serial order, and 1 over gRPC.
  int PipelineDepth() const;

  // True if the job has parameter servers (TrainingModeRow::servers).
  bool HasServers() const;

  // True if each worker holds a copy of variables (TrainingModeRow::copies).
  bool HasCopies() const;

  // Members of the job that hold variables: the parameter servers, and the
  // copies of workers.
  int PsMembers() const {
    return (HasServers() ? cluster.ps : 0) +
           (HasCopies() ? cluster.workers : 0);
  }

  // False for a process of a job that another process coordinates: for all but
  // PS 0 or, without servers, worker 0.
  bool Leads() const;

  // For a process of a job over the network: host:port of the process with the
  // coordinator. Entry 0 of --ps_hosts; without servers --coordinator,
  // otherwise entry 0 of --worker_hosts.
  std::string CoordinatorAddress() const;

  // The port of this process's metrics: --metrics_port, plus the rank among the
  // processes of this host if a launcher has started them with equal flags.
  int MetricsPort() const;

  // Placement of rows: that of the flag, otherwise fixed_size if tables are
  // arrays and hash if they are dynamic.
  PartitionKind Partition() const;

  // The files that the workers train on; empty unless --task_type=train.
  std::string TrainingData() const {
    return training.Trains() ? data.training_data_dir : "";
  }
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_JOB_FLAGS_H_
