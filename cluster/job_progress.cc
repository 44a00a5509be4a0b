#include "cluster/job_progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

namespace shoal {
namespace {

std::array<double, 6> SumsOf(const PayloadBytes& bytes) {
  return {static_cast<double>(bytes.pull.sent),
          static_cast<double>(bytes.pull.received),
          static_cast<double>(bytes.push.sent),
          static_cast<double>(bytes.push.received),
          static_cast<double>(bytes.ring.sent),
          static_cast<double>(bytes.ring.received)};
}

PayloadBytes BytesOf(const std::array<double, 6>& sums) {
  const auto whole = [&sums](size_t i) {
    return static_cast<uint64_t>(std::round(sums[i]));
  };
  return {{whole(0), whole(1)}, {whole(2), whole(3)}, {whole(4), whole(5)}};
}

template <size_t N>
void AddTo(std::array<double, N>* sums, const std::array<double, N>& more) {
  for (size_t i = 0; i < N; ++i) (*sums)[i] += more[i];
}

}  // namespace

UsageMeter& JobProgress::Usage(Role role, int index) {
  return role == Role::kPs ? ps_[index].usage : workers_[index].usage;
}

void JobProgress::NewLife(Role role, int index, const std::string& place,
                          absl::Time now) {
  if (role == Role::kPs) {
    ps_[index].address = place;
    Close(&ps_[index].bytes);
    ps_[index].bytes.NewLife(now);
  } else {
    Worker& worker = workers_[index];
    worker.host = place;
    worker.earlier_samples += worker.progress.examples;
    worker.progress = {};
    Close(&worker.seconds);
    Close(&worker.bytes);
    worker.seconds.NewLife(now);
    worker.bytes.NewLife(now);
    worker.earlier_steps.Merge(std::exchange(worker.steps, {}));
  }
  UsageMeter& usage = Usage(role, index);
  Close(&usage);
  usage.NewLife(now);
}

void JobProgress::OnHeartbeat(Role role, int index, const Heartbeat& heartbeat,
                              absl::Time now) {
  OnUsage(role, index, heartbeat.usage, now);
  if (role == Role::kPs) {
    ps_[index].staleness = heartbeat.staleness;
    Close(&ps_[index].bytes);
    ps_[index].bytes.Add(SumsOf(heartbeat.bytes), now);
    return;
  }
  Worker& worker = workers_[index];
  Close(&worker.seconds);
  Close(&worker.bytes);
  worker.seconds.Add(heartbeat.time.seconds, now);
  worker.bytes.Add(SumsOf(heartbeat.bytes), now);
  if (heartbeat.time.steps.micros.count() >= worker.steps.micros.count()) {
    worker.steps = heartbeat.time.steps;
  }
  const TrainProgress& progress = heartbeat.progress;
  if (progress.examples > worker.progress.examples) {
    worker.newest_examples = progress.examples - worker.progress.examples;
    worker.newest_loss_sum = progress.loss_sum - worker.progress.loss_sum;
    worker.progress = progress;
  }
  if (progress.recent_examples != 0) {
    worker.recent_auc = progress.recent_auc;
    worker.recent_examples = progress.recent_examples;
  }
}

void JobProgress::OnUsage(Role role, int index, const ResourceUsage& usage,
                          absl::Time now) {
  UsageMeter& meter = Usage(role, index);
  Close(&meter);
  meter.Add(usage, now);
}

void JobProgress::OnShardReport(int member, const StatsReply& stats) {
  ps_[member].stats = stats;
}

bool JobProgress::reported(int member) const {
  const auto it = ps_.find(member);
  return it != ps_.end() && it->second.stats.has_value();
}

size_t JobProgress::reports() const {
  size_t count = 0;
  for (const auto& [member, ps] : ps_) {
    count += ps.stats.has_value() && !ps.lost;
  }
  return count;
}

void JobProgress::Start(absl::Time now) {
  if (start_.has_value()) return;
  start_ = now;
  rate_.Add(0, now);
}

void JobProgress::End(absl::Time now) {
  if (!end_.has_value()) end_ = now;
}

void JobProgress::OnTrained(uint64_t examples, absl::Time now, bool last) {
  rate_.Add(examples, now);
  if (!start_.has_value() || end_.has_value()) return;
  if (last || curve_.Due(now - *start_)) curve_.Add(PointAt(now, examples));
}

void JobProgress::OnScored(uint64_t examples, absl::Time now) {
  rate_.Add(examples, now);
}

void JobProgress::OpenSteady(uint64_t examples, absl::Time now) {
  steady_from_ = Point{now, examples};
  for (auto& [index, worker] : workers_) {
    worker.usage.OpenWindow(now);
    worker.seconds.OpenWindow(now);
    worker.bytes.OpenWindow(now);
  }
  for (auto& [index, ps] : ps_) {
    ps.usage.OpenWindow(now);
    ps.bytes.OpenWindow(now);
  }
}

void JobProgress::CloseSteady(uint64_t examples, absl::Time now) {
  steady_to_ = Point{now, examples};
}

JobProgress::Quality JobProgress::Newest() const {
  double loss_sum = 0;
  double loss_examples = 0;
  double auc_sum = 0;
  double auc_examples = 0;
  for (const auto& [index, worker] : workers_) {
    loss_sum += worker.newest_loss_sum;
    loss_examples += static_cast<double>(worker.newest_examples);
    // An AUC of 0 is not known: the worker's examples have one label only.
    const auto ranked = static_cast<double>(
        worker.recent_auc > 0 ? worker.recent_examples : 0);
    auc_sum += worker.recent_auc * ranked;
    auc_examples += ranked;
  }
  return {loss_examples == 0 ? 0 : loss_sum / loss_examples,
          auc_examples == 0 ? 0 : auc_sum / auc_examples};
}

CurvePoint JobProgress::PointAt(absl::Time now, uint64_t examples) const {
  const Quality newest = Newest();
  return {now - *start_, examples, newest.loss, newest.auc};
}

void JobProgress::FillWorkers(JobReport* report) const {
  WindowSums<kFlows>::Sums bytes = {};
  WindowSums<kFlows>::Sums steady_bytes = {};
  for (const auto& [index, worker] : workers_) {
    WorkerReport out;
    out.index = index;
    out.samples = worker.earlier_samples + worker.progress.examples;
    out.host = worker.host;
    out.cpu_seconds = worker.usage.cpu_seconds();
    out.peak_rss_bytes = worker.usage.peak_rss_bytes();
    out.seconds = worker.seconds.total();
    report->workers.push_back(out);
    report->steady_worker_cpu_seconds +=
        Closed(worker.usage).WindowCpuSeconds();
    AddTo(&report->steady_seconds, Closed(worker.seconds).InWindow());
    AddTo(&bytes, worker.bytes.total());
    AddTo(&steady_bytes, Closed(worker.bytes).InWindow());
  }
  report->worker_bytes = BytesOf(bytes);
  report->steady_worker_bytes = BytesOf(steady_bytes);
}

void JobProgress::FillServers(JobReport* report) const {
  WindowSums<kFlows>::Sums bytes = {};
  WindowSums<kFlows>::Sums steady_bytes = {};
  std::set<int> shards;  // those that a member before has spoken for
  for (const auto& [index, ps] : ps_) {
    PsReport out;
    out.index = index;
    out.shard = members_.ShardOf(index);
    out.lost = ps.lost;
    out.first_of_shard = !ps.lost && shards.insert(out.shard).second;
    out.address = ps.address;
    out.cpu_seconds = ps.usage.cpu_seconds();
    out.peak_rss_bytes = ps.usage.peak_rss_bytes();
    if (ps.stats.has_value()) {
      // What the shard says at the end is newer than its last heartbeat.
      out.stats = *ps.stats;
      if (out.first_of_shard) report->digest += ps.stats->digest;
      for (const auto& [life, histogram] : ps.stats->staleness) {
        report->staleness.Merge(histogram);
      }
    } else {
      report->staleness.Merge(ps.staleness);
    }
    report->ps.push_back(std::move(out));
    report->steady_ps_cpu_seconds += Closed(ps.usage).WindowCpuSeconds();
    AddTo(&bytes, ps.bytes.total());
    AddTo(&steady_bytes, Closed(ps.bytes).InWindow());
  }
  report->ps_bytes = BytesOf(bytes);
  report->steady_ps_bytes = BytesOf(steady_bytes);
}

void JobProgress::Fill(absl::Time now, JobReport* report) const {
  const Quality newest = Newest();
  report->loss = newest.loss;
  report->progressive_auc = newest.auc;
  FillWorkers(report);
  FillServers(report);
  report->samples_per_second = rate_.PerSecond();
  if (start_.has_value()) report->wall = end_.value_or(now) - *start_;
  if (steady_from_.has_value()) {
    const Point to = steady_to_.value_or(Point{now, report->trained});
    // Steps of a server that was lost are trained again.
    report->steady_samples =
        to.second - std::min(to.second, steady_from_->second);
    report->steady_wall_seconds =
        absl::ToDoubleSeconds(to.first - steady_from_->first);
  } else {
    report->steady_worker_cpu_seconds = 0;
    report->steady_ps_cpu_seconds = 0;
    report->steady_seconds = {};
    report->steady_worker_bytes = {};
    report->steady_ps_bytes = {};
  }
  // Only the summary has them, and they take time in a job of many workers.
  if (!end_.has_value()) return;
  for (const auto& [index, worker] : workers_) {
    report->step_times.Merge(worker.earlier_steps);
    report->step_times.Merge(worker.steps);
  }
  if (!start_.has_value() || curve_.points().empty()) return;
  // The newest heartbeats may have come after the newest point.
  JobCurve curve = curve_;
  curve.Add(PointAt(*end_, report->trained));
  report->curve = curve.points();
}

}  // namespace shoal
