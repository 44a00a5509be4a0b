// A whole job whose workers keep within a bound of the slowest (--mode=ssp).

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/stable_hash.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/in_process_run.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 200;
constexpr int kFields = 5;
constexpr int kBatchSize = 32;
constexpr uint64_t kSteps = 20;  // of each of the two workers

std::string Rows(uint64_t seed) {
  std::string rows;
  for (uint64_t i = 0; i < kSteps * kBatchSize; ++i) {
    absl::StrAppend(&rows, StableHashCombine(seed, i) % 2);
    for (int f = 0; f < kFields; ++f) {
      absl::StrAppend(&rows, " ", StableHashCombine(f, i) % kFeatures, ":1");
    }
    rows += "\n";
  }
  return rows;
}

// What the services of both workers saw.
struct Record {
  std::vector<uint64_t> begun = {0, 0};     // steps, by worker
  std::vector<uint64_t> finished = {0, 0};  // steps, by worker
  // The most steps that worker 0 was ahead of worker 1 when it read the
  // parameters of a step.
  uint64_t most_ahead = 0;
};

// Keeps the record. A push takes its time on the way.
class SlowService : public ParameterService {
 public:
  SlowService(std::shared_ptr<ParameterService> inner, int worker,
              absl::Duration push_time, Executor* executor, Record* record)
      : inner_(std::move(inner)),
        worker_(worker),
        push_time_(push_time),
        executor_(executor),
        record_(record) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    const uint64_t step = record_->begun[worker_]++;
    if (worker_ == 0 && step > record_->finished[1]) {
      record_->most_ahead =
          std::max(record_->most_ahead, step - record_->finished[1]);
    }
    inner_->Pull(std::move(request), timeout, std::move(done));
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    executor_->PostAfter(
        push_time_, [this, request = std::move(request), timeout,
                     done = std::move(done)]() mutable {
          inner_->Push(std::move(request), timeout,
                       [this, done = std::move(done)](
                           absl::StatusOr<PushReply> reply) mutable {
                         ++record_->finished[worker_];
                         std::move(done)(std::move(reply));
                       });
        });
  }
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    inner_->Stats(std::move(request), timeout, std::move(done));
  }

 private:
  const std::shared_ptr<ParameterService> inner_;
  const int worker_;
  const absl::Duration push_time_;
  Executor* const executor_;
  Record* const record_;
};

// The record of a job in which worker 1 is fifty times slower than worker 0,
// and each trains one piece.
Record Train(std::optional<uint32_t> bound, int depth) {
  Record record;
  FakeFileSystem files;
  files.AddFile("d/a.libsvm", Rows(1));
  files.AddFile("d/b.libsvm", Rows(2));
  InProcessRun run(/*schedule=*/1, /*workers=*/2, &files);
  InProcessJobOptions options = SmallDeepFm(kFeatures, kFields);
  options.workers = 2;
  options.coordinator.batch_size = kBatchSize;
  options.coordinator.piece_bytes = 0;
  if (bound.has_value()) {
    options.coordinator.ssp = SspClocksOptions{
        .bound = *bound, .depth = static_cast<uint32_t>(depth)};
  }
  options.worker_loop.trainer.pipeline_depth = depth;
  options.train = ListOrFail(files, "d");
  run.deps.wrap_service = [&](int worker, int,
                              std::shared_ptr<ParameterService> service) {
    return std::make_shared<SlowService>(
        std::move(service), worker,
        worker == 0 ? absl::Milliseconds(1) : absl::Milliseconds(50),
        run.control(), &record);
  };
  const JobReport& report = run.Run(std::move(options));
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(report.trained, 2 * kSteps * kBatchSize);
  EXPECT_EQ(record.finished[0], kSteps) << "each trains its own piece";
  return record;
}

TEST(PacedJobTest, NoWorkerIsFurtherAheadThanTheBoundAndTheDepth) {
  for (const int depth : {0, 1, 2}) {
    for (const uint32_t bound : {0, 1, 4}) {
      EXPECT_EQ(Train(bound, depth).most_ahead, bound + depth)
          << "bound " << bound << ", depth " << depth;
    }
  }
}

TEST(PacedJobTest, WithoutABoundAFastWorkerWaitsForNoOther) {
  EXPECT_GT(Train(std::nullopt, 0).most_ahead, 15u);
}

}  // namespace
}  // namespace shoal
