#ifndef SHOAL_COORDINATOR_REFUSAL_LOG_H_
#define SHOAL_COORDINATOR_REFUSAL_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/ps_members.h"
#include "core/registration.h"

namespace shoal {

// The lines about processes whose registration is refused, for the log of the
// job: a process that is not let in knows why, but its log is on another host.
// A process is named once for each kind of error, however often it asks, and at
// most kMostLines lines come in all. The two members in the process of a rank
// (core/ps_members.h) are refused for one reason, which is told once.
// Thread-compatible.
class RefusalLog {
 public:
  static constexpr size_t kMostLines = 100;

  // `ps` are the PSs of the job.
  explicit RefusalLog(const PsMembers& ps = {}) : ps_(ps) {}

  // The line to log, or "": the refusal needs none. A process that another one
  // must leave room for (ALREADY_EXISTS) gets it only if it still asks after
  // kMostAttempts attempts: a process that is started again comes before the
  // end of the one before it is seen. Errors that pass by themselves get none.
  std::string Line(const RegisterRequest& request, const absl::Status& why);

 private:
  static constexpr int kMostAttempts = 5;
  static constexpr size_t kMostProcesses = 1000;

  const PsMembers ps_;
  // By process and code: the number of refusals.
  std::map<std::pair<uint64_t, absl::StatusCode>, int> refused_;
  std::set<std::string> ranks_;  // what was told about ranks
  size_t lines_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_REFUSAL_LOG_H_
