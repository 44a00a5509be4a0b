#ifndef SHOAL_CLUSTER_CHECKPOINT_SAVER_H_
#define SHOAL_CLUSTER_CHECKPOINT_SAVER_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "cluster/membership.h"
#include "core/cluster_service.h"
#include "core/save_messages.h"

namespace shoal {

struct CheckpointSaverOptions {
  // From Begin until every shard is written: longer, and the checkpoint is
  // void. Training stands still for as long, and for the manifest.
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
// Every shard's file is there: write the manifest, then call OnCommitted.
struct SaverCommit {
  uint64_t number = 0;
  std::string directory;             // its name
  uint64_t attempt = 0;              // as in SaveShard
  std::vector<std::string> entries;  // by shard
};
// The save is over. OK: `directory` is a checkpoint. Otherwise it is void, for
// this reason, and training goes on.
struct SaverDone {
  absl::Status status;
  std::string directory;  // its name
  uint64_t step = 0;
  bool fresh = false;   // false: it was there before
  absl::Duration took;  // training stood still for so long
};
using SaverAction = std::variant<SaverSend, SaverMend, SaverCommit, SaverDone>;
using SaverActions = std::vector<SaverAction>;

// The protocol that saves a checkpoint, as pure logic: (state, event, now) →
// actions. One save at a time.
//
//   idle --Begin--> holding --every worker held--> sealing --every PS held-->
//     marks equal on all shards: writing --every shard saved--> committing
//                                        --manifest written--> idle
//     some batch is half-marked: mending --those batches trained--> sealing
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
// From Begin to the end withholds() is true: nobody may be given another lease.
// A PS that dies ends the job, as it does at any time. Thread-compatible.
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
  bool withholds() const { return busy(); }
  // What it waits for, for people; empty if idle.
  std::string WaitingFor(const View& view) const;

  // Begins a save; where the newest checkpoint is of this very step, that is
  // the answer at once. REQUIRES: !busy(). `deadline`: an earlier one than the
  // options', or InfiniteFuture.
  SaverActions Begin(const View& view, absl::Time deadline, absl::Time now);
  // Makes the deadline of a save that is under way an earlier one.
  void Hurry(absl::Time deadline) { deadline_ = std::min(deadline_, deadline); }

  void OnHeld(const Member& from, const Held& held);
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
  SaverActions Void(const absl::Status& why, absl::Time now);

 private:
  enum class Phase {
    kIdle,
    kHolding,
    kSealing,
    kMending,
    kWriting,
    kCommitting
  };

  void Send(Life to, CoordinatorMessage message);
  void StartSealing(const View& view);
  void CheckSeals(const View& view);
  void StartMending(const View& view);
  void CheckMends(const View& view);
  void CheckWritten(const View& view);
  // Lets everybody go who is held.
  void Release();
  void ReleaseShards();
  void Finish(absl::Status status, absl::Time now);
  SaverActions Take() { return std::exchange(actions_, {}); }

  CheckpointSaverOptions options_;
  SaverActions actions_;
  Phase phase_ = Phase::kIdle;
  uint64_t next_number_ = 1;
  std::string saved_directory_;  // the newest checkpoint; empty: none
  uint64_t saved_step_ = 0;

  // Of the save under way.
  absl::Time began_;
  absl::Time deadline_;
  std::string directory_;
  uint64_t step_ = 0;
  uint64_t attempt_ = 0;
  absl::Status failure_;         // of a part; voids the save at the next Step
  uint64_t hold_ = 0;            // number of the workers' Hold
  std::set<Life> told_;          // workers that were told to hold
  std::set<Life> held_;          // and have answered
  uint64_t seal_ = 0;            // number of the PSs' Hold
  std::map<int, Life> sealing_;  // PSs that were told, by index
  std::map<int, MarkTotals> sealed_;    // and have answered
  std::vector<SaverMend> to_mend_;      // not leased yet
  std::map<uint64_t, Life> mends_;      // leases under way, whose
  std::map<int, std::string> entries_;  // of the shards that are written
  ManifestOffer manifest_;
  bool committed_ = false;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_CHECKPOINT_SAVER_H_
