#include "launch/environment/cluster_environment.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::StartsWith;

// What is among the variables of a process, but for those of launchers.
const Environment& Plain() {
  static const Environment plain = {{"HOME", "/h"}, {"TF_CONFIG_DIR", "x"}};
  return plain;
}

Environment With(const char* name, const char* value) {
  Environment environment = Plain();
  environment[name] = value;
  return environment;
}

TEST(ClusterEnvironmentTest, SaysNothingWhereNoLauncherHasSetAnything) {
  for (const Environment& environment :
       {Environment(), Plain(), With("TF_CONFIG", "")}) {
    const auto settings = ClusterFromEnvironment(environment, Command::kPs);
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_TRUE(settings->empty());
  }
}

TEST(ClusterEnvironmentTest, FindsTensorFlowsVariableAmongTheOthers) {
  const auto settings = ClusterFromEnvironment(
      With("TF_CONFIG",
           R"({"cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]},
               "task": {"type": "worker", "index": 1}})"),
      Command::kWorker);
  ASSERT_TRUE(settings.ok()) << settings.status();
  ASSERT_EQ(settings->size(), 3u);
  EXPECT_EQ(settings->front().name, "ps_hosts");
  EXPECT_EQ(settings->front().value, "a:1");
  EXPECT_EQ(settings->back().name, "task_index");
  EXPECT_EQ(settings->back().value, "1");
}

TEST(ClusterEnvironmentTest, AnErrorOfALauncherIsHandedOn) {
  const auto settings =
      ClusterFromEnvironment(With("TF_CONFIG", "garbage"), Command::kPs);
  EXPECT_TRUE(absl::IsInvalidArgument(settings.status())) << settings.status();
  EXPECT_THAT(std::string(settings.status().message()),
              StartsWith("TF_CONFIG"));
}

TEST(ClusterEnvironmentTest, IsNotAskedByThoseWhoStartWholeJobs) {
  for (const Command command : {Command::kTrain, Command::kRun}) {
    const auto settings =
        ClusterFromEnvironment(With("TF_CONFIG", "garbage"), command);
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_TRUE(settings->empty());
  }
}

}  // namespace
}  // namespace shoal
