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

// The name of the note (Manifest::notes) of a checkpoint that was saved while
// training looked as if it diverged (DivergenceWatch::Sound). Its text says
// nothing; a manifest of an older release has no such note.
inline constexpr char kDivergingNote[] = "diverging";

// The checkpoints that a job writes, and the checkpoint from which it begins.
struct CheckpointOptions {
  // True if the job writes checkpoints: at its end, on request and when it is
  // stopped.
  bool save = false;
  std::string model_dir;    // for messages; the coordinator touches no file
  uint64_t save_steps = 0;  // job steps between checkpoints; 0: not counted
  // Time from the end of one checkpoint to the next, counted from the first
  // lease; zero: not counted.
  absl::Duration save_every;
  // The variables, as the manifest describes them.
  ModelSpec model;
  ShardMap map;
  // The longest time for which training may stand still for a checkpoint; after
  // that the checkpoint is void. Then the disks have the same time again. If
  // they are later, a warning says so; at the job's end the job does not wait
  // longer.
  absl::Duration deadline = absl::Seconds(120);
  // The same once the job was asked to stop.
  absl::Duration stop_deadline = absl::Seconds(20);
  // Time for which a job tries again to save its last checkpoint while the disk
  // is full, and the pause before each try. A job that is to stop tries again
  // within the stop's deadline alone.
  absl::Duration retry_for = absl::Seconds(60);
  absl::Duration retry_pause = absl::Seconds(2);
  // Number of checkpoints that are kept, the newest ones; 0: all.
  int keep = 0;
  // Number in the files' names: larger than that of every earlier job on the
  // same model directory.
  uint64_t first_attempt = 1;

  // The checkpoint to begin from; null: begin from the initial values.
  std::shared_ptr<const Manifest> resume;
  std::string resume_name;   // its directory below the model directory
  ManifestText resume_text;  // the manifest, as the PSs get it
  // The path of that checkpoint, for messages.
  std::string resume_path() const {
    return absl::StrCat(model_dir, "/", resume_name);
  }
  // If that checkpoint has the note kDivergingNote: the path and step of the
  // newest older checkpoint without it; empty: there is none.
  std::string sound_path;
  uint64_t sound_step = 0;
  // True: the job goes on where the checkpoint was made, with its marks and
  // data. False: the job takes the weights alone (evaluation, inference).
  bool resume_training = true;
  // False: the same command refuses a model directory that has a checkpoint
  // (--resume=never).
  bool same_command_resumes = true;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_CHECKPOINT_OPTIONS_H_
