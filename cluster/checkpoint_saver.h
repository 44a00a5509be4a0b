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
#include "core/ps_members.h"
#include "core/save_messages.h"
#include "core/session_messages.h"

namespace shoal {

struct CheckpointSaverOptions {
  // The longest time from Begin until every shard is written, for which
  // training stands still; after that the checkpoint is void. Then the disks
  // have the same time for syncing the shards and the manifest; after that
  // SaverLate says so.
  absl::Duration deadline = absl::Seconds(120);
  // Number in the names of the files: larger than that of every earlier job on
  // the same model directory.
  uint64_t first_attempt = 1;
  // True: while the job holds, a worker can train a batch that not every shard
  // has. False where the workers train in steps of all of them: then such a
  // batch voids the save.
  bool mends = true;
};

// The actions that the owner must perform, in order.
//
// Let the steps of the job come to a hold: View::steps_held will be true once
// no further step is applied. Ends with SaverReleased.
struct SaverHoldSteps {};
struct SaverSend {
  Life to;
  CoordinatorMessage message;
};
// Give a worker a lease of the batches of this piece that some shards have
// marked and others have not, and call OnMendGranted. If that is not possible
// now, this action comes again.
struct SaverMend {
  uint32_t epoch = 0;
  uint32_t piece = 0;

  friend bool operator==(const SaverMend&, const SaverMend&) = default;
};
// Every shard has the marks that the coordinator has, and nothing changes until
// SaverReleased: note now what the manifest says about the job.
struct SaverCut {
  uint64_t attempt = 0;  // as in SaveShard
};
// The workers and shards were released: training goes on.
struct SaverReleased {};
// The disks have had their time, and a file is not synced yet. The saver stays
// busy until they answer: the save is neither void nor done.
struct SaverLate {
  uint64_t step = 0;        // step of the cut
  absl::Duration began;     // time since Begin
  std::string waiting_for;  // for people
};
// Every shard's file is on the disk: write the manifest, then call OnCommitted.
struct SaverCommit {
  uint64_t number = 0;
  std::string directory;             // its name
  // For the manifest, by shard. The entry of shard k is from PS k.
  std::vector<std::string> entries;
};
// The save is over. OK: `directory` is a checkpoint. Otherwise `status` says
// why the checkpoint is void.
struct SaverDone {
  absl::Status status;
  std::string directory;  // its name
  uint64_t step = 0;      // step of the cut, if there was one
  bool fresh = false;     // false: the checkpoint was there before
  absl::Duration took;    // time for which training stood still
  // Copies of one shard have different marks, so that their weights differ:
  // `status` names them, and the job is to end with it.
  bool torn = false;
  // Given up because the workers change, or with them the PS that was to write
  // a shard: the save is due again.
  bool interrupted = false;
};
using SaverAction =
    std::variant<SaverHoldSteps, SaverSend, SaverMend, SaverCut, SaverReleased,
                 SaverLate, SaverCommit, SaverDone>;
using SaverActions = std::vector<SaverAction>;

// The protocol that saves a checkpoint, as pure logic: (state, event, now) →
// actions. One save at a time.
//
//   idle --Begin--> holding --every worker held--> sealing --every PS held-->
//     (if steps are not held: idle --Begin--> agreeing --steps held--> holding)
//     a checkpoint has these marks already: idle
//     marks equal on all PSs: writing --every shard written--> syncing
//         --every shard on the disk--> committing --manifest written--> idle
//     some batch is half-marked: mending --those batches trained--> sealing
//   any of them --void--> clearing --every shard that was to save answered-->
//   idle
//
// Agreeing: in a mode whose PSs apply the pushes of all workers as one step, a
// worker that stood still would keep the others' step open for ever. So the
// steps come to a hold first, and workers get leases until then. Holding:
// workers end the batches that they began. A worker that dies
// meanwhile, or died before, leaves batches that some shards have and others
// lack, and bytes on their way to shards. Sealing: shards refuse every push, so
// that no byte still on its way counts, and send all their marks. After sealing
// the coordinator has exactly the shards' marks. If a batch is half-marked, the
// shards are released again and the held workers train only such batches. A
// checkpoint holds one set of batches, the same on every shard: its summary
// (count and digest) is compared before anything is written. Members that hold
// copies of one shard are all sealed and compared, and the first of them that
// is there writes the shard. All of them hear of the checkpoint, since each may
// have a disk of its own. Copies that differ have had other gradients, which
// nothing mends: the save is void, and the job is to end.
//
// From holding until every shard is written withholds() is true: no worker may
// be given another lease. Then all processes are released, and training goes on
// while the disks sync, however long that takes. So by the end of a save the
// job has trained more than the checkpoint holds. Only a hurried save, after
// which the job stops, holds the processes to its end. A sync or a manifest
// that is under way cannot be taken back, so no deadline voids a save from then
// on. Clearing: SaverDone was returned, but a shard still writes or syncs, and
// could take no part in another save.
//
// A server that dies ends the job, as at any time. A replica may die, and the
// job goes on: if it was to write its shard and is not done, the save is void
// and due again, and no answer of it is awaited. Thread-compatible.
class CheckpointSaver {
 public:
  explicit CheckpointSaver(CheckpointSaverOptions options)
      : options_(options) {}
  CheckpointSaver() : CheckpointSaver(CheckpointSaverOptions{}) {}

  // The job as it is now.
  struct View {
    MembersView ps;       // with an open session, by index
    MembersView workers;  // with an open session
    PsMembers members;    // the PSs of the job, and their shards
    uint64_t step = 0;  // batches with all marks
    bool trained = false;  // every batch of the job has all marks
    // No further step is applied. Always true in a job without steps of all
    // workers.
    bool steps_held = true;
    // The (epoch, piece)s with a batch that some shards have marked and others
    // have not.
    absl::Span<const std::pair<uint32_t, uint32_t>> half_marked;
  };

  // The job began from a checkpoint of this step.
  void SetSaved(uint64_t step, std::string directory);

  bool busy() const { return phase_ != Phase::kIdle; }
  bool withholds() const {
    return busy() && phase_ != Phase::kAgreeing && !released_.has_value();
  }
  // True from Begin until the workers and shards are released.
  bool holds() const {
    return busy() && phase_ != Phase::kClearing && !released_.has_value();
  }
  // SaverLate was returned for the save under way.
  bool late() const { return OnDisk() && late_; }
  // The directory that the save under way writes into; empty: it writes none.
  std::string writing() const {
    return phase_ >= Phase::kWriting ? directory_ : "";
  }
  // The processes or files that the saver waits for, for people; empty if idle.
  std::string WaitingFor(const View& view) const;

  // Begins a save. If the newest checkpoint has every batch that the shards
  // have marked, the save ends with that checkpoint: at once if all is trained,
  // and otherwise with the shards sealed, since they send marks now and then.
  // `deadline`: when the job is to stop, or InfiniteFuture. REQUIRES: !busy().
  SaverActions Begin(const View& view, absl::Time deadline, absl::Time now);
  // The job is to stop by `deadline`: the save under way has earlier deadlines.
  void Hurry(absl::Time deadline) {
    hurry_ = std::min(hurry_, deadline);
    deadline_ = std::min(deadline_, deadline);
  }

  void OnHeld(const Member& from, const Held& held);
  void OnWritten(const Member& from, const ShardWritten& written);
  void OnSaved(const Member& from, ShardSaved& saved);
  void OnMendGranted(const SaverMend& mend, uint64_t lease, Life worker);
  // A worker sent LeaseDone (OK) or LeaseFailed for any lease.
  void OnLeaseEnd(uint64_t lease, const absl::Status& status);
  // The manifest of the SaverCommit with this number is written, or is not.
  void OnCommitted(uint64_t number, const absl::Status& status,
                   ManifestOffer manifest);

  // Goes on as far as the save can. To be called after every event.
  SaverActions Step(const View& view, absl::Time now);

  // The save is given up.
  SaverActions Void(absl::Status why, absl::Time now);
  // The workers of the job change, so they answer no hold: releases what is
  // held, and gives the save up if a shard still needs them
  // (SaverDone::interrupted). If every shard is written, the save goes on.
  SaverActions Interrupt(absl::Status why, absl::Time now);

 private:
  enum class Phase {
    kIdle,
    kAgreeing,
    kHolding,
    kSealing,
    kMending,
    kWriting,
    kSyncing,
    kCommitting,
    kClearing
  };

  struct Saved {
    std::string directory;  // empty: no checkpoint
    uint64_t step = 0;
  };

  // The state of a save, by phases. Each part begins empty with the save.
  struct HeldWorkers {    // kHolding, until they are released
    uint64_t number = 0;  // number of their Hold
    std::set<Life> told;
    std::set<Life> held;  // have answered
  };
  struct SealedShards {  // kSealing, anew after each kMending
    // Number of their Hold and of the SaveShard and SaverCommit that follow.
    uint64_t number = 0;
    std::map<int, Life> told;         // by index; until they are released
    std::map<int, MarkTotals> marks;  // totals of shards that answered
  };
  struct Mends {  // kMending
    std::vector<SaverMend> to_lease;
    std::map<uint64_t, Life> leases;  // under way, with their workers
  };
  struct ShardFiles {                    // kWriting to kClearing
    // The PSs that save, by index: the first member of each shard that is
    // there. So they are in the order of shards.
    std::map<int, Life> told;
    std::vector<Life> sealed;            // all PSs, which get a CheckpointDone
    std::set<int> written;               // have every byte
    std::set<int> answered;              // with ShardSaved
    std::map<int, std::string> entries;  // entries of files on the disk
  };
  struct Commit {                        // kCommitting
    std::optional<absl::Status> status;  // once the manifest is written or not
    ManifestOffer manifest;
  };

  // The disks sync; training goes on unless the save is hurried.
  bool OnDisk() const { return phase_ >= Phase::kSyncing; }
  void CheckDeadline(const View& view, absl::Time now);
  // Awaits nothing of PSs that are not there any more.
  void ForgetLost(const View& view);
  void Send(Life to, CoordinatorMessage message);
  void StartHolding(const View& view);
  void StartSealing(const View& view);
  void CheckSeals(const View& view, absl::Time now);
  // Sets failure_ if copies of one shard have different marks.
  void CompareCopies(const View& view);
  void StartMending(const View& view);
  void CheckMends(const View& view);
  void CheckWritten(const View& view, absl::Time now);
  void CheckSynced(const View& view);
  void CheckCleared();
  // True if the PS writes its shard: the first member of the shard that is
  // there.
  static bool Writes(const View& view, int index);
  // The newest checkpoint has as many batches.
  bool IsSaved(uint64_t step) const {
    return !saved_.directory.empty() && saved_.step == step;
  }
  // Releases every worker and shard that is held.
  void Release(absl::Time now);
  void ReleaseShards();
  // `fresh`: as in SaverDone.
  void Finish(absl::Status status, bool fresh, absl::Time now);
  SaverActions Take() { return std::exchange(actions_, {}); }

  CheckpointSaverOptions options_;
  SaverActions actions_;
  Phase phase_ = Phase::kIdle;
  uint64_t next_number_ = 1;
  Saved saved_;  // the newest checkpoint

  // The save under way.
  absl::Time began_;
  absl::Time hurry_;     // when the job is to stop, or InfiniteFuture
  absl::Time deadline_;  // for holding to writing, then for the disks
  bool late_ = false;    // SaverLate was returned
  std::optional<absl::Time> released_;  // when workers and shards were released
  std::string directory_;
  uint64_t step_ = 0;
  absl::Status failure_;  // a process's failure; voids the save in Step
  bool torn_ = false;     // failure_ ends the job
  bool interrupted_ = false;  // SaverDone::interrupted
  HeldWorkers workers_;
  SealedShards seals_;
  Mends mends_;
  ShardFiles files_;
  Commit commit_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_CHECKPOINT_SAVER_H_
