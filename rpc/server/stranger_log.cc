#include "rpc/server/stranger_log.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace shoal {

std::string PeerText(absl::string_view peer) {
  const size_t scheme = peer.find(':');
  if (scheme == absl::string_view::npos) return std::string(peer);
  return absl::StrReplaceAll(peer.substr(scheme + 1),
                             {{"%5B", "["}, {"%5D", "]"}, {"%25", "%"}});
}

void StrangerLog::Refused(absl::string_view peer, const absl::Status& why) {
  if (log_ == nullptr) return;
  const std::string address = PeerText(peer);
  const std::string host = address.substr(0, address.rfind(':'));
  {
    MutexLock lock(&mu_);
    if (hosts_.size() >= kMostHosts || !hosts_.insert(host).second) return;
  }
  log_(absl::StrCat("refused a process that calls from ", address, ": ",
                    why.message(), "; further calls from ", host,
                    " are refused without a line"));
}

}  // namespace shoal
