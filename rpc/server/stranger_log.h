#ifndef SHOAL_RPC_SERVER_STRANGER_LOG_H_
#define SHOAL_RPC_SERVER_STRANGER_LOG_H_

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/mutex.h"

namespace shoal {

// gRPC's form of a peer ("ipv4:10.0.0.1:40000", "ipv6:%5B::1%5D:40000") as
// people write it: "10.0.0.1:40000", "[::1]:40000".
std::string PeerText(absl::string_view peer);

// Lines about hosts whose calls do not bear the token. Each host is named once,
// and at most kMostHosts hosts are. Thread-safe.
class StrangerLog {
 public:
  static constexpr size_t kMostHosts = 100;

  // `log` takes the lines, on the caller's thread; may be null.
  explicit StrangerLog(std::function<void(const std::string& line)> log)
      : log_(std::move(log)) {}

  // A call of `peer`, in gRPC's form, was refused.
  void Refused(absl::string_view peer, const absl::Status& why);

 private:
  const std::function<void(const std::string& line)> log_;
  Mutex mu_;
  std::set<std::string> hosts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_STRANGER_LOG_H_
