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

namespace shoal {

// How ParameterShard::Write writes a shard (docs/checkpoint_format.md).
struct SaveShardOptions {
  const FileSystem* files = nullptr;
  std::string directory;  // of the checkpoint; made if need be
  uint64_t attempt = 0;   // names the temporary file; noted in the entry
  uint64_t step = 0;      // noted in the file
  // How long to wait for requests that may change the shard to end.
  absl::Duration quiet_timeout = absl::Seconds(10);
  // Asked between blocks and after the sync, on the caller's thread: true ends
  // the save (CANCELLED) and leaves no file. May be empty.
  std::function<bool()> cancelled;
};

// What ParameterShard::Load reads.
struct LoadShardOptions {
  const FileSystem* files = nullptr;
  std::string directory;  // of the checkpoint; with the files that are needed
  const Manifest* manifest = nullptr;  // of the checkpoint
  // For evaluation and inference: weights alone. Slots keep their initial
  // values, there are no marks, the optimizers may be others, and tables that
  // are on every shard (the canary) are left out.
  bool weights_only = false;
};

// Whether a shard of `model` can be loaded from the checkpoint's model.
// FAILED_PRECONDITION names the first variable that differs, how, and the flag
// that says so. Learning rates and seeds may differ: the seed of the initial
// values is the checkpoint's.
absl::Status CheckLoadable(const ModelSpec& saved, const ModelSpec& model,
                           bool weights_only);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SHARD_CHECKPOINT_H_
