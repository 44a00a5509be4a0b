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
  // `num_members`: PSs of the job; with 0, all() is never true. `wanted`: the
  // job goes on from the marks, so a PS is asked for them.
  explicit LoadedMarks(int num_members = 0, bool wanted = true)
      : num_members_(static_cast<size_t>(num_members)), wanted_(wanted) {}

  // The PS has its state, with these marks; a PS that starts from the initial
  // values has none. Each replica of a shard loads it for itself. DATA_LOSS:
  // another PS has other marks.
  absl::Status AddMember(int member, const MarkTotals& marks);
  // The PS is gone. The marks that it has sent are dropped.
  void Drop(int member);
  // The PS, a replica, was lost after all() was true: the job goes on without
  // it.
  void Leave(int member) { num_members_ -= members_.erase(member); }

  bool has(int member) const { return members_.count(member) != 0; }
  // True if every PS has its state and the marks, if wanted, are whole.
  bool all() const {
    return num_members_ != 0 && members_.size() == num_members_ &&
           (whole_ || !wanted_);
  }

  // The PS that sends its marks, or that is to be asked for them. REQUIRES:
  // has() of some PS.
  int source() const {
    SHOAL_DCHECK(!members_.empty());
    return source_.value_or(members_.begin()->first);
  }
  // The part to ask source() for now, if any. One part is under way at a time.
  std::optional<MarkRunsRequest> Ask();
  // Adds the answer of a PS. Errors:
  //   INVALID_ARGUMENT  the part was not asked for; it does not begin where the
  //                     last part ended; a run is out of order
  //   DATA_LOSS         this is the last part, and all runs together do not add
  //                     up to the PS's totals
  absl::Status Add(int member, MarkRuns part);
  // Takes all runs, once. REQUIRES: all(), or the last part was added.
  std::vector<MarkRun> Take() {
    SHOAL_DCHECK(whole_);
    return std::move(runs_);
  }

 private:
  size_t num_members_;
  bool wanted_;
  std::map<int, MarkTotals> members_;
  std::optional<int> source_;  // the PS that was asked
  bool asked_ = false;         // source_ has not answered yet
  std::vector<MarkRun> runs_;
  MarkTotals counted_;  // totals of runs_, without their digest
  bool whole_ = false;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LOADED_MARKS_H_
