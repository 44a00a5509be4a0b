#include "bench/compare/asked_comparison.h"

#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "launch/job_flag_set.h"
#include "launch/split_arguments.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AskedComparisonTest : public ::testing::Test {
 protected:
  AskedComparisonTest() : files_(NewPosixFileSystem()) {
    directory_ = absl::StrCat(::testing::TempDir(), "/asked-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    AddFile("tr-00000.libsvm", "1 0:3:1\n0 0:4:1\n");
  }

  void AddFile(const std::string& name, const std::string& text) {
    EXPECT_TRUE(
        files_->WriteFileAtomically(absl::StrCat(directory_, "/", name), text)
            .ok());
  }

  // What the command line asks for, with a small job on the files of this
  // test.
  absl::StatusOr<std::unique_ptr<AskedComparison>> Ask(
      std::vector<std::string> args, std::string data = "") {
    if (data.empty()) {
      data = absl::StrCat("--training_data_dir=", directory_, "/tr*");
    }
    auto asked = std::make_unique<AskedComparison>();
    FlagSet set = CompareFlagSet(&asked->flags);
    FlagSet job_set = JobFlagSet(&asked->job);
    args.insert(args.end(),
                {"--out=/o", "--feature_size=10", "--field_size=1", data});
    const SplitArguments split = SplitByFlagSet(set, args);
    absl::Status status = set.Parse(split.own);
    if (status.ok()) status = job_set.Parse(split.job);
    if (status.ok()) status = CompleteAsked(set, job_set, *files_, asked.get());
    if (!status.ok()) return status;
    return asked;
  }
  std::string Settings(const std::vector<std::string>& args,
                       const std::string& data = "") {
    const auto asked = Ask(args, data);
    EXPECT_TRUE(asked.ok()) << asked.status();
    return asked.ok() ? CommonSettings(**asked, "shoal 1") : "";
  }
  int Epochs(const std::vector<std::string>& args) {
    const auto asked = Ask(args);
    EXPECT_TRUE(asked.ok()) << asked.status();
    return asked.ok() ? RunnerOptions(**asked, files_.get()).many_epochs : 0;
  }

  const std::unique_ptr<FileSystem> files_;
  std::string directory_;
};

TEST_F(AskedComparisonTest, FlagsThatDoNothingAreNamed) {
  const auto text = [&](const std::vector<std::string>& args) {
    const auto asked = Ask(args);
    EXPECT_TRUE(asked.ok()) << asked.status();
    return asked.ok() ? UnusedFlagsText(**asked) : "";
  };
  EXPECT_EQ(text({"--hosts=1"}), "");
  EXPECT_THAT(text({"--val_data_dir=/v", "--num_epochs=3"}),
              HasSubstr("--num_epochs, --val_data_dir do nothing"));
  EXPECT_THAT(text({"--num_epochs=3"}), HasSubstr("--num_epochs does nothing"));
  EXPECT_EQ(text({"--num_epochs=3", "--cell_time=0"}), "");
  EXPECT_EQ(text({"--num_epochs=3", "--target_auc=.7"}), "");
}

TEST_F(AskedComparisonTest, TheComparisonHasWhatTheFlagsSay) {
  const std::vector<std::string> args = {
      "--modes=async,ring", "--hosts=1,2", "--price=0.4", "--target_auc=0.7",
      "--models=A:--embedding_size=4;B:--embedding_size=8"};
  const auto asked = Ask(args);
  ASSERT_TRUE(asked.ok()) << asked.status();
  const Comparison before = ComparisonBefore(**asked, args, "shoal 1", *files_);
  EXPECT_EQ(before.command,
            "shoal bench compare --modes=async,ring --hosts=1,2 --price=0.4 "
            "--target_auc=0.7 "
            "'--models=A:--embedding_size=4;B:--embedding_size=8'");
  EXPECT_EQ(before.version, "shoal 1");
  EXPECT_EQ(before.where, "loopback");
  EXPECT_EQ(before.price_per_host_hour, .4);
  EXPECT_EQ(before.target_auc, .7);
  EXPECT_EQ(before.cells.size(), 2u * 2 * 2);
  EXPECT_EQ(before.data.files, 1u);
  EXPECT_FALSE(before.not_played.empty());
  EXPECT_THAT((*asked)->models.at("B").flags.at("embedding_size"), "8");
}

TEST_F(AskedComparisonTest, FlagsThatDoNotGoTogetherAreRefused) {
  EXPECT_THAT(std::string(Ask({"--lab", "--on=h1"}).status().message()),
              HasSubstr("--lab"));
  EXPECT_THAT(std::string(Ask({"--hosts=0"}).status().message()),
              HasSubstr("--hosts"));
}

// A run of before counts if it would be made in the same way today.
TEST_F(AskedComparisonTest, SettingsAreThoseOfARunAndNotOfTheGrid) {
  const std::string settings = Settings({});
  EXPECT_EQ(settings, Settings({"--hosts=1,2", "--modes=ring", "--repeats=7"}));
  EXPECT_NE(settings, Settings({"--cell_time=3s"}));
  EXPECT_NE(settings, Settings({"--target_auc=0.7"}));
  EXPECT_NE(settings, Settings({"--vary_seed"}));
  AddFile("tr-00001.libsvm", "1 0:3:1\n");
  EXPECT_NE(settings, Settings({}));
}

TEST_F(AskedComparisonTest, ModelsHaveSettingsOfTheirOwn) {
  const auto asked = Ask({"--models=A:--embedding_size=4;B:"});
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_THAT(ModelSettings("A", (*asked)->models.at("A")),
              HasSubstr("\nA: embedding_size=4"));
  EXPECT_NE(ModelSettings("A", (*asked)->models.at("A")),
            ModelSettings("A", (*asked)->models.at("B")));
}

TEST_F(AskedComparisonTest, AJobThatIsStoppedReadsSmallFilesOverAndOver) {
  EXPECT_EQ(Epochs({}), 10000);
  AddFile("tr-00001.libsvm", std::string(20'000'000, '\n'));
  EXPECT_EQ(Epochs({}), 999);
}

TEST_F(AskedComparisonTest, RunsAreMadeOnTheHostsThatAreGiven) {
  const auto asked =
      Ask({"--on=h1,h2", "--hosts=2", "--vary_seed", "--seed=5"});
  ASSERT_TRUE(asked.ok()) << asked.status();
  const CellRunnerOptions options = RunnerOptions(**asked, files_.get());
  EXPECT_EQ(options.launcher.where, "hosts");
  EXPECT_THAT(options.launcher.on, ElementsAre("h1", "h2"));
  EXPECT_EQ(options.first_seed, 5u);
  // The data are on those hosts.
  EXPECT_THAT(CommonSettings(**asked, "shoal 1"), HasSubstr("data=not known"));
  EXPECT_EQ(ComparisonBefore(**asked, {}, "shoal 1", *files_).data.files, 0u);
  // They are as large as those of this host, if it has any.
  EXPECT_EQ(options.many_epochs, 10000);
}

TEST_F(AskedComparisonTest, AQuickLookMeasuresPausesWithFewerPairs) {
  const auto quick = Ask({"--quick"});
  const auto thorough = Ask({});
  ASSERT_TRUE(quick.ok() && thorough.ok());
  EXPECT_EQ(MeterPairs((*quick)->flags), 1);
  EXPECT_EQ(MeterPairs((*thorough)->flags), 4);
}

TEST_F(AskedComparisonTest, DataThatAreNotHereAreNotKnown) {
  const std::string elsewhere = "--training_data_dir=/not/here/tr*";
  EXPECT_THAT(Settings({}, elsewhere), HasSubstr("data=not known"));
  const auto asked = Ask({}, elsewhere);
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_EQ(RunnerOptions(**asked, files_.get()).many_epochs, 100);
}

}  // namespace
}  // namespace shoal
