#include "launch/config_file.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Error(absl::string_view text) {
  const auto settings = ParseConfig(text, "job.textproto");
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument)
      << text;
  return std::string(settings.status().message());
}

// The flags of a command after `args` and then the config `text`.
struct Read {
  Read(Command command, const std::vector<std::string>& args,
       const std::string& text)
      : flags(command), set(JobFlagSet(&flags)) {
    status = set.ReadArguments(args);
    if (!status.ok()) return;
    const auto settings = ParseConfig(text, "job.textproto");
    status = settings.ok() ? set.Fill(*settings) : settings.status();
  }

  JobFlags flags;
  FlagSet set;
  absl::Status status;
};

TEST(ConfigFileTest, EveryFlagOfAJobHasAField) {
  const std::vector<std::string> fields = ConfigFieldNames();
  const std::set<std::string> known(fields.begin(), fields.end());
  std::set<std::string> flags;
  for (const Command command :
       {Command::kTrain, Command::kRun, Command::kPs, Command::kWorker,
        Command::kEval, Command::kInfer}) {
    JobFlags job(command);
    const FlagSet set = JobFlagSet(&job);
    for (const Flag& flag : set.flags()) {
      if (flag.name != "config") flags.insert(flag.name);
    }
  }
  EXPECT_EQ(known, flags)
      << "run tools/flag_tables.py, then tools/config_proto.py";
}

TEST(ConfigFileTest, ReadsEveryKindOfValue) {
  const Read read(Command::kRun, {}, R"(
      # A comment.
      model: "fm"            # a choice
      feature_size: 117581   # an integer
      learning_rate: 1e-3
      shuffle: false
      deep_layers: [400, 300]
      keep_prob: 0.5 keep_prob: 1
      max_ps_bytes: "2GiB"
      heartbeat: "500ms"
      training_data_dir: 'a,b')");
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.flags.model.model, "fm");
  EXPECT_EQ(read.flags.model.feature_size, 117581u);
  EXPECT_EQ(read.flags.optimizers.learning_rate, 1e-3);
  EXPECT_FALSE(read.flags.data.shuffle);
  EXPECT_EQ(read.flags.model.deep_layers, (std::vector<int>{400, 300}));
  EXPECT_EQ(read.flags.model.keep_prob, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(read.flags.limits.max_ps_bytes, uint64_t{2} << 30);
  EXPECT_EQ(read.flags.deadlines.heartbeat, absl::Milliseconds(500));
  EXPECT_EQ(read.flags.data.training_data_dir, "a,b");
  EXPECT_TRUE(read.set.given("model"));
}

TEST(ConfigFileTest, TheCommandLineWins) {
  const Read read(Command::kRun, {"--batch_size=7", "--shuffle=true"},
                  "batch_size: 9 shuffle: false num_epochs: 3");
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.flags.training.batch_size, 7);
  EXPECT_TRUE(read.flags.data.shuffle);
  EXPECT_EQ(read.flags.training.num_epochs, 3);
}

TEST(ConfigFileTest, OneFileServesAllCommands) {
  // --ps is not for shoal-worker, --ps_hosts not for shoal run.
  const Read worker(Command::kWorker, {},
                    "ps: 2 batch_size: 9 ps_hosts: 'a:1'");
  ASSERT_TRUE(worker.status.ok()) << worker.status;
  EXPECT_EQ(worker.flags.training.batch_size, 9);
  EXPECT_EQ(worker.flags.cluster.ps_hosts, "a:1");
  const Read run(Command::kRun, {}, "ps: 3 batch_size: 9 ps_hosts: 'a:1'");
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.flags.cluster.ps, 3);
}

TEST(ConfigFileTest, AnUnknownFieldIsNamedWithItsPlaceAndTheNearestOne) {
  EXPECT_EQ(Error("model: \"fm\"\n  batchsize: 3\n"),
            "job.textproto:2:3: there is no flag 'batchsize'; did you mean "
            "batch_size?");
  EXPECT_THAT(Error("qqqqqqqqqq: 3"),
              StartsWith("job.textproto:1:1: there is no flag 'qqqqqqqqqq'"));
  EXPECT_THAT(Error("config: 'other'"), HasSubstr("no flag 'config'"));
}

TEST(ConfigFileTest, AValueOfAnotherTypeIsNamedWithItsPlace) {
  EXPECT_THAT(Error("\n\nbatch_size: \"many\""),
              StartsWith("job.textproto:3:13: "));
  EXPECT_THAT(Error("batch_size: \"many\""), HasSubstr("integer"));
  EXPECT_THAT(Error("shuffle: 2"), StartsWith("job.textproto:1:"));
  EXPECT_THAT(Error("model: 3"), StartsWith("job.textproto:1:"));
  EXPECT_THAT(Error("batch_size: 1.5"), StartsWith("job.textproto:1:"));
  EXPECT_THAT(Error("batch_size: 99999999999999999999"),
              StartsWith("job.textproto:1:"));
}

TEST(ConfigFileTest, AFileOfAnotherFormatIsToldWhichOneIsWanted) {
  for (const char* text : {"{\n  \"batch_size\": 3\n}", "batch_size = 3"}) {
    EXPECT_THAT(Error(text),
                EndsWith("; a config is in protobuf's text format, with lines "
                         "such as `batch_size: 1024`"))
        << text;
  }
}

TEST(ConfigFileTest, AValueOutOfRangeIsNamedWithItsPlace) {
  const Read read(Command::kRun, {}, "num_epochs: 2\n batch_size: 0");
  EXPECT_EQ(read.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read.status.message()),
              StartsWith("job.textproto:2:2: --batch_size=0: must be"));
  const Read choice(Command::kRun, {}, "optimizer: 'adm'");
  EXPECT_THAT(std::string(choice.status.message()),
              StartsWith("job.textproto:1:1: --optimizer=adm: must be"));
}

TEST(ConfigFileTest, ReadsWhatOlderReleasesWrote) {
  const Read read(Command::kRun, {},
                  "print_config: false batch_norm: false seed: 7\n"
                  "write_config: 'job.textproto'");
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.flags.output.print_config, PrintConfig::kNone);
  EXPECT_EQ(read.flags.model.seed, 7u);
  EXPECT_EQ(read.flags.config_files.write_config, "");
}

TEST(ConfigFileTest, ReadsEveryWordOfPrintConfig) {
  for (const auto& [text, value] :
       {std::pair("true", PrintConfig::kGiven),
        std::pair("all", PrintConfig::kAll),
        std::pair("false", PrintConfig::kNone)}) {
    const Read read(Command::kRun, {}, absl::StrCat("print_config: ", text));
    ASSERT_TRUE(read.status.ok()) << read.status;
    EXPECT_EQ(read.flags.output.print_config, value);
    EXPECT_THAT(ConfigText(read.set),
                HasSubstr(absl::StrCat("\nprint_config: ", text, "\n")));
  }
  EXPECT_THAT(Error("print_config: some"), StartsWith("job.textproto:1:"));
}

TEST(ConfigFileTest, WhatIsNoTextprotoIsRefused) {
  for (const char* text : {"batch_size: 1 batch_size: 2", "{", "batch_size",
                           "batch_size: ", "\x01\x02", "model: \"unterminated",
                           "[a.b]: 3", "1: 2", "deep_layers: [1, 2"}) {
    EXPECT_THAT(Error(text), StartsWith("job.textproto:")) << text;
  }
  EXPECT_TRUE(ParseConfig("", "x")->empty());
  EXPECT_TRUE(ParseConfig("# nothing\n", "x")->empty());
}

TEST(ConfigFileTest, AnyBytesAreReadOrRefused) {
  const std::string good =
      "model: \"fm\" deep_layers: [1, 2] shuffle: true learning_rate: .5";
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'\0', '"', '[', '\xff', ':', '{', '9'}) {
      std::string bad = good;
      bad[i] = c;
      (void)ParseConfig(bad, "x");
    }
    (void)ParseConfig(good.substr(0, i), "x");
  }
  (void)ParseConfig(std::string(100000, '['), "x");
  (void)ParseConfig("a" + std::string(100000, '{'), "x");
}

TEST(ConfigFileTest, WhatIsPrintedReadsBackTheSame) {
  const Read first(Command::kRun,
                   {"--model=lr", "--field_size=7", "--deep_layers=3,4",
                    "--heartbeat=1500ms", "--learning_rate=0.1",
                    "--summary=a \"b\"\\c\n", "--max_ps_bytes=3MiB",
                    "--write_config=c"},
                   "");
  ASSERT_TRUE(first.status.ok()) << first.status;
  const std::string text = ConfigText(first.set);
  EXPECT_THAT(text, Not(HasSubstr("write_config")));
  EXPECT_THAT(text, Not(HasSubstr("batch_norm")));
  const Read second(Command::kRun, {}, text);
  ASSERT_TRUE(second.status.ok()) << second.status << text;
  EXPECT_EQ(ConfigText(second.set), text);
  EXPECT_EQ(second.flags.output.summary, "a \"b\"\\c\n");
  EXPECT_EQ(second.flags.CanonicalConfig(), first.flags.CanonicalConfig());
}

}  // namespace
}  // namespace shoal
