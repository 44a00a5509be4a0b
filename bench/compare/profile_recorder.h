#ifndef SHOAL_BENCH_COMPARE_PROFILE_RECORDER_H_
#define SHOAL_BENCH_COMPARE_PROFILE_RECORDER_H_

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"
#include "bench/compare/cell_launcher.h"

namespace shoal {

struct ProfileRecorderOptions {
  int many_epochs = 1000;             // as CellRunnerOptions
  std::string folder;                 // of the profiles; it exists
  const FileSystem* files = nullptr;  // outlives the recorder
};

struct RecordedProfile {
  std::string path;
  // Mean number of cores that others used while it was recorded
  // (cpu_watch.h); 0: it was recorded for another run.
  double others_cores = 0;
};

// Records the computation that replayed cells play (docs/comparing.md).
// Thread-hostile, as CellLauncher.
class ProfileRecorder {
 public:
  // The launcher outlives the recorder.
  ProfileRecorder(ProfileRecorderOptions options, const CellLauncher* launcher)
      : options_(std::move(options)), launcher_(launcher) {}

  // A profile for a repeat of the cell, which is recorded if this recorder has
  // none: of one host of the cell, as it computes beside all else that it does
  // in this mode. What an earlier command recorded is not used, since no file
  // says under which conditions that was. Each repeat has its own, since the
  // machine computes faster in some minutes than in others, and is recorded
  // anew if the paused speed is not nearly that of its record: the times of a
  // record are longer by what pauses cost then. So is one that others disturbed
  // (kOthersMost), after the run of now, which is disturbed by it.
  absl::StatusOr<RecordedProfile> ProfileOf(const Cell& cell, int repeat,
                                            double paused_speed);

 private:
  struct Recorded {
    double paused_speed = 1;
    bool disturbed = false;
  };

  // Whether this recorder made one that will do, of nearly this paused speed.
  bool Has(const std::string& path, double paused_speed) const;

  const ProfileRecorderOptions options_;
  const CellLauncher* const launcher_;
  std::map<std::string, Recorded> recorded_;  // by the profile's path
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_PROFILE_RECORDER_H_
