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

// Hosts that ssh does not reach are reached by the caller's command.
TEST(PlanProcesses, ACommandOfTheCallerReachesTheHosts) {
  JobFlags flags(Command::kRun);
  FlagSet set = JobFlagSet(&flags);
  ASSERT_TRUE(set.Parse({"--hosts=10.0.0.1,10.0.0.2", "--remote_bin=/bin",
                         "--feature_size=1000", "--field_size=3",
                         "--training_data_dir=/d"})
                  .ok());
  ASSERT_TRUE(flags.Validate().ok());
  const auto plan = PlanProcessesOnHosts(
      flags, set, "secret",
      [](const RemoteHost& host, const std::vector<std::string>& command) {
        return std::vector<std::string>{"/sbin/at", host.address, command[0]};
      });
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->processes.size(), 4u);
  EXPECT_EQ(plan->processes[1].command,
            (std::vector<std::string>{"/sbin/at", "10.0.0.2",
                                      "/bin/shoal-ps"}));
  EXPECT_EQ(plan->processes[3].command,
            (std::vector<std::string>{"/sbin/at", "10.0.0.2",
                                      "/bin/shoal-worker"}));
  EXPECT_EQ(plan->input, "secret\n");
}

}  // namespace
}  // namespace shoal
