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

// The manifests of a job: the newest, for PSs that ask for it, and the one of
// the save under way. Pure logic; thread-compatible.
//
//   none --Cut--> cut --Finish--> being written --OnWritten--> the newest
//   Drop at any time: none, and the newest stays
class JobManifests {
 public:
  // The newest is the one that the job begins from, if any.
  explicit JobManifests(const CheckpointOptions& options);

  // What the manifest says but for its shards: training changes that while the
  // shards are synced.
  void Cut(Manifest manifest) { cut_ = std::move(manifest); }
  // The shards' files are on the disk: what is to be written. INVALID_ARGUMENT
  // names the PS whose entry cannot be read, or says what does not fit.
  absl::StatusOr<CommitAction> Finish(SaverCommit commit);
  // It is written.
  void OnWritten(ManifestText text);
  // The save is over.
  void Drop() { cut_ = Manifest(); }

  // The answer; an empty one if the newest is another, or there is none.
  ManifestPart Answer(const ManifestRequest& request) const;

 private:
  std::string directory_;  // of the newest
  ManifestText text_;
  Manifest cut_;
  std::string being_written_;  // its directory
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_MANIFESTS_H_
