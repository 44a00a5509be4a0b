#include "coordinator/refusal_log.h"

#include "absl/strings/str_cat.h"
#include "base/may_pass.h"
#include "core/member_name.h"

namespace shoal {
namespace {

// CANCELLED: the call ended with its connection.
bool Passes(const absl::Status& why) {
  return MayPass(why) || absl::IsCancelled(why);
}

}  // namespace

std::string RefusalLog::Line(const RegisterRequest& request,
                             const absl::Status& why) {
  if (Passes(why) || lines_ >= kMostLines) return "";
  if (refused_.size() >= kMostProcesses) refused_.clear();
  const int times = ++refused_[{request.process, why.code()}];
  if (times != (absl::IsAlreadyExists(why) ? kMostAttempts : 1)) return "";
  const std::string name = MemberName(request, ps_);
  const bool rank =
      !request.ring_address.empty() ||
      name != ProcessName(request.role, request.index);
  if (rank && !ranks_.insert(absl::StrCat(name, ": ", why.message())).second) {
    return "";
  }
  ++lines_;
  return absl::StrCat(
      "refused ", name,
      request.peer.empty() ? "" : absl::StrCat(", which calls from ",
                                               request.peer),
      ": ", why.message(),
      lines_ == kMostLines ? "; further refusals are not logged" : "");
}

}  // namespace shoal
