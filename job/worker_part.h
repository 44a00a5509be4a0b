#ifndef SHOAL_JOB_WORKER_PART_H_
#define SHOAL_JOB_WORKER_PART_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/cluster_member.h"
#include "job/data_sources.h"
#include "job/job_plan.h"
#include "models/backend/backend.h"
#include "models/model.h"
#include "worker/data/batch_source.h"
#include "worker/data/piece_reader.h"
#include "worker/train/worker_loop.h"

namespace shoal {

struct WorkerPartOptions {
  std::string backend = "auto";
  PieceReaderOptions reader;
  // Deadlines, limits, pipeline depth.
  WorkerLoopOptions loop;
  // What this host has of the job's data.
  DataSources sources;
  // Read ahead on a thread for each open lease; otherwise on the train strand.
  bool prefetch = true;
};

// One worker of a job, wherever it runs: its model on its backend, its files
// and its loop. How it reaches the servers is its process's business.
class WorkerPart {
 public:
  // Who the worker is and what it has is filled into options.loop, and of
  // `deps` the model, open_source and make_exchange. `files` outlives the part.
  // Errors: those of CreateBackend and CreateModel.
  static absl::StatusOr<std::unique_ptr<WorkerPart>> Create(
      const JobPlan& plan, int index, WorkerPartOptions options,
      WorkerLoopDependencies deps, const FileSystem* files);

  // As WorkerLoop's.
  void Start(absl::AnyInvocable<void(MemberEnd) &&> done);
  void Stop();

  // Drops the loop, which has ended. The rest lives on for what is still queued
  // on the strands.
  void DropLoop() { loop_ = nullptr; }

  const Backend& backend() const { return *backend_; }

 private:
  WorkerPart(WorkerPartOptions options, const FileSystem* files,
             Executor* train)
      : files_(files),
        train_(train),
        reader_(std::move(options.reader)),
        sources_(std::move(options.sources)),
        prefetch_(options.prefetch) {}

  absl::StatusOr<std::unique_ptr<BatchSource>> OpenSource(
      const Lease& lease) const;

  const FileSystem* const files_;
  Executor* const train_;
  const PieceReaderOptions reader_;
  const DataSources sources_;
  const bool prefetch_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<WorkerLoop> loop_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_WORKER_PART_H_
