#include "job/step_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "job/memory_forecast.h"
#include "job/options_from_flags.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

struct Job {
  explicit Job(std::vector<std::string> args) {
    args.insert(args.end(), {"--feature_size=1000000", "--field_size=39",
                             "--training_data_dir=/d"});
    FlagSet set = JobFlagSet(&flags);
    EXPECT_TRUE(set.Parse(args).ok());
    EXPECT_TRUE(flags.Validate().ok());
    plan = *PlanJob(flags);
    options = RpcServerOptionsFromFlags(flags);
    SetRoomForSteps(flags, plan, &options);
  }

  JobFlags flags{Command::kRun};
  JobPlan plan;
  RpcServerOptions options;
};

// A push has three calls at once, and a parked one may have come again.
TEST(StepRoomTest, EveryRankHasRoomForItsCallsAndForAParkedPush) {
  for (const int workers : {1, 8, 10, 33, 1024}) {
    const Job job({absl::StrCat("--workers=", workers), "--ps=2",
                   "--pipeline_depth=0"});
    EXPECT_GE(job.options.max_calls, 4 * workers + 2) << workers;
    EXPECT_GE(job.options.max_streams, 4);
    EXPECT_TRUE(job.options.Validate().ok());
  }
}

TEST(StepRoomTest, TheBytesOfAllParkedPushesFit) {
  const Job job({"--workers=300", "--batch_size=8192", "--embedding_size=32"});
  const uint64_t push = StepMessageBytes(job.flags, job.plan);
  ASSERT_GT(300 * push, RpcServerOptions().max_request_bytes)
      << "the test's pushes are too small to need room";
  EXPECT_GE(job.options.max_request_bytes,
            300 * push + 2 * job.options.max_message_bytes);
  EXPECT_GE(job.options.max_staged_bytes, 300 * push);
  EXPECT_TRUE(job.options.Validate().ok());
}

TEST(StepRoomTest, ASmallJobNeedsNoMoreRoomThanAnother) {
  const Job job({"--workers=2", "--pipeline_depth=0"});
  const RpcServerOptions other = RpcServerOptionsFromFlags(job.flags);
  EXPECT_EQ(job.options.max_calls, other.max_calls);
  EXPECT_EQ(job.options.max_request_bytes, other.max_request_bytes);
  EXPECT_EQ(job.options.max_staged_bytes, other.max_staged_bytes);
}

TEST(StepRoomTest, MoreRanksThanAStepHasBatchesAreRefused) {
  JobFlags flags(Command::kRun);
  flags.cluster.workers = 4096;
  EXPECT_TRUE(CheckRanks(flags).ok());
  flags.cluster.workers = 4097;
  const absl::Status refused = CheckRanks(flags);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--workers"));
}

}  // namespace
}  // namespace shoal
