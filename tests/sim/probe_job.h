#ifndef SHOAL_TESTS_SIM_PROBE_JOB_H_
#define SHOAL_TESTS_SIM_PROBE_JOB_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "checkpoint/checkpoint_directory.h"
#include "cluster/job_report.h"
#include "coordinator/coordinator_options.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "job/job_plan.h"
#include "launch/job_flags.h"
#include "models/create_model.h"
#include "tests/harness/fake_file_system.h"
#include "worker/data/piece_reader.h"
#include "worker/data/source_list.h"

namespace shoal {

// The training of simulated jobs: the linear probe, whose arithmetic is exact
// in any order, on a few rows of LibSVM.
struct ProbeJobOptions {
  int ps = 3;
  int workers = 4;
  int rows = 2000;
  int batch_size = 16;
  int epochs = 2;
  int eval_every_epochs = 1;  // on the first of the training rows
  bool dynamic_table = false;
};

inline constexpr char kProbeJob[] = "sim";
inline constexpr char kProbeModelDir[] = "m";
inline constexpr int kProbeFields = 4;

// The same of every process of the job.
struct ProbeJob {
  explicit ProbeJob(const ProbeJobOptions& options);

  ProbeJobOptions options;
  ModelOptions model;
  ModelSpec spec;  // with the canary
  ShardMap map;
  PieceReaderOptions reader;

  JobPlan Plan() const;
  CoordinatorOptions Coordinator() const;
  // The flags of the model directory, for the process with the coordinator.
  JobFlags ModelDirectoryFlags() const;
};

void AddProbeFiles(
    const ProbeJobOptions& options,
    absl::FunctionRef<void(const std::string& path, std::string bytes)> add);
// The files to train or to evaluate on.
std::vector<LocalSource> ProbeSources(const FileSystem& files,
                                      LeasePurpose purpose);

// The result of the same job in one process without faults, with the table as
// an array. Or the result of the rest of a job that begins from a checkpoint in
// `files`, with the table as it was.
JobReport RunSerialProbe(const ProbeJobOptions& options);
JobReport RunSerialProbe(const ProbeJobOptions& options, FakeFileSystem* files,
                         const CheckpointInfo* from);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_PROBE_JOB_H_
