#ifndef SHOAL_BASE_TELEMETRY_H_
#define SHOAL_BASE_TELEMETRY_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/histogram.h"
#include "base/mutex.h"

namespace shoal {

// The metrics of a running process, for monitoring (docs/metrics.md lists
// them). The composition root makes one Telemetry, adds metrics to it and hands
// them down as pointers. A component that gets nullptr measures nothing.
//
// Counters, gauges and distributions are thread-safe and never block: an
// update is one atomic addition, and a reader takes no lock that an update
// waits for.

// A sum that only grows.
class Counter {
 public:
  void Add(double by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  // Sets the sum to a total that is counted elsewhere.
  void Set(double total) { value_.store(total, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// A value that goes up and down.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// Counts the values at or below each of several bounds.
class Distribution {
 public:
  // `bounds` are ascending. A last bucket takes the values above all of them.
  explicit Distribution(std::vector<double> bounds);

  void Observe(double value);
  // Sets the distribution to one that is counted elsewhere.
  void Set(const Histogram& all);

  struct Snapshot {
    std::vector<uint64_t> counts;  // by bucket, one more than bounds
    double sum = 0;
  };
  Snapshot Read() const;
  const std::vector<double>& bounds() const { return bounds_; }

 private:
  size_t BucketOf(double value) const;

  const std::vector<double> bounds_;
  std::unique_ptr<std::atomic<uint64_t>[]> counts_;
  std::atomic<double> sum_{0};
};

// Bounds in seconds from 100 us to 10 s, for requests.
std::vector<double> RequestSecondsBounds();

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

enum class MetricKind { kCounter, kGauge, kDistribution };

// One metric at one moment.
struct MetricSample {
  MetricLabels labels;
  double value = 0;                     // for a counter or a gauge
  std::vector<double> bounds;           // for a distribution
  Distribution::Snapshot distribution;  // for a distribution
};

// All metrics of one name.
struct MetricFamily {
  MetricKind kind = MetricKind::kGauge;
  std::string name;
  std::string help;
  std::vector<MetricSample> samples;
};

// The metrics of one process. The metrics live as long as the Telemetry.
// Thread-safe.
class Telemetry {
 public:
  // Shortest time between two runs of the hooks: a reader that calls Collect
  // without pause does not run them more often.
  static constexpr absl::Duration kRefreshInterval = absl::Milliseconds(50);

  Telemetry() = default;
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  // Names follow Prometheus: [a-z_]+, with the unit at the end and `_total` for
  // a counter. Several metrics may share a name, with different labels; they
  // have the kind and the help of the first one.
  Counter* AddCounter(const std::string& name, const std::string& help,
                      MetricLabels labels = {});
  Gauge* AddGauge(const std::string& name, const std::string& help,
                  MetricLabels labels = {});
  Distribution* AddDistribution(const std::string& name,
                                const std::string& help,
                                std::vector<double> bounds,
                                MetricLabels labels = {});

  // Adds a hook that runs on the reader's thread before metrics are read, and
  // sets the metrics that are counted elsewhere. It must not wait for training.
  // Hooks run one at a time.
  void OnCollect(absl::AnyInvocable<void()> refresh);

  // Reads all metrics, in the order in which their names were added.
  std::vector<MetricFamily> Collect();

 private:
  struct Entry {
    MetricLabels labels;
    Counter counter;
    Gauge gauge;
    std::unique_ptr<Distribution> distribution;
  };
  struct Family {
    MetricKind kind;
    std::string name;
    std::string help;
    std::deque<Entry> entries;  // never move
  };

  Entry* Add(MetricKind kind, const std::string& name, const std::string& help,
             MetricLabels labels) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Refresh();

  Mutex refresh_mu_;  // held while hooks run; taken before mu_
  std::vector<absl::AnyInvocable<void()>> hooks_ ABSL_GUARDED_BY(refresh_mu_);
  absl::Time refreshed_ ABSL_GUARDED_BY(refresh_mu_) = absl::InfinitePast();
  Mutex mu_;
  std::deque<Family> families_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_BASE_TELEMETRY_H_
