#include "tests/job/step_job_run.h"

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "tests/harness/in_process_run.h"
#include "tests/harness/keyed_draw.h"
#include "tests/job/step_job.h"

namespace shoal {
namespace {

// Each call waits for a random time before it reaches the shard.
class LateService : public ParameterService {
 public:
  // Counts the pushes in `pushes`.
  LateService(std::shared_ptr<ParameterService> inner, const KeyedDraw& draw,
              absl::Duration longest, Executor* executor, uint64_t* pushes)
      : inner_(std::move(inner)),
        draw_(draw),
        longest_(longest),
        executor_(executor),
        pushes_(*pushes) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    Wait([inner = inner_, request = std::move(request), timeout,
          done = std::move(done)]() mutable {
      inner->Pull(std::move(request), timeout, std::move(done));
    });
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    ++pushes_;
    Wait([inner = inner_, request = std::move(request), timeout,
          done = std::move(done)]() mutable {
      inner->Push(std::move(request), timeout, std::move(done));
    });
  }
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    inner_->Stats(std::move(request), timeout, std::move(done));
  }

 private:
  void Wait(Task task) {
    executor_->PostAfter(draw_.Span(longest_, calls_++), std::move(task));
  }

  const std::shared_ptr<ParameterService> inner_;
  const KeyedDraw draw_;
  const absl::Duration longest_;
  Executor* const executor_;
  uint64_t& pushes_;
  uint64_t calls_ = 0;
};

TrainedJob Run(const FakeFileSystem& files, const InProcessJobOptions& options,
               uint64_t schedule) {
  InProcessRun run(schedule, options.workers, &files);
  const KeyedDraw draw(schedule);
  const uint64_t slow = draw.Word("slow") % options.workers;
  TrainedJob trained;
  run.deps.wrap_service = [&](uint64_t worker, int shard,
                              std::shared_ptr<ParameterService> service) {
    return std::make_shared<LateService>(
        std::move(service), draw.Of(worker, shard),
        absl::Milliseconds(worker == slow ? 20 : 4), run.control(),
        &trained.pushes);
  };
  trained.report = run.Run(options);
  EXPECT_TRUE(trained.report.status.ok()) << trained.report.status;
  if (!trained.report.status.ok()) return trained;
  trained.spec = run.job()->model_spec();
  const int replicas = options.mode->ring ? options.workers : 1;
  for (int rank = 0; rank < replicas; ++rank) {
    trained.weights.push_back(run.Weights(kStepJobIds, rank));
  }
  return trained;
}

}  // namespace

TrainedJob RunSync(const FakeFileSystem& files, InProcessJobOptions options,
                   int ps, uint64_t schedule) {
  SetMode(TrainingMode::kSync, &options);
  options.ps = ps;
  return Run(files, options, schedule);
}

TrainedJob RunHybrid(const FakeFileSystem& files, InProcessJobOptions options,
                     int ps, uint64_t schedule) {
  SetMode(TrainingMode::kHybrid, &options);
  options.ps = ps;
  return Run(files, options, schedule);
}

TrainedJob RunRing(const FakeFileSystem& files, InProcessJobOptions options,
                   Reduction reduction, uint64_t schedule) {
  SetMode(TrainingMode::kRing, &options);
  options.ring.reduction = reduction;
  return Run(files, options, schedule);
}

}  // namespace shoal
