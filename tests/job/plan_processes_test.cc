#include "job/plan_processes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

// A worker whose work no other worker takes over would only come back to a job
// that ends.
TEST(PlanProcesses, OnlyAWorkerThatOthersCanDoWithoutIsStartedAgain) {
  for (const std::string mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    SCOPED_TRACE(mode);
    JobFlags flags(Command::kRun);
    FlagSet set = JobFlagSet(&flags);
    ASSERT_TRUE(set.Parse({absl::StrCat("--mode=", mode), "--hosts=h1,h2",
                           "--remote_bin=/bin", "--feature_size=1000",
                           "--field_size=3", "--training_data_dir=/d"})
                    .ok());
    ASSERT_TRUE(flags.Validate().ok());
    const auto plan = PlanRemoteProcesses(flags, set, "");
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->processes.size(), mode == "ring" ? 2u : 4u);
    for (const LaunchedProcess& process : plan->processes) {
      const bool copies = mode == "ring" || mode == "hybrid";
      const bool worker = process.role == Role::kWorker;
      EXPECT_EQ(process.may_restart, worker && !copies);
      // Worker 0 of a ring has the coordinator.
      const bool leads = mode == "ring" && process.index == 0;
      EXPECT_EQ(process.may_leave, worker && copies && !leads);
    }
  }
}

}  // namespace
}  // namespace shoal
