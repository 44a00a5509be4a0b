#ifndef SHOAL_BENCH_COMPARE_RUN_COLLECTIVE_H_
#define SHOAL_BENCH_COMPARE_RUN_COLLECTIVE_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"
#include "bench/compare/collective_cases.h"
#include "bench/compare/pause_meter.h"

namespace shoal {

struct CollectiveRunOptions {
  std::string where = "loopback";  // as Comparison::where
  std::vector<std::string> on;     // with "hosts": the hosts, by ssh
  std::string ssh_command;         // with "hosts"
  std::string remote_bin;  // with "hosts"; "": the directory of this program
  int port = 2223;         // of each host; unused over loopback
  std::string reduction = "fast";
  std::string out;  // directory; the files are below OUT/collective
  // What a file of the directory must have in common with this comparison.
  std::string settings;
  const FileSystem* files = nullptr;  // outlives the run
  int cores = 1;                      // of this machine
  // The paused speed of the hosts of a cell (PauseMeter); null: 1. Its error
  // ends the measurement.
  std::function<absl::StatusOr<PausedSpeed>(const Cell&)> paused_speed;
  // CANCELLED once a signal has asked for the end.
  std::function<absl::Status()> stopped;
  std::function<void(const std::string& line)> say;
};

// Measures AllReduce by itself for the networks and numbers of hosts of a
// comparison, with `shoal bench allreduce` on each host. Thread-hostile: starts
// processes.
class CollectiveRun {
 public:
  explicit CollectiveRun(CollectiveRunOptions options)
      : options_(std::move(options)) {}

  // Fills in found->collective and found->collective_notes for the cells of
  // *found: from the files of before, and, if `measure`, by measuring what is
  // not there. What cannot be measured is said and noted, and is no error.
  // Errors: CANCELLED (a signal), those of the file system and of
  // `paused_speed`.
  absl::Status Add(bool measure, Comparison* found) const;

 private:
  std::string PathOf(const CollectiveCase& ring) const;
  // The file of before, if there is one that can be used.
  std::optional<CollectiveFile> Before(const CollectiveCase& ring,
                                       const CollectiveTurns& turns) const;
  absl::Status Keep(const CollectiveCase& ring,
                    const CollectiveFile& file) const;
  absl::StatusOr<CollectiveFile> Measure(const CollectiveCase& ring,
                                         const CollectiveTurns& turns,
                                         PausedSpeed paused_speed) const;
  absl::StatusOr<AllReduceResult> Run(const CollectiveCase& ring,
                                      const CollectiveTurns& turns,
                                      double paused_speed) const;
  std::string SettingsOf(const CollectiveCase& ring,
                         const CollectiveTurns& turns) const;

  const CollectiveRunOptions options_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_RUN_COLLECTIVE_H_
