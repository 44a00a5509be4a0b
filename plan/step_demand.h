#ifndef SHOAL_PLAN_STEP_DEMAND_H_
#define SHOAL_PLAN_STEP_DEMAND_H_

#include "plan/calibration.h"
#include "plan/cluster_description.h"
#include "plan/mode_shape.h"

namespace shoal {

// The job that is planned, as far as it may differ from the one that was
// measured.
struct PlannedJob {
  double batch_size = 1024;  // of one worker
  double dense_bytes = 0;
  double row_floats = 0;
  // Cost of a sample over that of the calibration: SampleRatio of its model and
  // batch, or measured.
  double sample_ratio = 1;
  double table_bytes = 0;  // 0: not known
  int workers_per_host = 1;
  int ssp_bound = 3;
  int pipeline_depth = 1;  // of modes that are pipelined; 0 to 2
  double bucket_bytes = 512 << 10;  // of modes with a ring
};

// The job of the calibration itself.
PlannedJob MeasuredJob(const Calibration& calibration);
// The same in batches of another size, in which a sample costs more or less
// because ids repeat less or more (SampleRatio, 1 if the model has no work).
PlannedJob MeasuredJob(const Calibration& calibration, double batch_size);

// The cost of a sample of a model, in batches of this size, over that of a
// sample of the measured one in its own batches. 0: one of them has no work.
double SampleRatio(const Calibration& calibration, const SampleWork& work,
                   double batch_size);

// The costs of a job whose rows have so many floats: a longer row costs more
// time, by what is measured of tables. The cost of a sample is the
// calibration's.
UnitCosts CostsWithRows(const Calibration& calibration, double row_floats);

// What one step of one worker asks of each resource: seconds of a core, and
// bytes. The formulas are those of docs/planning.md; with D bytes of dense
// variables, R distinct ids in a batch and F floats of a row, W workers:
//
//   served dense:   D pulled, D pushed          reduced: 2 (W - 1) / W · D
//   served rows:    8 R asked, 4 F R pulled, (8 + 4 F) R pushed
//   gathered rows:  (W - 1) (8 + 4 F) R
struct StepDemand {
  // The computation of a batch, whose time varies from step to step.
  double compute = 0;
  // On the worker, beside the network: what a pull, a push cost; and what it
  // does with the step's result (rows merged and applied to its own copy).
  double pull_worker = 0;
  double push_worker = 0;
  double apply_worker = 0;
  // On the servers, over all of them.
  double pull_server = 0;
  double push_server = 0;
  // On every server, once in a step of all workers.
  double apply_server = 0;
  // Payload between one worker and all servers.
  double request_bytes = 0;
  double reply_bytes = 0;
  double push_bytes = 0;
  // A rank's share of the ring: bytes to the next rank and processor time, for
  // the dense gradient and for what comes after the computation; and messages
  // that follow one another, each of which waits for the one before.
  double reduce_bytes = 0;
  double reduce_core = 0;
  double gather_bytes = 0;
  double gather_core = 0;
  int reduce_hops = 0;
  int gather_hops = 0;
  // Parts in which the dense gradient is summed.
  int buckets = 1;

  // Payload that a worker's step sends, over all processes, a share of it on
  // the own host.
  double served_bytes() const {
    return request_bytes + reply_bytes + push_bytes;
  }
};

StepDemand DemandOf(const ModeShape& mode, const Calibration& calibration,
                    const PlannedJob& job, int hosts);

// The seconds in which the busiest resource of one of `hosts` hosts does its
// part of a step of all workers: a worker's thread, the server's thread, all
// cores, or a direction of the link, which passes cluster.bits_per_second of
// payload. No step is shorter.
double BusiestSeconds(const StepDemand& demand,
                      const ClusterDescription& cluster, int hosts,
                      int workers_per_host);

}  // namespace shoal

#endif  // SHOAL_PLAN_STEP_DEMAND_H_
