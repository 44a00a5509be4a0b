#include "plan/prediction.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

// The payload's share of what a link passes: TCP over Ethernet with frames of
// 1,500 bytes. A bare stream reached .956 (docs/benchmarking.md).
constexpr double kPayloadShare = .956;

// Between n hosts each link has n - 1 streams of the traffic of servers. They
// do not get equal shares, so that some links idle while others have the last
// of their bytes to carry. The factor is that of sync in the lab of
// docs/benchmarking.md, 4 and 8 hosts beside 2; the tests' simulation has no
// such streams.
double UnevenStreams(int hosts) {
  constexpr double kPerFold = .09;
  return hosts <= 2 ? 1 : 1 + kPerFold * std::log(hosts - 1);
}

StepPrediction StepOf(const ModeShape& mode, const Calibration& calibration,
                      const PlannedJob& job, const StepDemand& demand,
                      ClusterDescription cluster, int hosts) {
  cluster.hosts = hosts;
  cluster.bits_per_second *= kPayloadShare;
  StepSetting setting;
  setting.cluster = cluster;
  setting.workers_per_host = job.workers_per_host;
  setting.step_times = calibration.step_times;
  setting.final_share = calibration.final_share;
  setting.ring_hop = calibration.costs.ring_hop;
  setting.ssp_bound = job.ssp_bound;
  setting.pipeline_depth = job.pipeline_depth;
  setting.uneven_streams = UnevenStreams(hosts);
  StepPrediction step = PredictStep(mode, demand, setting);
  double corrected =
      step.step_seconds * calibration.CorrectionOf(mode.name, hosts);
  if (hosts > 1) {
    // What fewer hosts did faster than the formulas say, these may do too, and
    // not faster than their busiest resource.
    corrected = std::max(corrected, BusiestSeconds(demand, cluster, hosts,
                                                   job.workers_per_host));
  }
  step.wait_seconds *= corrected / step.step_seconds;
  step.step_seconds = corrected;
  return step;
}

double MemoryOf(const ModeShape& mode, const Calibration& calibration,
                const PlannedJob& job, int hosts) {
  const double workers = job.workers_per_host * calibration.worker_memory;
  // Weights, and two slots of an optimizer such as Adam.
  const double dense = 3 * job.dense_bytes;
  if (!mode.servers()) {
    return workers + job.workers_per_host * (job.table_bytes + dense);
  }
  const double served =
      (job.table_bytes + (mode.dense_served ? dense : 0)) / hosts;
  const double copies = mode.ring() ? job.workers_per_host * dense : 0;
  return workers + calibration.server_memory + served + copies;
}

// More than a rounding outside of what was measured.
bool IsOutside(double value, double least, double most) {
  return value < .99 * least || value > 1.01 * most;
}

bool IsOtherJob(const ModeShape& mode, const Calibration& c,
                const PlannedJob& job) {
  const auto differs = [](double value, double measured) {
    return IsOutside(value, measured, measured);
  };
  // Tables of another size have other rows in a batch.
  const bool other_tables = job.table_bytes > 0 && c.table_bytes > 0 &&
                            differs(job.table_bytes, c.table_bytes);
  return IsOutside(job.batch_size, c.least_batch, c.most_batch) ||
         differs(job.dense_bytes, c.dense_bytes) ||
         differs(job.row_floats, c.row_floats) ||
         differs(job.sample_ratio,
                 MeasuredJob(c, job.batch_size).sample_ratio) ||
         other_tables || job.workers_per_host > 1 ||
         (mode.waits == ModeShape::Waits::kBound &&
          job.ssp_bound != c.ssp_bound) ||
         (mode.pipelined && job.pipeline_depth != c.pipeline_depth) ||
         (mode.ring() && differs(job.bucket_bytes, c.bucket_bytes));
}

bool IsExtrapolated(const ModeShape& mode, const Calibration& c,
                    const PlannedJob& job, const ClusterDescription& cluster,
                    int hosts) {
  const bool other_mode =
      !c.modes.empty() &&
      std::find(c.modes.begin(), c.modes.end(), mode.name) == c.modes.end();
  constexpr double kLatency = ClusterDescription::kUsualLatency;
  const bool other_network =
      hosts > 1 &&
      (!c.network_measured ||
       IsOutside(cluster.bits_per_second, c.least_bits, c.most_bits) ||
       IsOutside(cluster.latency_seconds, kLatency, kLatency));
  return other_mode || other_network ||
         c.IsCorrectedByAnother(mode.name, hosts) || hosts > c.most_hosts ||
         IsOutside(cluster.cores, c.least_cores, c.most_cores) ||
         IsOtherJob(mode, c, job);
}

}  // namespace

const char* LimitText(Limit limit) {
  switch (limit) {
    case Limit::kWorkerCore:
      return "worker's core";
    case Limit::kHostCores:
      return "host's cores";
    case Limit::kServerCores:
      return "server's core";
    case Limit::kLink:
      return "link";
    case Limit::kLatency:
      return "latency";
    case Limit::kSlowest:
      return "slowest worker";
  }
  return "";
}

Prediction Predict(const ModeShape& mode, const Calibration& calibration,
                   const PlannedJob& job, const ClusterDescription& cluster,
                   int hosts) {
  const int w = job.workers_per_host;
  const StepDemand demand = DemandOf(mode, calibration, job, hosts);
  Prediction p;
  p.mode = &mode;
  p.hosts = hosts;
  p.step = StepOf(mode, calibration, job, demand, cluster, hosts);
  p.samples_per_second = hosts * w * job.batch_size / p.step.step_seconds;
  const StepPrediction alone = StepOf(
      mode, calibration, job, DemandOf(mode, calibration, job, 1), cluster, 1);
  p.efficiency = alone.step_seconds / p.step.step_seconds;
  const double remote = static_cast<double>(hosts - 1) / hosts;
  // A ring crosses a host's border once, however many of its ranks are inside.
  p.bytes_per_sample =
      (remote * demand.served_bytes() +
       (hosts == 1 ? 0 : (demand.reduce_bytes + demand.gather_bytes) / w)) /
      job.batch_size;
  p.memory_bytes = MemoryOf(mode, calibration, job, hosts);
  p.fits = cluster.memory_bytes == 0 || p.memory_bytes <= cluster.memory_bytes;
  p.extrapolated = IsExtrapolated(mode, calibration, job, cluster, hosts);
  return p;
}

}  // namespace shoal
