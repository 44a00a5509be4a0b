#ifndef SHOAL_PS_SHARD_SHARD_CHECKPOINT_H_
#define SHOAL_PS_SHARD_SHARD_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "checkpoint/manifest.h"
#include "core/model_spec.h"
#include "core/unseen.h"

namespace shoal {

// Options of ParameterShard::Write (docs/checkpoint_format.md).
struct SaveShardOptions {
  const FileSystem* files = nullptr;
  std::string directory;  // the checkpoint's; created if absent
  uint64_t attempt = 0;   // names the temporary file; noted in the entry
  uint64_t step = 0;      // noted in the file
  // Time to wait for the end of requests that may change the shard.
  absl::Duration quiet_timeout = absl::Seconds(10);
  // Called between blocks and after the sync, on the caller's thread. If it
  // returns true, the save ends (CANCELLED) and leaves no file. May be empty.
  std::function<bool()> cancelled;
};

// Options of ParameterShard::Load.
struct LoadShardOptions {
  const FileSystem* files = nullptr;
  std::string directory;  // the checkpoint's; holds the files that this shard
                          // needs
  const Manifest* manifest = nullptr;  // the checkpoint's
  // True to load weights only, for evaluation and inference. Then slots keep
  // their initial values, there are no marks, the optimizers may differ from
  // the checkpoint's, and tables that are on every shard (the canary) are left
  // out.
  bool weights_only = false;
  // The values of table rows that the checkpoint does not have. Other than
  // kInitial only with weights_only.
  Unseen unseen = Unseen::kInitial;
};

// Checks that a shard of `model` can be loaded from a checkpoint of the model
// `saved`. FAILED_PRECONDITION names the first variable that differs, the
// difference, and the flag that decides it. Learning rates and seeds may
// differ: the seed of the initial values is the checkpoint's.
absl::Status CheckLoadable(const ModelSpec& saved, const ModelSpec& model,
                           bool weights_only);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SHARD_CHECKPOINT_H_
