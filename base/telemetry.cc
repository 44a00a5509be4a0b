#include "base/telemetry.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace shoal {

Distribution::Distribution(std::vector<double> bounds)
    : bounds_(std::move(bounds)),
      counts_(new std::atomic<uint64_t>[bounds_.size() + 1]) {
  for (size_t i = 0; i <= bounds_.size(); ++i) counts_[i] = 0;
}

size_t Distribution::BucketOf(double value) const {
  return std::lower_bound(bounds_.begin(), bounds_.end(), value) -
         bounds_.begin();
}

void Distribution::Observe(double value) {
  counts_[BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

void Distribution::Set(const Histogram& all) {
  std::vector<uint64_t> counts(bounds_.size() + 1);
  for (const auto& [value, count] : all.buckets()) {
    counts[BucketOf(static_cast<double>(value))] += count;
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    counts_[i].store(counts[i], std::memory_order_relaxed);
  }
  sum_.store(all.sum(), std::memory_order_relaxed);
}

Distribution::Snapshot Distribution::Read() const {
  Snapshot snapshot;
  for (size_t i = 0; i <= bounds_.size(); ++i) {
    snapshot.counts.push_back(counts_[i].load(std::memory_order_relaxed));
  }
  snapshot.sum = sum_.load(std::memory_order_relaxed);
  return snapshot;
}

std::vector<double> RequestSecondsBounds() {
  return {.0001, .00025, .0005, .001, .0025, .005, .01, .025,
          .05,   .1,     .25,   .5,   1,     2.5,  5,   10};
}

Telemetry::Entry* Telemetry::Add(MetricKind kind, const std::string& name,
                                 const std::string& help, MetricLabels labels) {
  auto family =
      std::find_if(families_.begin(), families_.end(),
                   [&](const Family& each) { return each.name == name; });
  if (family == families_.end()) {
    families_.push_back({kind, name, help, {}});
    family = families_.end() - 1;
  }
  family->entries.emplace_back();
  Entry* entry = &family->entries.back();
  entry->labels = std::move(labels);
  return entry;
}

Counter* Telemetry::AddCounter(const std::string& name, const std::string& help,
                               MetricLabels labels) {
  MutexLock lock(&mu_);
  return &Add(MetricKind::kCounter, name, help, std::move(labels))->counter;
}

Gauge* Telemetry::AddGauge(const std::string& name, const std::string& help,
                           MetricLabels labels) {
  MutexLock lock(&mu_);
  return &Add(MetricKind::kGauge, name, help, std::move(labels))->gauge;
}

Distribution* Telemetry::AddDistribution(const std::string& name,
                                         const std::string& help,
                                         std::vector<double> bounds,
                                         MetricLabels labels) {
  MutexLock lock(&mu_);
  Entry* entry = Add(MetricKind::kDistribution, name, help, std::move(labels));
  entry->distribution = std::make_unique<Distribution>(std::move(bounds));
  return entry->distribution.get();
}

void Telemetry::OnCollect(absl::AnyInvocable<void()> refresh) {
  MutexLock lock(&refresh_mu_);
  hooks_.push_back(std::move(refresh));
  refreshed_ = absl::InfinitePast();
}

void Telemetry::Refresh() {
  MutexLock lock(&refresh_mu_);
  const absl::Time now = absl::Now();
  if (now < refreshed_ + kRefreshInterval && now >= refreshed_) return;
  refreshed_ = now;
  for (absl::AnyInvocable<void()>& hook : hooks_) hook();
}

std::vector<MetricFamily> Telemetry::Collect() {
  Refresh();
  std::vector<MetricFamily> families;
  MutexLock lock(&mu_);
  for (const Family& family : families_) {
    MetricFamily copy{family.kind, family.name, family.help, {}};
    for (const Entry& entry : family.entries) {
      MetricSample sample;
      sample.labels = entry.labels;
      switch (family.kind) {
        case MetricKind::kCounter:
          sample.value = entry.counter.value();
          break;
        case MetricKind::kGauge:
          sample.value = entry.gauge.value();
          break;
        case MetricKind::kDistribution:
          sample.bounds = entry.distribution->bounds();
          sample.distribution = entry.distribution->Read();
          break;
      }
      copy.samples.push_back(std::move(sample));
    }
    families.push_back(std::move(copy));
  }
  return families;
}

}  // namespace shoal
