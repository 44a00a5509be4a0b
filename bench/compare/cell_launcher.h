#ifndef SHOAL_BENCH_COMPARE_CELL_LAUNCHER_H_
#define SHOAL_BENCH_COMPARE_CELL_LAUNCHER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"
#include "bench/compare/cell_flags.h"
#include "bench/compare/lab.h"
#include "bench/compare/parsed_job.h"
#include "job/launched_job.h"
#include "launch/flags/deadline_flags.h"
#include "report/progress_json.h"

namespace shoal {

struct CellLauncherOptions {
  std::string where = "loopback";      // as Comparison::where
  std::vector<std::string> on;         // with "hosts": the hosts, by ssh
  std::map<std::string, FlagMap> job;  // by model: the flags of its jobs
  DeadlineFlags deadlines;             // those of the jobs
  int cores = 1;                       // of this machine
  std::string out;                     // directory; logs/ is in it
  const FileSystem* files = nullptr;   // outlives the launcher
};

// Starts the jobs of cells where the comparison has its hosts: as processes of
// this host, in a lab, or by ssh. Thread-hostile, as LaunchedJob.
//
//   auto lab = launcher.LabOf(cell, paused_speed);
//   place.hosts = launcher.HostsOf(cell, lab->get());
//   auto job = launcher.Plan(cell, place);
//   auto end = launcher.Run(cell, paused_speed, job->get(), lab->get(),
//                           cell.name, enough);
class CellLauncher {
 public:
  explicit CellLauncher(CellLauncherOptions options)
      : options_(std::move(options)) {}

  // The hosts of the cell, played; null unless in the lab.
  absl::StatusOr<std::unique_ptr<Lab>> LabOf(const Cell& cell,
                                             double paused_speed) const;
  // For CellPlace::hosts. `lab`: LabOf; null where there is none, and in a lab
  // for a cell that is only checked.
  std::string HostsOf(const Cell& cell, const Lab* lab) const;

  // The job of the cell. The error is that of its flags; nothing is started.
  absl::StatusOr<std::unique_ptr<ParsedJob>> Plan(const Cell& cell,
                                                  const CellPlace& place) const;

  // RESOURCE_EXHAUSTED: the hosts of the cell do not fit into this machine's
  // memory together.
  absl::Status CheckRoom(const Cell& cell, CellPlace place) const;

  // Runs the job, which logs under `name`, until `enough` is true. The first
  // call of `enough` has the first figures since the data came. The hosts of
  // the lab have had their shares of the cores since then; processes start at
  // full speed, and that part is not measured. CANCELLED: a signal asked for
  // the end. ABORTED: the job failed.
  absl::StatusOr<LaunchedJobEnd> Run(
      const Cell& cell, double paused_speed, ParsedJob* job, Lab* lab,
      const std::string& name,
      absl::FunctionRef<bool(const ProgressFigures&)> enough) const;

 private:
  absl::StatusOr<LaunchedJobOptions> PlanStart(const Cell& cell,
                                               double paused_speed,
                                               ParsedJob* job,
                                               const Lab* lab) const;
  absl::StatusOr<LaunchedJobEnd> Launch(LaunchedJobOptions options,
                                        const std::string& name) const;

  const CellLauncherOptions options_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CELL_LAUNCHER_H_
