#ifndef SHOAL_JOB_JOINED_END_H_
#define SHOAL_JOB_JOINED_END_H_

#include <optional>

#include "core/cluster_member.h"

namespace shoal {

// The ends of the parts of one process, each a member of the job, as one end.
// An end of the whole job says more than that of a part, then one that says
// that the job goes on without the process, and then an error more than OK;
// among equals the first end counts. Thread-compatible.
class JoinedEnd {
 public:
  // REQUIRES: parts >= 1.
  explicit JoinedEnd(int parts);

  // A part has ended. Returns the end of the process if this was the last part.
  std::optional<MemberEnd> Add(MemberEnd end);

 private:
  int left_;
  std::optional<MemberEnd> end_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_JOINED_END_H_
