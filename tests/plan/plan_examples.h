#ifndef SHOAL_TESTS_PLAN_PLAN_EXAMPLES_H_
#define SHOAL_TESTS_PLAN_PLAN_EXAMPLES_H_

#include "plan/calibration.h"
#include "plan/cluster_description.h"

namespace shoal {

// A calibration like that of model A of docs/benchmarking.md on one machine:
// 2.28 MB of dense variables, rows of 17 floats, 8,750 distinct ids in a batch
// of 1,024.
Calibration ExampleCalibration();

// Hosts of 4 cores, 60 us apart.
ClusterDescription ExampleCluster(int hosts, double gbit);

}  // namespace shoal

#endif  // SHOAL_TESTS_PLAN_PLAN_EXAMPLES_H_
