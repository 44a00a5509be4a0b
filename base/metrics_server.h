#ifndef SHOAL_BASE_METRICS_SERVER_H_
#define SHOAL_BASE_METRICS_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/telemetry.h"

namespace shoal {

// Serves the metrics of a process as Prometheus text at http://ADDRESS/metrics.
// Has two threads of its own; further readers wait. Thread-compatible.
class MetricsServer {
 public:
  // `host` is a name or an address (IPv6 without brackets), `port` in
  // [1, 65535]. `telemetry` outlives the server. ALREADY_EXISTS: the port is in
  // use; INVALID_ARGUMENT, UNAVAILABLE: the address cannot be listened on. The
  // message names the address.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const std::string& host, int port, Telemetry* telemetry);

  // Stops listening and waits for the readers that are being answered.
  ~MetricsServer();

 private:
  struct Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_METRICS_SERVER_H_
