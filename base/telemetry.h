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

// What a process tells of itself while it runs, for monitoring (docs/metrics.md
// lists it). The composition root makes one Telemetry, adds metrics to it and
// hands them down as pointers; components that got nullptr measure nothing.
//
// Counters, gauges and distributions are thread-safe and never block: an
// update is one atomic addition, and a reader takes no lock that an update
// waits for.

// A sum that only grows.
class Counter {
 public:
  void Add(double by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  // The sum as something else has counted it.
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

// How often values fell at or below each of some bounds.
class Distribution {
 public:
  // `bounds`: ascending; a last bucket takes what lies above them all.
  explicit Distribution(std::vector<double> bounds);

  void Observe(double value);
  // The distribution as something else has counted it.
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
  double value = 0;                     // of a counter or a gauge
  std::vector<double> bounds;           // of a distribution
  Distribution::Snapshot distribution;  // of a distribution
};

// All metrics of one name.
struct MetricFamily {
  MetricKind kind = MetricKind::kGauge;
  std::string name;
  std::string help;
  std::vector<MetricSample> samples;
};

// The metrics of one process. Thread-safe; metrics live as long as it does.
class Telemetry {
 public:
  // At Collect, hooks run again if they ran so long ago: a reader that asks
  // without pause costs no more than that.
  static constexpr absl::Duration kRefreshInterval = absl::Milliseconds(50);

  Telemetry() = default;
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  // Names are those of Prometheus: [a-z_]+, the unit at the end, `_total` for a
  // counter. Several metrics may share a name, with different labels; kind and
  // help are then the first one's.
  Counter* AddCounter(const std::string& name, const std::string& help,
                      MetricLabels labels = {});
  Gauge* AddGauge(const std::string& name, const std::string& help,
                  MetricLabels labels = {});
  Distribution* AddDistribution(const std::string& name,
                                const std::string& help,
                                std::vector<double> bounds,
                                MetricLabels labels = {});

  // Runs `refresh` before metrics are read, on the reader's thread: it sets
  // what is counted elsewhere. It must not wait for training. One at a time.
  void OnCollect(absl::AnyInvocable<void()> refresh);

  // All metrics now, in the order in which their names were added.
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
