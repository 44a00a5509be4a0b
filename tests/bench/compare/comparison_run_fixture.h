#ifndef SHOAL_TESTS_BENCH_COMPARE_COMPARISON_RUN_FIXTURE_H_
#define SHOAL_TESTS_BENCH_COMPARE_COMPARISON_RUN_FIXTURE_H_

#include <stdlib.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file_system.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/comparison_run.h"
#include "gtest/gtest.h"

namespace shoal {

// Comparisons whose runs are made up.
class ComparisonRunTest : public ::testing::Test {
 protected:
  ComparisonRunTest() : files_(NewPosixFileSystem()) {
    out_ = absl::StrCat(::testing::TempDir(), "/compare-XXXXXX");
    EXPECT_NE(mkdtemp(out_.data()), nullptr);
    AddModel("A", {"async", "ring", "sync"});
    options_.comparison.repeats = 2;
    options_.out = out_;
    options_.files = files_.get();
    options_.retries = 0;
    options_.run_cell = [this](const Cell& cell, int repeat,
                               double paused_speed,
                               SummaryData* data) -> absl::StatusOr<CellRun> {
      measured_.push_back(absl::StrCat(cell.name, ".", repeat));
      data->rows = 5000;
      data->mean_batch = 500;
      CellRun run;
      run.repeat = repeat;
      run.ok = true;
      run.paused_speed = paused_speed;
      run.seconds = 47;
      run.samples_per_second = 1000.0 / cell.dilation + repeat;
      return next_ ? next_(cell, std::move(run)) : run;
    };
    options_.formula = [](const Cell&, double mean_batch) {
      return RoleBytes{1, 2, 3, mean_batch};
    };
    options_.calibrate = [](const Comparison&, const std::string&, int) {
      return absl::InvalidArgumentError("cells without processor times");
    };
    options_.stopped = [this] {
      return static_cast<int>(measured_.size()) < stop_after_
                 ? absl::OkStatus()
                 : absl::CancelledError("stopped by SIGTERM");
    };
    options_.say = [this](const std::string& line) {
      said_ += absl::StrCat(line, "\n");
    };
    options_.now = [this] { return now_; };
  }

  // A model with a cell of each mode.
  void AddModel(const std::string& model,
                const std::vector<std::string>& modes) {
    for (const std::string& mode : modes) {
      Cell cell;
      cell.name = absl::StrCat(model, "_", mode);
      cell.model = model;
      cell.mode = mode;
      options_.comparison.cells.push_back(cell);
    }
    options_.comparison.models[model] = {};
    options_.settings[model] = absl::StrCat("seed=1\n", model, ": fields=3");
  }

  absl::Status Run() {
    measured_.clear();
    said_.clear();
    ComparisonRun run(options_);
    const absl::Status status = run.Run();
    has_begun_ = run.has_begun();
    found_ = run.found();
    return status;
  }

  // AllReduce is measured once, and counts the times that it was asked for.
  void AddCollective() {
    options_.add_collective = [this](bool measure, Comparison* found) {
      measured_.push_back(measure ? "allreduce" : "allreduce of before");
      found->collective = {{"1gbit", 2, 4096, 1e-4}};
      return collective_;
    };
  }

  Comparison Written() {
    const auto read =
        ReadComparison(*files_, absl::StrCat(out_, "/compare.json"));
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? *read : Comparison{};
  }

  const std::unique_ptr<FileSystem> files_;
  std::string out_;
  ComparisonRunOptions options_;
  std::vector<std::string> measured_;
  std::string said_;
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  int stop_after_ = 1000;
  bool has_begun_ = false;
  absl::Status collective_;
  std::function<absl::StatusOr<CellRun>(const Cell&, CellRun)> next_;
  Comparison found_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_BENCH_COMPARE_COMPARISON_RUN_FIXTURE_H_
