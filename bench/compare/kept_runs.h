#ifndef SHOAL_BENCH_COMPARE_KEPT_RUNS_H_
#define SHOAL_BENCH_COMPARE_KEPT_RUNS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"

namespace shoal {

// One run of a cell, and the folder below OUT that its file is in.
struct RunPlace {
  Cell cell;
  int repeat = 0;
  std::string folder;
};

// The runs of a comparison. Each has a file, OUT/FOLDER/CELL.N.json with N from
// 1 on, so that a comparison that was stopped goes on. Thread-compatible.
class KeptRuns {
 public:
  // `settings`: by model, what a run must have in common with the comparison;
  // so a comparison can grow by a model. `data`: what is known of them before.
  // `files` outlives this.
  KeptRuns(const FileSystem* files, std::string out,
           std::map<std::string, std::string> settings, ComparedData data)
      : files_(files),
        out_(std::move(out)),
        settings_(std::move(settings)),
        data_(data) {}

  // Reads the run, if it is not known yet and its file is there. One that
  // failed is as if it were not there. FAILED_PRECONDITION: it is a run of
  // another comparison. Other errors: it cannot be read.
  absl::Status Read(const RunPlace& place);
  // Adds the run, or replaces it; `data` are those that it read.
  void Add(const RunPlace& place, CellRun run, const ComparedData& data);
  // Writes the file of a run that is there, with the formula of its bytes.
  absl::Status Write(const RunPlace& place,
                     const std::optional<RoleBytes>& formula);
  // What else is known of the data. 0 is not known.
  void Learn(const ComparedData& data);

  // How many cells other than these have files in the folder, of commands
  // before.
  int OthersIn(const std::string& folder, const std::vector<Cell>& cells) const;

  bool Has(const RunPlace& place) const;
  // How long the jobs took of which the files were read, in the mean. nullopt:
  // there is none.
  std::optional<absl::Duration> MeanJobTime() const;
  int size() const { return static_cast<int>(runs_.size()); }
  const ComparedData& data() const { return data_; }

  // The cell with those of its first `most` runs that are there.
  Cell WithRuns(Cell cell, int most) const;
  // Gives `cell` the first `most` runs of the cell `name`, which may be itself,
  // and what follows from them: times of an epoch, the formula, and whether it
  // is grey.
  void Settle(const std::string& name, int most, Cell* cell) const;

 private:
  std::string PathOf(const RunPlace& place) const;

  const FileSystem* const files_;
  const std::string out_;
  const std::map<std::string, std::string> settings_;
  ComparedData data_;
  // By cell and repeat.
  std::map<std::pair<std::string, int>, CellRun> runs_;
  std::map<std::string, RoleBytes> formulas_;  // by cell
  int read_ = 0;
  absl::Duration read_took_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_KEPT_RUNS_H_
