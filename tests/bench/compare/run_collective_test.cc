#include "bench/compare/run_collective.h"

#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/compare/rank_processes.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Rings whose figures are those of files, or which cannot be started.
class RunCollectiveTest : public ::testing::Test {
 protected:
  RunCollectiveTest() : files_(NewPosixFileSystem()) {
    options_.out = absl::StrCat(::testing::TempDir(), "/collective-XXXXXX");
    EXPECT_NE(mkdtemp(options_.out.data()), nullptr);
    options_.settings = "seed=1";
    options_.files = files_.get();
    options_.stopped = [] { return absl::OkStatus(); };
    options_.say = [this](const std::string& line) {
      said_ += absl::StrCat(line, "\n");
    };
    found_.repeats = 1;
    for (const int hosts : {2, 3}) {
      Cell cell;
      cell.name = absl::StrCat("A_ring_h", hosts);
      cell.mode = "ring";
      cell.hosts = hosts;
      cell.dilation = 2;
      found_.cells.push_back(cell);
    }
  }

  // A file as a ring of two hosts would have left.
  void WriteFile(const std::string& settings, double others_cores,
                 bool paused_speed_known = true) {
    const CollectiveTurns turns = TurnsOf({found_.cells[0]}, found_.repeats);
    CollectiveFile file;
    file.settings = absl::StrCat(
        settings, "\nreduction=fast\nring=h2_none bits_per_second=0 cores=1 "
        "dilation=2\nsizes=", absl::StrJoin(turns.sizes, ","), "\nrepeats=3");
    file.others_cores = others_cores;
    file.paused_speed_known = paused_speed_known;
    file.result.ranks = 2;
    file.result.points = {{4096, 2e-4, 2e-4, 2e-4, 10}};
    const std::string folder = absl::StrCat(options_.out, "/collective");
    ASSERT_TRUE(files_->CreateDirectories(folder).ok());
    ASSERT_TRUE(files_
                    ->WriteFileAtomically(absl::StrCat(folder, "/h2_none.json"),
                                          CollectiveFileJson(file))
                    .ok());
  }

  absl::Status Add(bool measure) {
    return CollectiveRun(options_).Add(measure, &found_);
  }

  const std::unique_ptr<FileSystem> files_;
  CollectiveRunOptions options_;
  Comparison found_;
  std::string said_;
};

TEST_F(RunCollectiveTest, AFileOfBeforeIsUsedAndNothingElseIsMeasured) {
  WriteFile("seed=1", 0);
  EXPECT_TRUE(Add(/*measure=*/false).ok());
  ASSERT_EQ(found_.collective.size(), 1u);
  EXPECT_EQ(found_.collective[0].ranks, 2);
  EXPECT_DOUBLE_EQ(found_.collective[0].seconds, 1e-4);  // 2 times slower
  EXPECT_THAT(found_.collective_notes, IsEmpty());
  EXPECT_EQ(said_, "");
}

TEST_F(RunCollectiveTest, AFileOfAnotherComparisonIsNotUsed) {
  WriteFile("seed=2", 0);
  EXPECT_TRUE(Add(/*measure=*/false).ok());
  EXPECT_THAT(found_.collective, IsEmpty());
}

TEST_F(RunCollectiveTest, ProgramsThatDisturbedItAreNamed) {
  WriteFile("seed=1", .4);
  EXPECT_TRUE(Add(/*measure=*/false).ok());
  EXPECT_EQ(found_.collective.size(), 1u);
  ASSERT_EQ(found_.collective_notes.size(), 1u);
  EXPECT_THAT(found_.collective_notes[0],
              HasSubstr("AllReduce of 2 hosts was measured, other programs "
                        "used 0.40 of a core"));
}

TEST_F(RunCollectiveTest, AGuessedPausedSpeedIsNoted) {
  WriteFile("seed=1", 0, /*paused_speed_known=*/false);
  EXPECT_TRUE(Add(/*measure=*/false).ok());
  EXPECT_THAT(found_.collective_notes,
              ElementsAre("Before AllReduce of 2 hosts it could not be "
                          "measured how much pauses slow its hosts down"));
}

TEST_F(RunCollectiveTest, AfterASignalNothingMoreIsMeasured) {
  WriteFile("seed=1", 0);
  options_.stopped = [] { return absl::CancelledError("stopped by SIGTERM"); };
  EXPECT_EQ(Add(/*measure=*/true).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(found_.collective.size(), 1u);  // that of before
  EXPECT_THAT(found_.collective_notes, IsEmpty());
}

TEST_F(RunCollectiveTest, WhatCannotBeMeasuredIsNotedAndIsNoError) {
  WriteFile("seed=1", 0);
  options_.where = "hosts";
  options_.on = {"h1", "h2", "h3"};
  options_.ssh_command = "/bin/false";
  EXPECT_TRUE(Add(/*measure=*/true).ok());
  EXPECT_EQ(found_.collective.size(), 1u);
  ASSERT_EQ(found_.collective_notes.size(), 1u);
  EXPECT_THAT(found_.collective_notes[0],
              HasSubstr("AllReduce of 3 hosts was not measured: rank "));
  EXPECT_THAT(found_.collective_notes[0], HasSubstr("exited with code 1"));
  EXPECT_THAT(said_, HasSubstr(found_.collective_notes[0]));
}

std::vector<std::string> Shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

TEST(RankProcessesTest, GivesWhatRank0Prints) {
  RankProcessesOptions options;
  options.timeout = absl::Seconds(60);
  options.input = "secret\n";
  options.commands = {Shell("read line; echo $line; echo two; echo no >&2"),
                      Shell("echo other")};
  const auto output = RunRankProcesses(options);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, "secret\ntwo\n");
}

TEST(RankProcessesTest, TheFirstRankThatFailsIsNamedAndTheOthersEnd) {
  RankProcessesOptions options;
  options.timeout = absl::Seconds(60);
  options.input = "secret\n";
  // Rank 0 ends when its stdin does.
  options.commands = {Shell("cat > /dev/null; exit 3"),
                      Shell("echo why >&2; exit 7")};
  const auto output = RunRankProcesses(options);
  EXPECT_EQ(output.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(output.status().message(), "rank 1 exited with code 7: why");
}

TEST(RankProcessesTest, RanksThatDoNotEndAreStopped) {
  RankProcessesOptions options;
  options.timeout = absl::Milliseconds(50);
  options.input = "secret\n";
  options.commands = {Shell("cat > /dev/null; exit 3"),
                      Shell("cat > /dev/null; exit 3")};
  const auto output = RunRankProcesses(options);
  EXPECT_EQ(output.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(output.status().message()), HasSubstr("50ms"));
}

}  // namespace
}  // namespace shoal
