#ifndef SHOAL_LAUNCH_JOB_FLAGS_H_
#define SHOAL_LAUNCH_JOB_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "launch/command.h"
#include "launch/flags/checkpoint_flags.h"
#include "launch/flags/cluster_flags.h"
#include "launch/flags/config_flags.h"
#include "launch/flags/data_flags.h"
#include "launch/flags/deadline_flags.h"
#include "launch/flags/evaluation_flags.h"
#include "launch/flags/limit_flags.h"
#include "launch/flags/model_flags.h"
#include "launch/flags/monitoring_flags.h"
#include "launch/flags/optimizer_flags.h"
#include "launch/flags/output_flags.h"
#include "launch/flags/training_flags.h"

namespace shoal {

// Every flag of a training job with its default: the reference script's, but
// for batch_size, dropout, l2_reg and num_epochs. What each means, takes and
// allows is said once, in its group's rows (launch/flags/), and so in --help.
// The groups are those of --help.
struct JobFlags {
  explicit JobFlags(Command command);

  Command command;
  ModelFlags model;
  OptimizerFlags optimizers;
  TrainingFlags training;
  DataFlags data;
  CheckpointFlags checkpoints;
  EvaluationFlags evaluation;
  ClusterFlags cluster;
  LimitFlags limits;
  DeadlineFlags deadlines;
  OutputFlags output;
  ConfigFlags config_files;
  MonitoringFlags monitoring;

  // Checks what the limits of single flags cannot: counts the hosts into ps and
  // workers and calls the Validate() of each group that has one.
  // INVALID_ARGUMENT names the flags, their values and what to do. Call after
  // parsing.
  absl::Status Validate();

  // The flags that must agree on every process of a job, `name=value` a line,
  // sorted by name (RegisterRequest::config): those that are Canonical in
  // their rows, whether or not this command takes them.
  std::string CanonicalConfig() const;

  // The names among them of those with which a job may go on from a checkpoint
  // that has another value.
  std::vector<std::string> MayDifferOnResume() const;

  // These flags with each that leaves its value to other flags, or to the
  // command, filled in.
  JobFlags Resolved() const;

  // Whether the job writes checkpoints: it trains, and --model_dir says where.
  bool Saves() const {
    return !checkpoints.model_dir.empty() && training.Trains();
  }

  // Where workers write bad rows: unless the flag says so, into --model_dir.
  std::string QuarantineDir() const;

  // Where --task_type=infer writes: unless the flag says so, into --model_dir.
  std::string PredictionsFile() const;

  // LeaseTrainerOptions::pipeline_depth: 0 for `shoal train`, which keeps to
  // the serial order, and 1 over gRPC, unless the flag says otherwise.
  int PipelineDepth() const;

  // How rows are placed: fixed_size where tables are arrays, hash where they
  // are dynamic, unless the flag says otherwise.
  PartitionKind Partition() const;

  // What the workers train on: nothing but in --task_type=train.
  std::string TrainingData() const {
    return training.Trains() ? data.training_data_dir : "";
  }
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_JOB_FLAGS_H_
