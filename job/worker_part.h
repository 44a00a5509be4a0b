#ifndef SHOAL_JOB_WORKER_PART_H_
#define SHOAL_JOB_WORKER_PART_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "core/cluster_member.h"
#include "core/collective.h"
#include "job/data_sources.h"
#include "job/job_plan.h"
#include "job/training_mode.h"
#include "job/worker_compute.h"
#include "models/backend/backend.h"
#include "worker/data/batch_source.h"
#include "worker/data/piece_reader.h"
#include "worker/train/worker_loop.h"

namespace shoal {

struct WorkerPartOptions {
  std::string backend = "auto";
  const TrainingModeKind* mode = &DefaultKind();
  PieceReaderOptions reader;
  // Deadlines, limits, pipeline depth.
  WorkerLoopOptions loop;
  AllReduceSettings ring;
  WorkerComputeOptions compute;
  // Gives the worker's collective for its newest view, once; null in a mode
  // without one. Called on the control strand, after deps.connect.
  absl::AnyInvocable<std::unique_ptr<Collective>()> take_collective;
  // What a ring whose ranks may change needs (ExchangeSetup); null in others.
  std::function<uint64_t()> marked;
  std::function<std::string(int rank)> rank_name;
  // The files of the job's data on this host.
  DataSources sources;
  // Name of the host (RegisterRequest::host).
  std::string host;
  // True to read ahead on one thread per open lease; false: on the train
  // strand.
  bool prefetch = true;
};

// One worker of a job, in a process of its own or beside other parts: its model
// on its backend, its files and its loop. The process decides how the worker
// reaches the servers.
class WorkerPart {
 public:
  // Fills the worker's index, host, files and what the mode asks of a worker
  // into options.loop, the labels of the model's objective into options.reader,
  // and the model, open_source and make_exchange into `deps`. `files` outlives
  // the part. Errors: those of CreateBackend, CreateModel and
  // WorkerCompute::Create.
  static absl::StatusOr<std::unique_ptr<WorkerPart>> Create(
      const JobPlan& plan, int index, WorkerPartOptions options,
      WorkerLoopDependencies deps, const FileSystem* files);

  // As WorkerLoop::Start and WorkerLoop::Stop. WorkerCompute::Finish comes
  // before `done`.
  void Start(absl::AnyInvocable<void(MemberEnd) &&> done);
  void Stop(absl::Status reason,
            absl::Duration save_deadline = absl::ZeroDuration());

  // Drops the loop, which has ended. The other members live on for tasks that
  // are still queued on the strands.
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
  std::unique_ptr<WorkerCompute> compute_;
  std::unique_ptr<WorkerLoop> loop_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_WORKER_PART_H_
