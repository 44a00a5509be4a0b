#ifndef SHOAL_BENCH_COMPARE_RUN_CELL_H_
#define SHOAL_BENCH_COMPARE_RUN_CELL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"
#include "bench/compare/cell_flags.h"
#include "bench/compare/lab.h"
#include "bench/compare/run_figures.h"
#include "job/launched_job.h"
#include "launch/job_flags.h"

namespace shoal {

struct CellRunnerOptions {
  std::string where = "loopback";  // as Comparison::where
  std::vector<std::string> on;     // with "hosts": the hosts, by ssh
  std::map<std::string, FlagMap> job;  // by model: the flags of its jobs
  DeadlineFlags deadlines;             // those of the jobs
  // A job is stopped so long after its first data; zero: it runs to its end.
  absl::Duration cell_time = absl::Seconds(25);
  // Epochs that last longer than a job that is stopped.
  int many_epochs = 1000;
  int cores = 1;  // of this machine
  std::optional<double> target_auc;
  // Seed of the first repeat, if each one has its own; nullopt: all have that
  // of the job.
  std::optional<uint64_t> first_seed;
  std::string out;  // directory; logs/ and profiles/ are in it
  const FileSystem* files = nullptr;  // outlives the runner
};

// Runs the job of one cell in its place, and reads what it tells.
// Thread-hostile, as LaunchedJob: it starts processes.
class CellRunner {
 public:
  explicit CellRunner(CellRunnerOptions options)
      : options_(std::move(options)) {}

  // Whether the flags of the cell's job can be used at all. INVALID_ARGUMENT,
  // or the error of the flags; nothing is started.
  absl::Status Check(const Cell& cell) const;

  // The facts of a model of the options, without its ids, and the formula of
  // the cell's bytes; nullopt: the data cannot be read here. `mean_batch`: the
  // mean number of rows of a batch, which is below the cell's batch size where
  // the last batch of each piece of the data is short; 0: not known.
  absl::StatusOr<ComparedModel> ModelOf(const std::string& model) const;
  // How the distinct ids of the model's data grow from one batch on; empty: the
  // data cannot be read here.
  std::vector<IdCount> IdGrowth(const std::string& model, int batch);
  std::optional<RoleBytes> Formula(const Cell& cell, double mean_batch);

  // Runs the cell once, with the quotas of SharesOf(cell, paused_speed, cores).
  // Everything that fails is in the run's `error`, so that other cells go on.
  // CANCELLED alone is an error of its own: a signal asked for the end. *data
  // is as of ReadSummary.
  absl::StatusOr<CellRun> Run(const Cell& cell, int repeat, double paused_speed,
                              SummaryData* data);

 private:
  struct Planned;

  absl::StatusOr<std::unique_ptr<Planned>> Plan(const FlagMap& flags) const;
  bool timed() const { return options_.cell_time > absl::ZeroDuration(); }
  std::string HostsOf(const Cell& cell) const;
  std::string Below(const std::string& folder, const std::string& name) const;
  // RESOURCE_EXHAUSTED: the hosts of the cell do not fit into this machine's
  // memory together.
  absl::Status CheckRoom(const Cell& cell, CellPlace place) const;
  // `run` has its repeat and paused speed. *early, if it is not 0, says how
  // many steps there were before the hosts had their shares of the cores: half
  // of the warm-up or more. The job was then stopped, and must have a longer
  // one.
  absl::Status Measure(const Cell& cell, SummaryData* data, CellRun* run,
                       uint64_t* early);
  // The hosts of the cell, played; null unless in the lab.
  absl::StatusOr<std::unique_ptr<Lab>> LabOf(const Cell& cell,
                                             double paused_speed) const;
  // Runs the planned job, which logs under `name`, until `enough` is true. The
  // first call of `enough` has the first figures since the data came. The hosts
  // of the lab have had their shares of the cores since then; processes start
  // at full speed, and that part is not measured.
  absl::StatusOr<LaunchedJobEnd> RunJob(
      const Cell& cell, double paused_speed, Planned* planned, Lab* lab,
      const std::string& name,
      absl::FunctionRef<bool(const ProgressFigures&)> enough) const;
  absl::Status MeasureLink(const Cell& cell, const Lab& lab, CellRun* run);
  absl::StatusOr<LaunchedJobOptions> PlanStart(const Cell& cell,
                                               double paused_speed,
                                               Planned* planned,
                                               const Lab* lab) const;
  // The path of a profile for a repeat of the cell, which is recorded if it is
  // not there: of one host of the cell, as it computes beside all else that it
  // does in this mode. Each repeat has its own, since the machine computes
  // faster in some minutes than in others, and is recorded anew if the paused
  // speed is not nearly that of its record: the times of a record are longer by
  // what pauses cost then.
  absl::StatusOr<std::string> ProfileOf(const Cell& cell, int repeat,
                                        double paused_speed);
  absl::StatusOr<LaunchedJobEnd> Launch(LaunchedJobOptions options,
                                        const std::string& log) const;

  const CellRunnerOptions options_;
  // The paused speed of each profile that was recorded, by its path.
  std::map<std::string, double> recorded_;
  // By model and batch.
  std::map<std::pair<std::string, int>, std::vector<IdCount>> distinct_ids_;
  // By cell: the warm-up of its jobs, where the usual one is too short.
  std::map<std::string, uint64_t> warmup_steps_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_RUN_CELL_H_
