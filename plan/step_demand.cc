#include "plan/step_demand.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

// A rank that has nothing to gather still says what its batch was.
constexpr double kConfirmBytes = 64;
constexpr double kMostBuckets = 1e9;
// To find a row takes as long as so many of its floats: rows of 17 and of 33
// floats, gathered and updated, take 94 and 120 ns (ps_bench).
constexpr double kFloatsOfFinding = 41;

void AddServed(const ModeShape& mode, const UnitCosts& costs, double dense,
               double rows, double floats, int workers, int servers,
               double union_rows, StepDemand* d) {
  const double id_bytes = 8 * rows;
  const double value_bytes = 4 * floats * rows;
  d->request_bytes = mode.rows_served ? id_bytes : 0;
  if (mode.dense_served) d->reply_bytes = d->push_bytes = dense;
  if (mode.rows_served) {
    d->reply_bytes += value_bytes;
    d->push_bytes += id_bytes + value_bytes;
  }
  const double pulled = d->request_bytes + d->reply_bytes;
  const double calls = servers;
  d->pull_worker = costs.worker_byte * pulled + costs.worker_call * calls;
  d->push_worker =
      costs.worker_byte * d->push_bytes + costs.worker_call * calls;
  d->pull_server = costs.server_byte * pulled + costs.server_call * calls;
  d->push_server =
      costs.server_byte * d->push_bytes + costs.server_call * calls;
  const double update =
      costs.row * rows + (mode.dense_served ? costs.dense_byte * dense : 0);
  if (mode.merged_on_servers()) {
    d->apply_server =
        (costs.row * union_rows + costs.merged_row * workers * rows +
         costs.dense_byte * dense) /
        servers;
  } else {
    d->push_server += update;
  }
}

void AddRing(const ModeShape& mode, const UnitCosts& costs,
             const PlannedJob& job, double rows, int workers, double union_rows,
             StepDemand* d) {
  const double dense = job.dense_bytes;
  const double floats = job.row_floats;
  const int others = workers - 1;
  // A calibration's file may have any sizes above 0.
  d->buckets = static_cast<int>(
      std::clamp(std::ceil(dense / job.bucket_bytes), 1.0, kMostBuckets));
  d->reduce_bytes = 2.0 * others / workers * dense;
  d->reduce_hops = 2 * others;
  const double part =
      (mode.rows_served ? 0 : rows * (8 + 4 * floats)) + kConfirmBytes;
  d->gather_bytes = others * part;
  d->gather_hops = others;
  // What is sent is received by a rank too.
  d->reduce_core = 2 * costs.ring_byte * d->reduce_bytes;
  d->gather_core = 2 * costs.ring_byte * d->gather_bytes;
  d->apply_worker = costs.dense_byte * dense;
  if (!mode.rows_served) {
    d->apply_worker += costs.row * union_rows +
                       (workers == 1 ? 0 : costs.merged_row * workers * rows);
  }
}

// Distinct ids among `samples` samples in a row: not more than the tables have
// rows, as far as their size tells, which slots may be a part of.
double RowsOf(const Calibration& calibration, const PlannedJob& job,
              double samples) {
  const double ids = calibration.IdsOf(samples);
  if (job.table_bytes <= 0 || job.row_floats <= 0) return ids;
  return std::min(ids, job.table_bytes / (sizeof(float) * job.row_floats));
}

}  // namespace

PlannedJob MeasuredJob(const Calibration& calibration) {
  PlannedJob job;
  job.batch_size = calibration.batch_size;
  job.dense_bytes = calibration.dense_bytes;
  job.row_floats = calibration.row_floats;
  job.table_bytes = calibration.table_bytes;
  job.ssp_bound = calibration.ssp_bound;
  job.pipeline_depth = calibration.pipeline_depth;
  job.bucket_bytes = calibration.bucket_bytes;
  return job;
}

PlannedJob MeasuredJob(const Calibration& calibration, double batch_size) {
  PlannedJob job = MeasuredJob(calibration);
  job.batch_size = batch_size;
  const double ratio = SampleRatio(calibration, calibration.work, batch_size);
  if (ratio > 0) job.sample_ratio = ratio;
  return job;
}

double SampleRatio(const Calibration& calibration, const SampleWork& work,
                   double batch_size) {
  const auto in = [&calibration](const SampleWork& model, double batch) {
    return model.In(batch, calibration.IdsOf(batch));
  };
  const double measured = in(calibration.work, calibration.batch_size);
  return measured > 0 ? in(work, batch_size) / measured : 0;
}

UnitCosts CostsWithRows(const Calibration& calibration, double row_floats) {
  UnitCosts costs = calibration.costs;
  const double longer = (kFloatsOfFinding + row_floats) /
                        (kFloatsOfFinding + calibration.row_floats);
  costs.row *= longer;
  costs.merged_row *= longer;
  return costs;
}

StepDemand DemandOf(const ModeShape& mode, const Calibration& calibration,
                    const PlannedJob& job, int hosts) {
  const UnitCosts costs = CostsWithRows(calibration, job.row_floats);
  const int workers = hosts * job.workers_per_host;
  const double rows = RowsOf(calibration, job, job.batch_size);
  const double union_rows = RowsOf(calibration, job, job.batch_size * workers);
  StepDemand d;
  d.compute = costs.sample * job.sample_ratio * job.batch_size;
  if (mode.servers()) {
    AddServed(mode, costs, job.dense_bytes, rows, job.row_floats, workers,
              hosts, union_rows, &d);
  }
  if (mode.ring()) {
    AddRing(mode, costs, job, rows, workers, union_rows, &d);
  }
  return d;
}

double BusiestSeconds(const StepDemand& d, const ClusterDescription& cluster,
                      int hosts, int workers_per_host) {
  const double ring = d.reduce_core + d.gather_core;
  const double worker = d.compute + d.push_worker + d.apply_worker;
  const double server =
      workers_per_host * (d.pull_server + d.push_server) + d.apply_server;
  const double cores =
      workers_per_host * (worker + d.pull_worker + ring) + server;
  const double speed = std::min(1.0, cluster.cores);  // of a core
  double busiest =
      std::max({worker / speed, server / speed, cores / cluster.cores});
  if (hosts > 1) {
    const double bytes =
        workers_per_host * d.served_bytes() * (hosts - 1) / hosts +
        d.reduce_bytes + d.gather_bytes;
    busiest = std::max(busiest, 8 * bytes / cluster.bits_per_second);
  }
  return busiest;
}

}  // namespace shoal
