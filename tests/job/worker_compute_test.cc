#include "job/worker_compute.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "job/options_from_flags.h"
#include "models/backend/reference_backend.h"
#include "models/create_model.h"
#include "models/recorded_model.h"
#include "models/timeline_sample.h"
#include "tests/harness/fake_file_system.h"
#include "tests/models/timed_model.h"

namespace shoal {
namespace {

constexpr int kBatch = 8;

class WorkerComputeTest : public testing::Test {
 protected:
  WorkerComputeTest() {
    plan_.model.model = "lr";
    plan_.model.feature_size = 8;
    plan_.model.field_size = 2;
    flags_.training.batch_size = kBatch;
  }

  std::unique_ptr<Model> NewModel() {
    auto model = std::make_unique<TimedModel>(&clock_);
    model_ = model.get();
    return model;
  }

  absl::StatusOr<std::unique_ptr<WorkerCompute>> Create(
      WorkerComputeOptions options, int worker = 0) {
    return WorkerCompute::Create(std::move(options), plan_, worker, NewModel(),
                                 &files_, &logger_);
  }

  // Trains so many whole batches.
  static void Train(Model* model, uint64_t steps) {
    SampleBatch batch(model->spec(), kBatch, 2, 5, 1);
    for (uint64_t i = 0; i < steps; ++i) batch.ForwardBackward(model);
  }

  // A profile of the plan's model.
  std::string ProfileText() const {
    ComputeProfile profile;
    profile.shape = ComputeShape::Of(*MakeModelSpec(plan_.model), 2, kBatch);
    StepTimeline step;
    step.total = absl::Microseconds(10);
    step.finals = {{{0, profile.shape.dense_floats}, absl::ZeroDuration()}};
    profile.steps = {step};
    return ComputeProfileText(profile);
  }
  absl::StatusOr<WorkerComputeOptions> Read(const std::string& text) {
    files_.AddFile("/p.json", text);
    flags_.compute.compute = ComputeSource::kReplay;
    flags_.compute.compute_profile = "/p.json";
    return WorkerComputeFromFlags(flags_, files_);
  }

  JobPlan plan_;
  JobFlags flags_{Command::kTrain};
  FakeFileSystem files_;
  FakeSleepingClock clock_;
  TimedModel* model_ = nullptr;
  Logger logger_{{"", LogLevel::kError}};
};

TEST_F(WorkerComputeTest, WithoutFlagsTheModelIsAsItIs) {
  const auto compute = Create(*WorkerComputeFromFlags(flags_, files_));
  ASSERT_TRUE(compute.ok()) << compute.status();
  EXPECT_EQ((*compute)->model(), model_) << "no decorator";
  (*compute)->Finish();
}

TEST_F(WorkerComputeTest, TheFirstWorkerRecords) {
  flags_.compute.record_compute = "/out.json";
  const auto options = WorkerComputeFromFlags(flags_, files_);
  const auto other = *Create(*options, /*worker=*/1);
  EXPECT_EQ(other->model(), model_);
  const auto compute = *Create(*options);
  Train(compute->model(), TimelineSample::kWarmUpSteps + 3);
  other->Finish();
  EXPECT_FALSE(files_.Contents("/out.json").ok());
  compute->Finish();
  const auto text = files_.Contents("/out.json");
  ASSERT_TRUE(text.ok()) << text.status();
  const auto profile = ParseComputeProfile(*text);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->steps.size(), 3u);
  EXPECT_EQ(profile->shape.model, "timed");
  EXPECT_EQ(profile->shape.batch_size, kBatch);
  EXPECT_NE(profile->program, "");
}

TEST_F(WorkerComputeTest, ATooShortRunLeavesTheFileAsItWas) {
  files_.AddFile("/out.json", "precious");
  flags_.compute.record_compute = "/out.json";
  const auto compute = *Create(*WorkerComputeFromFlags(flags_, files_));
  Train(compute->model(), TimelineSample::kWarmUpSteps);
  compute->Finish();
  EXPECT_EQ(*files_.Contents("/out.json"), "precious");
}

TEST_F(WorkerComputeTest, AProfileOfTheJobIsReplayed) {
  const auto options = Read(ProfileText());
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(CheckReplay(*options, plan_).ok());
  ASSERT_NE(options->replay, nullptr);
  EXPECT_EQ(options->replay->MeanTotal(), absl::Microseconds(10));
}

TEST_F(WorkerComputeTest, APacedModelComputes) {
  flags_.compute.compute_scale = 3;
  const auto compute = *Create(*WorkerComputeFromFlags(flags_, files_));
  EXPECT_NE(compute->model(), model_) << "it has a decorator";
  Train(compute->model(), 2);
  EXPECT_EQ(model_->trained, 2);
}

TEST_F(WorkerComputeTest, ABusyReplayTakesProcessorTimeAndThenWaits) {
  struct Case {
    ComputeSource source;
    double scale, least_busy, least_time;
  };
  const ProcessorClock processor;
  const RealClock clock;
  constexpr uint64_t kSteps = 2000;  // of 10 us each
  ReferenceBackend backend;
  for (const Case& given : {Case{ComputeSource::kBusy, 1, .02, .02},
                            Case{ComputeSource::kBusy, 4, .02, .08},
                            Case{ComputeSource::kReplay, 4, 0, .08}}) {
    flags_.compute.compute_scale = given.scale;
    auto options = Read(ProfileText());
    ASSERT_TRUE(options.ok()) << options.status();
    options->source = given.source;
    const auto compute = WorkerCompute::Create(
        *options, plan_, 0, *CreateModel(plan_.model, &backend), &files_,
        &logger_);
    ASSERT_TRUE(compute.ok()) << compute.status();
    const absl::Time busy = processor.Now(), begin = clock.Now();
    Train((*compute)->model(), kSteps);
    EXPECT_GE(absl::ToDoubleSeconds(processor.Now() - busy), given.least_busy);
    EXPECT_GE(absl::ToDoubleSeconds(clock.Now() - begin), given.least_time);
  }
}

TEST_F(WorkerComputeTest, ARefusalNamesTheFlagAndTheFile) {
  const std::string text = ProfileText();
  flags_.compute.compute = ComputeSource::kReplay;
  flags_.compute.compute_profile = "/none.json";
  const absl::Status none = WorkerComputeFromFlags(flags_, files_).status();
  EXPECT_TRUE(absl::IsNotFound(none)) << none;
  EXPECT_EQ(none.message().substr(0, 29), "--compute_profile=/none.json:")
      << none;
  EXPECT_EQ(Read(text.substr(0, 20)).status().message(),
            "--compute_profile=/p.json: not JSON: it ends too early, after "
            "byte 20");
  EXPECT_EQ(
      Read(std::string(ComputeProfile::kMostBytes + 1, ' ')).status().message(),
      "--compute_profile=/p.json: has 16777217 bytes, and a compute profile "
      "has at most 16777216; give a file that --record_compute has written");
  const auto other = Read(absl::StrReplaceAll(
      text, {{absl::StrCat("\"batch_size\": ", kBatch), "\"batch_size\": 9"}}));
  ASSERT_TRUE(other.ok()) << other.status();
  const std::string why =
      "--compute_profile=/p.json: the profile was recorded with --batch_size "
      "9, and this job has 8; give the profile of a run with this job's flags, "
      "or record one (--record_compute)";
  EXPECT_EQ(CheckReplay(*other, plan_).message(), why);
  EXPECT_EQ(Create(*other).status().message(), why);
}

}  // namespace
}  // namespace shoal
