#ifndef SHOAL_BENCH_COMPARE_ASKED_COMPARISON_H_
#define SHOAL_BENCH_COMPARE_ASKED_COMPARISON_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"
#include "bench/compare/compare_flags.h"
#include "bench/compare/model_facts.h"
#include "bench/compare/model_jobs.h"
#include "bench/compare/run_cell.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"
#include "worker/data/source_list.h"

namespace shoal {

// What the command line of `shoal bench compare` asks for, before anything is
// measured. The flag sets of the command line are bound to `flags` and `job`,
// so it stays where it is.
struct AskedComparison {
  CompareFlags flags;
  JobFlags job{Command::kRun};
  std::map<std::string, ModelJob> models;  // by name
  std::vector<Cell> cells;
  int cores = 1;  // of this machine
  // The training data's files on this host; empty if it cannot list them.
  std::vector<LocalSource> training;
};

// Fills in what is not a flag, and the flags that others decide. `set` and
// `job_set` have parsed the command line. INVALID_ARGUMENT: flags do not go
// together, or a model or cell cannot be had.
absl::Status CompleteAsked(const FlagSet& set, const FlagSet& job_set,
                           const FileSystem& files, AskedComparison* asked);

// Which flags of the job do nothing, since --cell_time ends each run, and what
// to do; empty: there are none.
std::string UnusedFlagsText(const AskedComparison& asked);

// The comparison as it is before its first run, without its models' facts.
// `args`: the command line; `version`: of this program.
Comparison ComparisonBefore(const AskedComparison& asked,
                            const std::vector<std::string>& args,
                            const std::string& version,
                            const FileSystem& files);

// Two runs may be put side by side if these lines are equal, and those of
// ModelSettings for their model.
std::string CommonSettings(const AskedComparison& asked,
                           const std::string& version);
std::string ModelSettings(const std::string& name, const ModelJob& model);

// For the runs of its cells. `files` outlives the runner.
CellRunnerOptions RunnerOptions(const AskedComparison& asked,
                                const FileSystem* files);
// For the runs of its PauseMeter, which are short, and whose AUC nobody reads.
CellRunnerOptions MeterRunnerOptions(const AskedComparison& asked,
                                     const FileSystem* files);
int MeterPairs(const CompareFlags& flags);  // PauseMeterOptions::pairs
// For what is known of its models. `files` outlives the facts.
ModelFactsOptions FactsOptions(const AskedComparison& asked,
                               const FileSystem* files);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_ASKED_COMPARISON_H_
