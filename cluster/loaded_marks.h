#ifndef SHOAL_CLUSTER_LOADED_MARKS_H_
#define SHOAL_CLUSTER_LOADED_MARKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/check.h"
#include "core/mark_run.h"
#include "core/save_messages.h"

namespace shoal {

// The PSs that have their state, and the marks that they have loaded from a
// checkpoint. All PSs must have equal totals of marks; the marks themselves
// come from one PS, in parts. The time of a call grows with the marks that
// it adds, not with the marks that are there. Pure logic; thread-compatible.
class LoadedMarks {
 public:
  // `num_shards`: shards of the job; with 0, all() is never true. `wanted`: the
  // job goes on from the marks, so a PS is asked for them.
  explicit LoadedMarks(int num_shards = 0, bool wanted = true)
      : num_shards_(static_cast<size_t>(num_shards)), wanted_(wanted) {}

  // The shard has its state, with these marks; a shard that starts from the
  // initial values has none. DATA_LOSS: another shard has other marks.
  absl::Status AddShard(int shard, const MarkTotals& marks);
  // The shard's PS is gone. The marks that it has sent are dropped.
  void Drop(int shard);

  bool has(int shard) const { return shards_.count(shard) != 0; }
  // True if every shard has its state and the marks, if wanted, are whole.
  bool all() const {
    return num_shards_ != 0 && shards_.size() == num_shards_ &&
           (whole_ || !wanted_);
  }

  // The PS that sends its marks, or that is to be asked for them. REQUIRES:
  // has() of some shard.
  int source() const {
    SHOAL_DCHECK(!shards_.empty());
    return source_.value_or(shards_.begin()->first);
  }
  // The part to ask source() for now, if any. One part is under way at a time.
  std::optional<MarkRunsRequest> Ask();
  // Adds the answer of `shard`. Errors:
  //   INVALID_ARGUMENT  the part was not asked for; it does not begin where the
  //                     last part ended; a run is out of order
  //   DATA_LOSS         this is the last part, and all runs together do not add
  //                     up to the shard's totals
  absl::Status Add(int shard, MarkRuns part);
  // Takes all runs, once. REQUIRES: all(), or the last part was added.
  std::vector<MarkRun> Take() {
    SHOAL_DCHECK(whole_);
    return std::move(runs_);
  }

 private:
  size_t num_shards_;
  bool wanted_;
  std::map<int, MarkTotals> shards_;
  std::optional<int> source_;  // the PS that was asked
  bool asked_ = false;         // source_ has not answered yet
  std::vector<MarkRun> runs_;
  MarkTotals counted_;  // totals of runs_, without their digest
  bool whole_ = false;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LOADED_MARKS_H_
