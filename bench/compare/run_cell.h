#ifndef SHOAL_BENCH_COMPARE_RUN_CELL_H_
#define SHOAL_BENCH_COMPARE_RUN_CELL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bench/compare/cell.h"
#include "bench/compare/cell_launcher.h"
#include "bench/compare/lab.h"
#include "bench/compare/profile_recorder.h"
#include "bench/compare/run_figures.h"

namespace shoal {

struct CellRunnerOptions {
  CellLauncherOptions launcher;
  // A job is stopped so long after its first data; zero: it runs to its end.
  absl::Duration cell_time = absl::Seconds(25);
  // Epochs that last longer than a job that is stopped.
  int many_epochs = 1000;
  std::optional<double> target_auc;
  // Seed of the first repeat, if each one has its own; nullopt: all have that
  // of the job.
  std::optional<uint64_t> first_seed;
};

// Runs the job of one cell in its place, and reads what it tells.
// Thread-hostile, as CellLauncher.
class CellRunner {
 public:
  explicit CellRunner(CellRunnerOptions options);
  CellRunner(const CellRunner&) = delete;
  CellRunner& operator=(const CellRunner&) = delete;

  // Whether the flags of the cell's job can be used at all. INVALID_ARGUMENT,
  // or the error of the flags; nothing is started.
  absl::Status Check(const Cell& cell) const;

  // Runs the cell once, with the quotas of SharesOf(cell, paused_speed, cores).
  // Everything that fails is in the run's `error`, so that other cells go on.
  // CANCELLED alone is an error of its own: a signal asked for the end. *data
  // is as of ReadSummary.
  absl::StatusOr<CellRun> Run(const Cell& cell, int repeat, double paused_speed,
                              SummaryData* data);

 private:
  bool timed() const { return options_.cell_time > absl::ZeroDuration(); }
  bool on_real_hosts() const { return options_.launcher.where == "hosts"; }
  // `run` has its repeat and paused speed. *early, if it is not 0, says how
  // many steps there were before the hosts had their shares of the cores: half
  // of the warm-up or more. The job was then stopped, and must have a longer
  // one.
  absl::Status Measure(const Cell& cell, SummaryData* data, CellRun* run,
                       uint64_t* early);

  const CellRunnerOptions options_;
  const CellLauncher launcher_;
  ProfileRecorder profiles_;
  // By cell: the warm-up of its jobs, where the usual one is too short.
  std::map<std::string, uint64_t> warmup_steps_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_RUN_CELL_H_
