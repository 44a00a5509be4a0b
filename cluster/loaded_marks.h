#ifndef SHOAL_CLUSTER_LOADED_MARKS_H_
#define SHOAL_CLUSTER_LOADED_MARKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "core/mark_run.h"
#include "core/save_messages.h"

namespace shoal {

// What the PSs have loaded from a checkpoint: of each the totals of its marks,
// which must be equal, and the marks themselves of one PS, which come in parts.
// Time by what is added, not by what is there. Pure logic; thread-compatible.
class LoadedMarks {
 public:
  // The shard is there. DATA_LOSS: it has other marks than another one has.
  absl::Status AddShard(int shard, const MarkTotals& marks);
  // The shard is not there any more. What it has told of its marks is of no
  // use.
  void Drop(int shard);

  bool has(int shard) const { return shards_.count(shard) != 0; }
  size_t shards() const { return shards_.size(); }

  // The PS whose runs are gathered, or that is to be asked for them. REQUIRES:
  // shards() != 0.
  int source() const { return source_.value_or(shards_.begin()->first); }
  // What to ask source() for now, if anything: one part is under way at a time.
  std::optional<MarkRunsRequest> Ask();
  // The answer of `shard`. Errors:
  //   INVALID_ARGUMENT  it was not asked for; it does not begin where the last
  //                     part ended; a run is out of order
  //   DATA_LOSS         the last part, where all runs together are not what the
  //                     shard's totals say
  absl::Status Add(int shard, MarkRuns part);
  // All runs are there.
  bool whole() const { return whole_; }
  // They, and none after that. REQUIRES: whole().
  std::vector<MarkRun> Take() { return std::move(runs_); }

 private:
  std::map<int, MarkTotals> shards_;
  std::optional<int> source_;  // that was asked
  bool asked_ = false;         // and has not answered
  std::vector<MarkRun> runs_;
  MarkTotals counted_;  // of runs_, without their digest
  bool whole_ = false;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LOADED_MARKS_H_
