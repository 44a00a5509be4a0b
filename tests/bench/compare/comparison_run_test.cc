#include "bench/compare/comparison_run.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/text_file.h"
#include "tests/bench/compare/comparison_run_fixture.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ComparisonRunTest, MeasuresEachCellInEachRepeatAndWritesAll) {
  ASSERT_TRUE(Run().ok());
  ASSERT_EQ(measured_.size(), 6u);
  // Repeats are interleaved: each cell comes once before any comes twice.
  EXPECT_EQ(std::set<std::string>(measured_.begin(), measured_.begin() + 3),
            (std::set<std::string>{"A_async.0", "A_ring.0", "A_sync.0"}));
  EXPECT_EQ(ComparisonJson(Written()), ComparisonJson(found_));
  EXPECT_NE(found_.ended, "");
  ASSERT_EQ(found_.cells[1].runs.size(), 2u);
  EXPECT_EQ(found_.cells[1].runs[1].samples_per_second, 1001);
  // Rows that one summary knows are those of all.
  EXPECT_EQ(found_.data.rows, 5000u);
  EXPECT_EQ(found_.cells[1].runs[0].epoch_seconds, 5);
  EXPECT_EQ(found_.cells[1].formula->ps_received, 500);
  EXPECT_EQ(found_.verdicts.size(), 1u);
  EXPECT_THAT(said_, HasSubstr("run 1 of 6, about "));
}

TEST_F(ComparisonRunTest, EachRunHasThePausedSpeedOfItsMoment) {
  double speed = 1;
  options_.paused_speed = [&](const Cell&) -> absl::StatusOr<PausedSpeed> {
    // Its time is that of no run.
    now_ += absl::Hours(1);
    return PausedSpeed{speed /= 2};
  };
  ASSERT_TRUE(Run().ok());
  std::set<double> speeds;
  for (const Cell& cell : Written().cells) {
    for (const CellRun& run : cell.runs) speeds.insert(run.paused_speed);
  }
  EXPECT_EQ(speeds, (std::set<double>{1 / 64.0, 1 / 32.0, 1 / 16.0, 1 / 8.0,
                                      1 / 4.0, 1 / 2.0}));
  EXPECT_THAT(said_, Not(HasSubstr("min left")));
  options_.out = absl::StrCat(out_, "/again");
  options_.paused_speed = [](const Cell&) -> absl::StatusOr<PausedSpeed> {
    return absl::CancelledError("stopped by SIGINT");
  };
  EXPECT_TRUE(absl::IsCancelled(Run()));
  EXPECT_TRUE(measured_.empty());
}

TEST_F(ComparisonRunTest, TimeLeftHasThePairsOfPausesToCome) {
  options_.first_guess = absl::Seconds(10);
  // Ten minutes for each cell that is still to come, the next one too.
  options_.pauses_ahead = [](const std::vector<Cell>& cells) {
    return static_cast<double>(cells.size()) * absl::Minutes(10);
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(said_, HasSubstr("run 1 of 6, about 61 min left"));
  EXPECT_THAT(said_, HasSubstr("run 6 of 6, about 10 min left"));
}

TEST_F(ComparisonRunTest, TheSeedDecidesTheOrder) {
  ASSERT_TRUE(Run().ok());
  const std::vector<std::string> first = measured_;
  options_.out = absl::StrCat(out_, "/again");
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(measured_, first);
  std::set<std::vector<std::string>> orders;
  for (int seed = 0; seed < 20; ++seed) {
    options_.out = absl::StrCat(out_, "/seed", seed);
    options_.order_seed = static_cast<uint64_t>(seed);
    ASSERT_TRUE(Run().ok());
    orders.insert(measured_);
  }
  EXPECT_GT(orders.size(), 5u);
}

TEST_F(ComparisonRunTest, GoesOnAfterAStop) {
  stop_after_ = 4;
  const absl::Status stopped = Run();
  EXPECT_TRUE(absl::IsCancelled(stopped)) << stopped;
  EXPECT_EQ(measured_.size(), 4u);
  EXPECT_EQ(Written().ended, "");
  std::set<std::string> all(measured_.begin(), measured_.end());
  stop_after_ = 1000;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(measured_.size(), 2u);
  EXPECT_THAT(said_, HasSubstr("4 runs are there from before"));
  // Two more of 47 s, and what is around a job.
  EXPECT_THAT(said_, HasSubstr("run 5 of 6, about 100 s left"));
  all.insert(measured_.begin(), measured_.end());
  EXPECT_EQ(all.size(), 6u);
  for (const Cell& cell : Written().cells) {
    EXPECT_EQ(cell.runs.size(), 2u);
    EXPECT_EQ(cell.formula->ps_received, 500);
  }
}

TEST_F(ComparisonRunTest, GrowsByAModel) {
  ASSERT_TRUE(Run().ok());
  AddModel("B", {"async"});
  const absl::Status grown = Run();
  ASSERT_TRUE(grown.ok()) << grown;
  EXPECT_THAT(measured_, ElementsAre("B_async.0", "B_async.1"));
  EXPECT_EQ(Written().cells.size(), 4u);
}

TEST_F(ComparisonRunTest, CellsOfOtherCommandsAreSaidNotToBeThere) {
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(said_, Not(HasSubstr("of commands before")));
  options_.comparison.cells.pop_back();
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(said_, HasSubstr("1 cell of commands before will not be in the "
                               "report"));
}

TEST_F(ComparisonRunTest, RowsThatARunFoundOutAreKnownAfterItWasKilled) {
  const auto run_cell = options_.run_cell;
  int runs = 0;
  options_.run_cell = [&](const Cell& cell, int repeat, double speed,
                          SummaryData* data) {
    auto run = run_cell(cell, repeat, speed, data);
    if (++runs > 1) *data = SummaryData{};  // a job that was stopped early
    return run;
  };
  stop_after_ = 2;
  EXPECT_TRUE(absl::IsCancelled(Run()));
  ASSERT_TRUE(files_->Remove(absl::StrCat(out_, "/compare.json")).ok());
  stop_after_ = 1000;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(found_.data.rows, 5000u);
  for (const Cell& cell : found_.cells) {
    for (const CellRun& run : cell.runs) {
      EXPECT_EQ(run.epoch_seconds, 5000 / *run.samples_per_second);
    }
  }
}

TEST_F(ComparisonRunTest, RowsMayBeKnownBeforeTheFirstRun) {
  options_.comparison.data = {4000, 2};
  const auto run_cell = options_.run_cell;
  options_.run_cell = [&](const Cell& cell, int repeat, double speed,
                          SummaryData* data) {
    auto run = run_cell(cell, repeat, speed, data);
    *data = SummaryData{};
    return run;
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(found_.data.rows, 4000u);
  EXPECT_EQ(found_.data.files, 2u);
  EXPECT_EQ(found_.cells[1].runs[0].epoch_seconds, 4);
}

TEST_F(ComparisonRunTest, AllReduceIsMeasuredAfterTheCells) {
  AddCollective();
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(measured_.size(), 7u);
  EXPECT_EQ(measured_.back(), "allreduce");
  ASSERT_EQ(Written().collective.size(), 1u);
  EXPECT_EQ(Written().collective[0].network, "1gbit");
}

TEST_F(ComparisonRunTest, AfterAStopAllReduceOfBeforeIsKnown) {
  AddCollective();
  stop_after_ = 2;
  EXPECT_EQ(Run().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(measured_.back(), "allreduce of before");
  EXPECT_EQ(Written().collective.size(), 1u);

  // A signal comes while AllReduce is measured.
  stop_after_ = 1000;
  collective_ = absl::CancelledError("stopped by SIGTERM");
  EXPECT_EQ(Run().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(measured_.back(), "allreduce");
  EXPECT_EQ(Written().ended, "");
}

TEST_F(ComparisonRunTest, RunsOfAnotherComparisonAreNotMixedIn) {
  stop_after_ = 1;
  EXPECT_TRUE(absl::IsCancelled(Run()));
  const std::string before =
      std::exchange(options_.settings["A"], "seed=2\nA: fields=3");
  const absl::Status other = Run();
  EXPECT_TRUE(absl::IsFailedPrecondition(other)) << other;
  EXPECT_THAT(other.message(), HasSubstr("was seed=1, is seed=2"));
  EXPECT_FALSE(has_begun_);
  // A line more or less moves the others, which are the same.
  options_.settings["A"] = absl::StrCat("rate=7\n", before);
  EXPECT_THAT(Run().message(), HasSubstr("(was not given, is rate=7)"));
  options_.settings["A"] = "A: fields=3";
  EXPECT_THAT(Run().message(), HasSubstr("(was seed=1, is not given)"));
  options_.settings["A"] = before;
  for (Cell& cell : options_.comparison.cells) cell.learning_rate = 7;
  EXPECT_THAT(std::string(Run().message()),
              HasSubstr("is \"learning_rate\": 7.0)"));
}

TEST_F(ComparisonRunTest, AComparisonWithANewDilationSaysHowToGrow) {
  ASSERT_TRUE(Run().ok());
  for (Cell& cell : options_.comparison.cells) cell.dilation = 4;
  const absl::Status refused = Run();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("--dilation=1 goes on"));
  // Not where something else differs too, which is said first.
  options_.settings["A"] += "\nA: batch=5";
  EXPECT_THAT(std::string(Run().message()), Not(HasSubstr("--dilation")));
}

TEST_F(ComparisonRunTest, ARunThatCannotBeReadHarmsNothing) {
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(has_begun_);
  const std::string before =
      *ReadTextFile(*files_, absl::StrCat(out_, "/compare.json"));
  const std::string path = absl::StrCat(out_, "/runs/A_ring.1.json");
  ASSERT_TRUE(files_->WriteFileAtomically(path, "{\"settings\":").ok());
  const absl::Status status = Run();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path), HasSubstr("remove it to measure")));
  EXPECT_FALSE(has_begun_);
  EXPECT_THAT(measured_, ElementsAre());
  EXPECT_EQ(*ReadTextFile(*files_, absl::StrCat(out_, "/compare.json")),
            before);
}

TEST_F(ComparisonRunTest, AFailedRunIsReportedAndTriedAgainNextTime) {
  next_ = [](const Cell& cell, CellRun run) -> absl::StatusOr<CellRun> {
    if (cell.mode != "ring") return run;
    run.ok = false;
    run.error = "--hosts: cannot run shoal-worker on h2";
    run.samples_per_second.reset();
    return run;
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(found_.cells[1].grey, HasSubstr("cannot run shoal-worker on h2"));
  EXPECT_EQ(found_.cells[0].grey, "");
  next_ = nullptr;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(measured_.size(), 2u);
  EXPECT_EQ(found_.cells[1].grey, "");
}

TEST_F(ComparisonRunTest, ADisturbedRunIsMeasuredAgainAndItsLastTryCounts) {
  options_.retries = 1;
  int tries = 0;
  next_ = [&](const Cell& cell, CellRun run) -> absl::StatusOr<CellRun> {
    if (cell.mode == "ring" && run.repeat == 0) {
      run.others_cores = ++tries == 1 ? .5 : .01;
    }
    if (cell.mode == "sync") run.others_cores = .4;
    return run;
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(measured_.size(), 9u);  // and both runs of sync again
  EXPECT_EQ(found_.cells[1].grey, "");
  EXPECT_EQ(found_.cells[1].runs[0].others_cores, .01);
  EXPECT_THAT(found_.cells[2].grey, HasSubstr("0.40 of a core"));
}

TEST_F(ComparisonRunTest, ARunWhosePausedSpeedIsNotKnownIsMeasuredAgain) {
  options_.retries = 1;
  int asked = 0;
  options_.paused_speed = [&](const Cell& cell) -> absl::StatusOr<PausedSpeed> {
    if (cell.mode == "ring") return PausedSpeed{.75, /*known=*/++asked != 1};
    return PausedSpeed{.75, /*known=*/cell.mode != "sync"};
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(measured_.size(), 9u);  // a run of ring and both of sync again
  EXPECT_EQ(found_.cells[0].grey, "");
  EXPECT_EQ(found_.cells[1].grey, "");
  EXPECT_THAT(found_.cells[2].grey, HasSubstr("how much pauses slow its"));
  EXPECT_EQ(Written().cells[2].grey, found_.cells[2].grey);
}

TEST_F(ComparisonRunTest, WhatWasMeasuredIsKnownIfTheDiskIsFull) {
  class FullDisk final : public FileSystem {
   public:
    explicit FullDisk(FileSystem* files) : files_(files) {}
    absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(
        const std::string& path) const override {
      return files_->OpenForRead(path);
    }
    absl::StatusOr<std::unique_ptr<WritableFile>> Create(
        const std::string& path) const override {
      return files_->Create(path);
    }
    absl::StatusOr<std::vector<FileInfo>> List(
        const std::string& pattern) const override {
      return files_->List(pattern);
    }
    absl::Status CreateDirectories(const std::string& path) const override {
      return files_->CreateDirectories(path);
    }
    absl::Status WriteFileAtomically(const std::string& path,
                                     absl::string_view) const override {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": No space left on device"));
    }
    absl::StatusOr<std::vector<DirectoryEntry>> ListDirectory(
        const std::string& path) const override {
      return files_->ListDirectory(path);
    }
    absl::Status Rename(const std::string& from,
                        const std::string& to) const override {
      return files_->Rename(from, to);
    }
    absl::Status Remove(const std::string& path) const override {
      return files_->Remove(path);
    }
    absl::Status SyncDirectory(const std::string& path) const override {
      return files_->SyncDirectory(path);
    }

   private:
    FileSystem* const files_;
  };
  const FullDisk full(files_.get());
  options_.files = &full;
  const absl::Status status = Run();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("No space left on device"));
  EXPECT_EQ(measured_.size(), 1u);
  int runs = 0;
  for (const Cell& cell : found_.cells) {
    runs += static_cast<int>(cell.runs.size());
  }
  EXPECT_EQ(runs, 1);
}

TEST(TimeLeftTest, GuessesFromTheRunsThatItSaw) {
  TimeLeft left(5, 1, absl::Seconds(30));
  EXPECT_EQ(left.Text(absl::ZeroDuration()), "run 2 of 5, about 2 min left");
  EXPECT_EQ(left.Text(absl::Minutes(3)), "run 2 of 5, about 5 min left");
  left.OnRun(absl::Seconds(10), /*again=*/false);
  EXPECT_EQ(left.Text(absl::ZeroDuration()), "run 3 of 5, about 30 s left");
  left.OnRun(absl::Seconds(20), /*again=*/true);
  EXPECT_EQ(left.left(), absl::Seconds(45));
  EXPECT_EQ(left.done(), 2);
}

}  // namespace
}  // namespace shoal
