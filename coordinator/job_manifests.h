#ifndef SHOAL_COORDINATOR_JOB_MANIFESTS_H_
#define SHOAL_COORDINATOR_JOB_MANIFESTS_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "checkpoint/manifest_parts.h"
#include "cluster/checkpoint_saver.h"
#include "coordinator/checkpoint_options.h"
#include "coordinator/coordinator_actions.h"
#include "core/save_messages.h"

namespace shoal {

// The manifests of a job: the newest, for PSs that ask for it, and the manifest
// of the save under way. Pure logic; thread-compatible.
//
//   none --Cut--> cut --Finish--> being written --OnWritten--> the newest
//   any --Drop--> none, and the newest stays
class JobManifests {
 public:
  // At first the newest is the manifest of the checkpoint that the job begins
  // from, if any.
  explicit JobManifests(const CheckpointOptions& options);

  // Keeps the manifest without its shards, since training goes on while the
  // shards are synced.
  void Cut(Manifest manifest) { cut_ = std::move(manifest); }
  // The shards' files are on the disk: the action that writes the manifest.
  // INVALID_ARGUMENT names the PS whose entry cannot be read, or says what does
  // not fit.
  absl::StatusOr<CommitAction> Finish(SaverCommit commit);
  // The manifest is written.
  void OnWritten(ManifestText text);
  // The save is over.
  void Drop() { cut_ = Manifest(); }

  // The part asked for; an empty part if the newest manifest is another, or if
  // there is no manifest.
  ManifestPart Answer(const ManifestRequest& request) const;

 private:
  std::string directory_;  // directory of the newest manifest
  ManifestText text_;      // text of the newest manifest
  Manifest cut_;
  std::string being_written_;  // directory of the manifest being written
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_MANIFESTS_H_
