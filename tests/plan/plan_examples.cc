#include "tests/plan/plan_examples.h"

namespace shoal {

Calibration ExampleCalibration() {
  Calibration c;
  c.cpu = "a processor";
  c.source = "an example";
  c.batch_size = 1024;
  c.dense_bytes = 571202 * 4.0;
  c.row_floats = 17;
  c.work = {3.42e6, 2.4e6, 61440, 12};
  c.distinct_ids = {{1024, 8750}, {4096, 24900}, {16384, 66000}};
  c.costs.sample = 14.5e-6;
  c.step_times = UsualTimes();
  c.table_bytes = 150e6;
  c.ssp_bound = 2;
  c.most_hosts = 2;
  c.least_cores = c.most_cores = 4;
  c.least_batch = c.most_batch = 1024;
  c.least_bits = 1e9;
  c.most_bits = 1e10;
  c.network_measured = true;
  return c;
}

ClusterDescription ExampleCluster(int hosts, double gbit) {
  ClusterDescription cluster;
  cluster.hosts = hosts;
  cluster.cores = 4;
  cluster.bits_per_second = gbit * 1e9;
  return cluster;
}

}  // namespace shoal
