#include "launch/environment/tf_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<std::vector<FlagSetting>> ReadJson(const std::string& json,
                                                  Command command) {
  return TfConfigCluster({{"TF_CONFIG", json}}, command);
}

std::string Config(const std::string& cluster, const std::string& task) {
  return "{\"cluster\": " + cluster + ", \"task\": " + task + "}";
}

constexpr char kCluster[] =
    R"({"ps": ["a:2223", "b:2223"], "worker": ["a:2222", "b:2222"]})";

std::string Value(const std::vector<FlagSetting>& settings,
                  const std::string& name) {
  for (const FlagSetting& setting : settings) {
    if (setting.name == name) return setting.value;
  }
  return "none";
}

TEST(TfConfigTest, SaysWhoIsWhereAndWhoThisIs) {
  const auto ps =
      ReadJson(Config(kCluster, R"({"type": "ps", "index": 1})"), Command::kPs);
  ASSERT_TRUE(ps.ok()) << ps.status();
  EXPECT_EQ(Value(*ps, "ps_hosts"), "a:2223,b:2223");
  EXPECT_EQ(Value(*ps, "worker_hosts"), "a:2222,b:2222");
  EXPECT_EQ(Value(*ps, "task_index"), "1");
  const auto worker = ReadJson(
      Config(kCluster, R"({"type": "worker", "index": 0, "trial": "x"})"),
      Command::kWorker);
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_EQ(Value(*worker, "task_index"), "0");
}

TEST(TfConfigTest, TheChiefIsWorkerZero) {
  for (const std::string chief : {"chief", "master"}) {
    const std::string cluster = "{\"ps\": [\"a:1\"], \"" + chief +
                                "\": [\"c:1\"], \"worker\": [\"d:1\"]}";
    const auto first =
        ReadJson(Config(cluster, "{\"type\": \"" + chief + "\", \"index\": 0}"),
                 Command::kWorker);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(Value(*first, "worker_hosts"), "c:1,d:1");
    EXPECT_EQ(Value(*first, "task_index"), "0");
    const auto second = ReadJson(
        Config(cluster, R"({"type": "worker", "index": 0})"), Command::kWorker);
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ(Value(*second, "task_index"), "1");
  }
}

TEST(TfConfigTest, SaysNothingWhereTheVariableIsNotSet) {
  EXPECT_TRUE(TfConfigCluster({}, Command::kPs)->empty());
  EXPECT_TRUE(ReadJson("", Command::kPs)->empty());
}

TEST(TfConfigTest, FlagsThatWereGivenWin) {
  JobFlags flags(Command::kPs);
  FlagSet set = JobFlagSet(&flags);
  ASSERT_TRUE(set.ReadArguments({"--task_index=0"}).ok());
  const auto settings =
      ReadJson(Config(kCluster, R"({"type": "ps", "index": 1})"), Command::kPs);
  ASSERT_TRUE(set.Fill(*settings).ok());
  EXPECT_EQ(flags.cluster.task_index, 0);
  EXPECT_EQ(flags.cluster.ps_hosts, "a:2223,b:2223");
}

TEST(TfConfigTest, ErrorsNameThePlaceInTheJson) {
  struct Case {
    std::string json;
    std::string message;
  };
  const std::string ps0 = R"({"type": "ps", "index": 0})";
  const std::string both = R"({"ps": ["a:1"], "worker": ["b:1"]})";
  for (const Case& c : std::vector<Case>{
           {"garbage", "is not a JSON object"},
           {"[1]", "is not a JSON object"},
           {"{}", "cluster is missing"},
           {Config("3", ps0), "cluster must be an object"},
           {Config(R"({"worker": ["a:1"]})", ps0),
            "cluster.ps is missing or empty"},
           {Config(R"({"ps": [], "worker": ["a:1"]})", ps0),
            "cluster.ps is missing or empty"},
           {Config(R"({"ps": "a:1", "worker": ["a:1"]})", ps0),
            "cluster.ps must be a list"},
           {Config(R"({"ps": ["a:1", 7], "worker": ["a:1"]})", ps0),
            "cluster.ps[1] must be \"host:port\""},
           {Config(R"({"ps": ["a:1,b:1"], "worker": ["a:1"]})", ps0),
            "cluster.ps[0] is 'a:1,b:1'"},
           {Config(R"({"ps": ["a:1"]})", ps0),
            "cluster.worker is missing or empty"},
           {Config(R"({"ps": ["a:1"], "chief": ["a:1", "b:1"]})", ps0),
            "cluster.chief has more than one entry"},
           {Config(R"({"ps": ["a:1"], "chief": ["a:1"], "master": ["b:1"]})",
                   ps0),
            "cluster.chief and cluster.master are both there"},
           {"{\"cluster\": " + both + "}", "task is missing"},
           {Config(both, "7"), "task must be an object"},
           {Config(both, "{}"), "task.type must be"},
           {Config(both, R"({"type": 3, "index": 0})"), "task.type must be"},
           {Config(both, R"({"type": "evaluator", "index": 0})"),
            "task.type is 'evaluator'"},
           {Config(both, R"({"type": "worker", "index": 0})"),
            "task.type is 'worker', which is for shoal-worker and not for "
            "shoal-ps"},
           {Config(both, R"({"type": "ps"})"), "task.index must be an integer"},
           {Config(both, R"({"type": "ps", "index": "0"})"),
            "task.index must be an integer"},
           {Config(both, R"({"type": "ps", "index": 1})"),
            "task.index is 1, and cluster.ps has 1 entries"},
           {Config(both, R"({"type": "ps", "index": -1})"), "task.index is -1"},
           {Config(both, R"({"type": "ps", "index": 18446744073709551615})"),
            "task.index is "},
       }) {
    const auto settings = ReadJson(c.json, Command::kPs);
    ASSERT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument)
        << c.json;
    EXPECT_THAT(std::string(settings.status().message()),
                StartsWith("TF_CONFIG"));
    EXPECT_THAT(std::string(settings.status().message()), HasSubstr(c.message))
        << c.json;
  }
  const auto chief = ReadJson(Config(both, R"({"type": "chief", "index": 0})"),
                              Command::kWorker);
  EXPECT_THAT(std::string(chief.status().message()),
              HasSubstr("cluster.chief is missing"));
}

}  // namespace
}  // namespace shoal
