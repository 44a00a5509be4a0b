#include "tests/harness/in_process_run.h"

#include <utility>

#include "gtest/gtest.h"

namespace shoal {

InProcessJobOptions SmallDeepFm(uint64_t feature_size, int field_size) {
  InProcessJobOptions options;
  options.model.model = "deepfm";
  options.model.feature_size = feature_size;
  options.model.field_size = field_size;
  options.model.embedding_size = 4;
  options.model.deep_layers = {8, 4};
  options.model.seed = 3;
  options.model.dense_optimizer.kind = OptimizerKind::kAdam;
  options.model.dense_optimizer.learning_rate = 0.01f;
  options.model.table_optimizer = options.model.dense_optimizer;
  options.backend = "reference";
  options.worker_loop.trainer.pipeline_depth = 0;
  options.prefetch = false;
  return options;
}

std::vector<LocalSource> ListOrFail(const FileSystem& files,
                                    const std::string& path) {
  auto listed = ListSources(&files, path);
  EXPECT_TRUE(listed.ok()) << listed.status();
  return listed.ok() ? *std::move(listed) : std::vector<LocalSource>{};
}

InProcessRun::InProcessRun(uint64_t schedule, int workers,
                           const FileSystem* files)
    : simulator_(schedule) {
  deps.file_system = files;
  deps.logger = &logger_;
  deps.control = &control_;
  deps.completions = &control_;
  for (int i = 0; i < workers; ++i) {
    train_.push_back(std::make_unique<SimulatedExecutor>(&simulator_));
    deps.train.push_back(train_.back().get());
  }
}

const JobReport& InProcessRun::Run(
    InProcessJobOptions options,
    const std::function<void(InProcessJob*)>& watch) {
  auto job = InProcessJob::Create(std::move(options), std::move(deps));
  EXPECT_TRUE(job.ok()) << job.status();
  if (!job.ok()) {
    report_.status = job.status();
    return report_;
  }
  job_ = *std::move(job);
  bool finished = false;
  job_->Start([&](JobReport report) {
    report_ = std::move(report);
    finished = true;
  });
  simulator_.RunUntil(
      [&] {
        if (watch != nullptr) watch(job_.get());
        return finished;
      },
      simulator_.Now() + absl::Hours(1));
  EXPECT_TRUE(finished) << "hangs";
  return report_;
}

}  // namespace shoal
