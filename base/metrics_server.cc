#include "base/metrics_server.h"

#include <netdb.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kThreads = 2;

prometheus::MetricType TypeOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kDistribution:
      break;
  }
  return prometheus::MetricType::Histogram;
}

prometheus::ClientMetric ConvertSample(MetricKind kind,
                                       const MetricSample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) {
    metric.label.push_back({name, value});
  }
  switch (kind) {
    case MetricKind::kCounter:
      metric.counter.value = sample.value;
      break;
    case MetricKind::kGauge:
      metric.gauge.value = sample.value;
      break;
    case MetricKind::kDistribution: {
      uint64_t cumulative = 0;
      for (size_t i = 0; i < sample.distribution.counts.size(); ++i) {
        cumulative += sample.distribution.counts[i];
        const double bound = i < sample.bounds.size()
                                 ? sample.bounds[i]
                                 : std::numeric_limits<double>::infinity();
        prometheus::ClientMetric::Bucket bucket;
        bucket.cumulative_count = cumulative;
        bucket.upper_bound = bound;
        metric.histogram.bucket.push_back(bucket);
      }
      metric.histogram.sample_count = cumulative;
      metric.histogram.sample_sum = sample.distribution.sum;
      break;
    }
  }
  return metric;
}

class TelemetryCollectable final : public prometheus::Collectable {
 public:
  explicit TelemetryCollectable(Telemetry* telemetry) : telemetry_(telemetry) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    for (const MetricFamily& family : telemetry_->Collect()) {
      prometheus::MetricFamily converted;
      converted.name = family.name;
      converted.help = family.help;
      converted.type = TypeOf(family.kind);
      for (const MetricSample& sample : family.samples) {
        converted.metric.push_back(ConvertSample(family.kind, sample));
      }
      families.push_back(std::move(converted));
    }
    return families;
  }

 private:
  Telemetry* const telemetry_;
};

// The addresses of a host, or an error of getaddrinfo.
int Resolve(const std::string& host, int port, addrinfo** found) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  *found = nullptr;
  return getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, found);
}

// Connects and hangs up.
void Connect(const std::string& host, int port) {
  addrinfo* found;
  if (Resolve(host, port, &found) != 0) return;
  const int fd =
      socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0) {
    (void)connect(fd, found->ai_addr, found->ai_addrlen);
    close(fd);
  }
  freeaddrinfo(found);
}

// Listens for a moment, since the HTTP server does not say why it could not.
absl::Status CheckAddress(const std::string& host, int port,
                          const std::string& address) {
  addrinfo* found;
  const int error = Resolve(host, port, &found);
  if (error != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "metrics: cannot listen on ", address, ": ", gai_strerror(error)));
  }
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // As servers do: a port whose last connection was closed only just now counts
  // as free.
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool bound = fd >= 0 &&
                     bind(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                     listen(fd, 1) == 0;
  const int why = errno;
  if (fd >= 0) close(fd);
  freeaddrinfo(found);
  if (bound) return absl::OkStatus();
  const std::string message =
      absl::StrCat("metrics: cannot listen on ", address, ": ", strerror(why));
  if (why == EADDRINUSE) {
    return absl::AlreadyExistsError(absl::StrCat(
        message, "; give another --metrics_port, or 0 for no metrics"));
  }
  return absl::UnavailableError(message);
}

}  // namespace

struct MetricsServer::Impl {
  ~Impl();

  std::string host;
  int port = 0;
  std::shared_ptr<TelemetryCollectable> collectable;
  std::unique_ptr<prometheus::Exposer> exposer;
};

// The HTTP server checks only every two seconds whether it must end, but also
// at each new connection.
MetricsServer::Impl::~Impl() {
  if (exposer == nullptr) return;
  std::atomic<bool> ended{false};
  std::thread end([&] {
    exposer.reset();
    ended = true;
  });
  while (!ended) {
    Connect(host, port);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  end.join();
}

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& host, int port, Telemetry* telemetry) {
  const bool v6 = host.find(':') != std::string::npos;
  const std::string address =
      v6 ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
  SHOAL_RETURN_IF_ERROR(CheckAddress(host, port, address));
  auto impl = std::make_unique<Impl>();
  impl->host = host;
  impl->port = port;
  impl->collectable = std::make_shared<TelemetryCollectable>(telemetry);
  try {
    impl->exposer = std::make_unique<prometheus::Exposer>(address, kThreads);
    impl->exposer->RegisterCollectable(impl->collectable);
  } catch (const std::exception& error) {
    return absl::UnavailableError(absl::StrCat("metrics: cannot listen on ",
                                               address, ": ", error.what()));
  }
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() = default;

}  // namespace shoal
