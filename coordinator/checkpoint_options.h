#ifndef SHOAL_COORDINATOR_CHECKPOINT_OPTIONS_H_
#define SHOAL_COORDINATOR_CHECKPOINT_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "checkpoint/manifest.h"
#include "checkpoint/manifest_parts.h"
#include "core/model_spec.h"
#include "core/shard_map.h"

namespace shoal {

// Which checkpoints a job writes, and from which it begins.
struct CheckpointOptions {
  // Whether it writes any: at its end, on request and when it is stopped.
  bool save = false;
  std::string model_dir;    // for people; the coordinator touches no file
  uint64_t save_steps = 0;  // and every so many job steps; 0: not
  // What the manifest says of the variables.
  ModelSpec model;
  ShardMap map;
  // How long training may stand still for one: longer, and it is void. Then the
  // disks have as long again: longer, and that is said, or ends the job's end.
  absl::Duration deadline = absl::Seconds(120);
  // The same when the job was asked to stop.
  absl::Duration stop_deadline = absl::Seconds(20);
  // In the files' names; larger than that of every job before.
  uint64_t first_attempt = 1;

  // Begin from this one; null: from the initial values.
  std::shared_ptr<const Manifest> resume;
  std::string resume_name;   // of its directory, below the model directory
  ManifestText resume_text;  // the manifest, as the PSs get it
  // Its path, for people.
  std::string resume_path() const {
    return absl::StrCat(model_dir, "/", resume_name);
  }
  // Go on where it stopped: its marks and data are the job's. Otherwise only
  // the weights are wanted (evaluation, inference).
  bool resume_training = true;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_CHECKPOINT_OPTIONS_H_
