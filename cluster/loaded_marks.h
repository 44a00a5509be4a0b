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

// Which PSs have their state, and what that is: of each the totals of the marks
// that it has loaded from a checkpoint, which must be equal, and the marks
// themselves of one PS, which come in parts. Time by what is added, not by what
// is there. Pure logic; thread-compatible.
class LoadedMarks {
 public:
  // Of a job with so many shards; of none, all() is never true. `wanted`: it
  // goes on from the marks themselves, which are asked for.
  explicit LoadedMarks(int num_shards = 0, bool wanted = true)
      : num_shards_(static_cast<size_t>(num_shards)), wanted_(wanted) {}

  // The shard is there; one that starts from the initial values has no marks.
  // DATA_LOSS: it has other marks than another one has.
  absl::Status AddShard(int shard, const MarkTotals& marks);
  // The shard is not there any more. What it has told of its marks is of no
  // use.
  void Drop(int shard);

  bool has(int shard) const { return shards_.count(shard) != 0; }
  // Every shard is there, and so are the marks, where they are wanted.
  bool all() const {
    return num_shards_ != 0 && shards_.size() == num_shards_ &&
           (whole_ || !wanted_);
  }

  // The PS whose runs are gathered, or that is to be asked for them. REQUIRES:
  // has() of some shard.
  int source() const {
    SHOAL_DCHECK(!shards_.empty());
    return source_.value_or(shards_.begin()->first);
  }
  // What to ask source() for now, if anything: one part is under way at a time.
  std::optional<MarkRunsRequest> Ask();
  // The answer of `shard`. Errors:
  //   INVALID_ARGUMENT  it was not asked for; it does not begin where the last
  //                     part ended; a run is out of order
  //   DATA_LOSS         the last part, where all runs together are not what the
  //                     shard's totals say
  absl::Status Add(int shard, MarkRuns part);
  // All runs, and none after that. REQUIRES: all(), or the last part was added.
  std::vector<MarkRun> Take() {
    SHOAL_DCHECK(whole_);
    return std::move(runs_);
  }

 private:
  size_t num_shards_;
  bool wanted_;
  std::map<int, MarkTotals> shards_;
  std::optional<int> source_;  // that was asked
  bool asked_ = false;         // and has not answered
  std::vector<MarkRun> runs_;
  MarkTotals counted_;  // of runs_, without their digest
  bool whole_ = false;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LOADED_MARKS_H_
