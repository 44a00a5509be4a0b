#ifndef SHOAL_CLUSTER_CHECKPOINT_SAVER_H_
#define SHOAL_CLUSTER_CHECKPOINT_SAVER_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "cluster/membership.h"
#include "core/ids.h"
#include "core/mark_run.h"
#include "core/save_messages.h"
#include "core/session_messages.h"

namespace shoal {

struct CheckpointSaverOptions {
  // From Begin until every shard is written: longer, and the checkpoint is
  // void. Training stands still for as long. The disks have the same time again
  // for syncing the shards and the manifest: longer, and SaverLate says so.
  absl::Duration deadline = absl::Seconds(120);
  // In the names of the files: larger than that of any job before on the same
  // model directory.
  uint64_t first_attempt = 1;
};

// What the owner must do, in order.
struct SaverSend {
  Life to;
  CoordinatorMessage message;
};
// Give a worker a lease of the batches of this piece that some shards have
// marked and others not, and tell OnMendGranted. Comes again where it could not
// be given.
struct SaverMend {
  uint32_t epoch = 0;
  uint32_t piece = 0;

  friend bool operator==(const SaverMend&, const SaverMend&) = default;
};
// Every shard has the same marks, which are the coordinator's, and nothing
// changes until SaverReleased: take down now what the manifest says of the job.
struct SaverCut {
  uint64_t attempt = 0;  // as in SaveShard
};
// The workers and shards were let go: training goes on.
struct SaverReleased {};
// The disks have had their time, and something is not synced yet. Busy until
// they answer: a save that is not void is not done either.
struct SaverLate {
  uint64_t step = 0;        // of the cut
  absl::Duration began;     // so long ago
  std::string waiting_for;  // for people
};
// Every shard's file is on the disk: write the manifest, then call OnCommitted.
struct SaverCommit {
  uint64_t number = 0;
  std::string directory;             // its name
  std::vector<std::string> entries;  // by shard
};
// The save is over. OK: `directory` is a checkpoint. Otherwise it is void, for
// this reason.
struct SaverDone {
  absl::Status status;
  std::string directory;  // its name
  uint64_t step = 0;      // of the cut, if there was one
  bool fresh = false;     // false: it was there before
  absl::Duration took;    // training stood still for so long
};
using SaverAction = std::variant<SaverSend, SaverMend, SaverCut, SaverReleased,
                                 SaverLate, SaverCommit, SaverDone>;
using SaverActions = std::vector<SaverAction>;

// The protocol that saves a checkpoint, as pure logic: (state, event, now) →
// actions. One save at a time.
//
//   idle --Begin--> holding --every worker held--> sealing --every PS held-->
//     marks equal on all shards: writing --every shard written--> syncing
//         --every shard on the disk--> committing --manifest written--> idle
//     some batch is half-marked: mending --those batches trained--> sealing
//   any of them --void--> clearing --every shard that was to save answered-->
//   idle
//
// Holding: workers end the batches that they began. A worker that dies then, or
// had died before, leaves batches that some shards have and others lack, and
// bytes on their way to shards. Sealing: shards refuse every push, so that no
// byte still on its way counts, and tell of all their marks. So after sealing
// the coordinator's marks are the shards', for good; if a batch is half-marked
// the shards are let go again and the held workers train just those batches.
// What is written is one set of batches, the same on every shard: their summary
// (count and digest) is compared before anything is written.
//
// From Begin until every shard is written withholds() is true: no worker may be
// given another lease. Then all are let go, and training goes on while the
// disks sync, however long that takes: what the job has trained by the end of a
// save is not what the checkpoint holds. Only a save that is hurried, since the
// job is to stop after it, holds them to its end. A sync or a manifest that is
// under way cannot be taken back, so no deadline voids a save then. Clearing:
// SaverDone was said, but a shard that still writes or syncs could take no part
// in another save. A PS that dies ends the job, as it does at any time.
// Thread-compatible.
class CheckpointSaver {
 public:
  explicit CheckpointSaver(CheckpointSaverOptions options)
      : options_(options) {}
  CheckpointSaver() : CheckpointSaver(CheckpointSaverOptions{}) {}

  // What the saver looks at, as it is now.
  struct View {
    MembersView ps;       // whose session is open, by index
    MembersView workers;  // whose session is open
    size_t num_ps = 1;
    uint64_t step = 0;  // batches with all marks
    // (epoch, piece) with a batch that some shards have marked and others not.
    absl::Span<const std::pair<uint32_t, uint32_t>> half_marked;
  };

  // There is a checkpoint of this step: the one that the job began from.
  void SetSaved(uint64_t step, std::string directory);

  bool busy() const { return phase_ != Phase::kIdle; }
  bool withholds() const { return busy() && !released_.has_value(); }
  // SaverLate was said of the save under way.
  bool late() const { return OnDisk() && late_; }
  // What it waits for, for people; empty if idle.
  std::string WaitingFor(const View& view) const;

  // Begins a save; where the newest checkpoint is of this very step, that is
  // the answer at once. REQUIRES: !busy(). `deadline`: InfiniteFuture, or of a
  // job that is to stop then.
  SaverActions Begin(const View& view, absl::Time deadline, absl::Time now);
  // The job is to stop by then: a save that is under way has earlier deadlines.
  void Hurry(absl::Time deadline) {
    hurry_ = std::min(hurry_, deadline);
    deadline_ = std::min(deadline_, deadline);
  }

  void OnHeld(const Member& from, const Held& held);
  void OnWritten(const Member& from, const ShardWritten& written);
  void OnSaved(const Member& from, ShardSaved& saved);
  void OnMendGranted(const SaverMend& mend, uint64_t lease, Life worker);
  // LeaseDone (OK) or LeaseFailed of any lease.
  void OnLeaseEnd(uint64_t lease, const absl::Status& status);
  // Of the SaverCommit with this number.
  void OnCommitted(uint64_t number, const absl::Status& status,
                   ManifestOffer manifest);

  // As far as it goes; to be called after every event.
  SaverActions Step(const View& view, absl::Time now);

  // The save is given up.
  SaverActions Void(absl::Status why, absl::Time now);

 private:
  enum class Phase {
    kIdle,
    kHolding,
    kSealing,
    kMending,
    kWriting,
    kSyncing,
    kCommitting,
    kClearing
  };

  struct Saved {
    std::string directory;  // empty: there is none
    uint64_t step = 0;
  };

  // What a save has by phases; each begins empty with the save.
  struct HeldWorkers {    // kHolding, until they are let go
    uint64_t number = 0;  // of their Hold
    std::set<Life> told;
    std::set<Life> held;  // have answered
  };
  struct SealedShards {  // kSealing, anew after each kMending
    // Of their Hold, and of all that comes of it: SaveShard, SaverCommit.
    uint64_t number = 0;
    std::map<int, Life> told;         // by index; until they are let go
    std::map<int, MarkTotals> marks;  // of those that have answered
  };
  struct Mends {  // kMending
    std::vector<SaverMend> to_lease;
    std::map<uint64_t, Life> leases;  // under way, whose
  };
  struct ShardFiles {                    // kWriting to kClearing
    std::map<int, Life> told;            // to save, by index
    std::set<int> written;               // have every byte
    std::set<int> answered;              // with ShardSaved
    std::map<int, std::string> entries;  // of those that are on the disk
  };
  struct Commit {                        // kCommitting
    std::optional<absl::Status> status;  // once the manifest is decided
    ManifestOffer manifest;
  };

  // Training goes on, and the disks decide.
  bool OnDisk() const { return phase_ >= Phase::kSyncing; }
  void CheckDeadline(const View& view, absl::Time now);
  void Send(Life to, CoordinatorMessage message);
  void StartSealing(const View& view);
  void CheckSeals(const View& view);
  void StartMending(const View& view);
  void CheckMends(const View& view);
  void CheckWritten(const View& view, absl::Time now);
  void CheckSynced(const View& view);
  void CheckCleared();
  // Lets go every worker and shard that is held.
  void Release(absl::Time now);
  void ReleaseShards();
  void Finish(absl::Status status, absl::Time now);
  SaverActions Take() { return std::exchange(actions_, {}); }

  CheckpointSaverOptions options_;
  SaverActions actions_;
  Phase phase_ = Phase::kIdle;
  uint64_t next_number_ = 1;
  Saved saved_;  // the newest checkpoint

  // Of the save under way.
  absl::Time began_;
  absl::Time hurry_;     // when the job is to stop; InfiniteFuture: not
  absl::Time deadline_;  // of holding to writing, or of the disks
  bool late_ = false;    // the disks', which was said
  std::optional<absl::Time> released_;  // when workers and shards were let go
  std::string directory_;
  uint64_t step_ = 0;
  absl::Status failure_;  // of a part; voids the save at the next Step
  HeldWorkers workers_;
  SealedShards seals_;
  Mends mends_;
  ShardFiles files_;
  Commit commit_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_CHECKPOINT_SAVER_H_
