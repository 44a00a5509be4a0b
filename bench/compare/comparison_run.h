#ifndef SHOAL_BENCH_COMPARE_COMPARISON_RUN_H_
#define SHOAL_BENCH_COMPARE_COMPARISON_RUN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"
#include "bench/compare/kept_runs.h"
#include "bench/compare/pause_meter.h"
#include "bench/compare/run_figures.h"
#include "bench/compare/slower_cells.h"
#include "bench/compare/time_left.h"
#include "bench/compare/verdict.h"

namespace shoal {

struct ComparisonRunOptions {
  // All but runs and verdicts. Its data are what is known of them before.
  Comparison comparison;
  std::string out;  // directory
  // As KeptRuns has them.
  std::map<std::string, std::string> settings;
  uint64_t order_seed = 1;
  int retries = 1;  // of a run that others or the link disturbed
  bool check_dilation = false;
  absl::Duration first_guess;         // of a run's time
  const FileSystem* files = nullptr;  // outlives the run
  // The paused speed of the hosts of a run of the cell that begins now
  // (PauseMeter). The time that this takes is not counted as that of the run,
  // and an error ends the comparison. Null: it is 1.
  std::function<absl::StatusOr<PausedSpeed>(const Cell&)> paused_speed;
  // How long paused_speed will take for these cells, of which some may be the
  // same (PauseMeter::TimeAhead). Null: no time.
  std::function<absl::Duration(const std::vector<Cell>&)> pauses_ahead;
  // Runs a cell once (CellRunner::Run).
  std::function<absl::StatusOr<CellRun>(const Cell&, int repeat,
                                        double paused_speed, SummaryData*)>
      run_cell;
  // The formula of a cell's bytes (ModelFacts::Formula).
  std::function<std::optional<RoleBytes>(const Cell&, double mean_batch)>
      formula;
  // The calibration of the planner for verdicts.
  Calibrate calibrate;
  // Fills in Comparison::collective, and with `measure` measures what is
  // missing of it (CollectiveRun::Add). Null: it stays empty.
  std::function<absl::Status(bool measure, Comparison*)> add_collective;
  // CANCELLED once a signal has asked for the end.
  std::function<absl::Status()> stopped;
  // Shows a line, and what is left.
  std::function<void(const std::string& line)> say;
  std::function<absl::Time()> now;
};

// Measures all cells of a comparison, in random order, repeat by repeat; then
// those on numbers of hosts on which a mode differs from itself at twice its
// dilation (SlowerCells) once more, at that. Each run leaves a file at once
// (KeptRuns), but for one that was disturbed and comes again. One whose file is
// there is not measured again, so that a comparison that was stopped goes on.
// Cells that were not measured slower to the end are as they were before.
// Thread-compatible.
class ComparisonRun {
 public:
  explicit ComparisonRun(ComparisonRunOptions options);
  ComparisonRun(const ComparisonRun&) = delete;
  ComparisonRun& operator=(const ComparisonRun&) = delete;

  // Reads the runs of before, measures what is missing, and writes
  // OUT/compare.json, also if a signal came (CANCELLED) or a file could not be
  // written (the error of the file system). Unless has_begun(), the runs of
  // before cannot be used, and nothing was measured or written: they are those
  // of another comparison (FAILED_PRECONDITION), or cannot be read.
  absl::Status Run();
  bool has_begun() const { return begun_; }

  // What is known, with verdicts. After Run.
  const Comparison& found() const { return options_.comparison; }

 private:
  struct Turn {
    RunPlace place;
    int tries = 0;  // before
  };

  std::vector<RunPlace> InTurn(const std::vector<Cell>& cells,
                               const std::string& folder) const;
  absl::Status ReadBefore();
  absl::Status Open(std::vector<RunPlace> places);
  void OpenLast(RunPlace place, int tries);
  int OpenTries(std::vector<RunPlace> tries);
  absl::Status MeasureAll();
  std::string TimeLeftText(const Turn& next) const;
  absl::Status Measure(const Turn& turn);
  absl::Status MeasureSlower();
  bool IsOpen(const Cell& cell) const;
  void Settle();
  void Conclude(bool ended);

  ComparisonRunOptions options_;
  bool begun_ = false;
  KeptRuns runs_;
  SlowerCells slower_;
  std::vector<Turn> open_;  // turns to do, the next one last
  TimeLeft time_left_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_COMPARISON_RUN_H_
