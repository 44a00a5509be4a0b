#ifndef SHOAL_PLAN_PLAN_TEXT_H_
#define SHOAL_PLAN_PLAN_TEXT_H_

#include <string>
#include <vector>

#include "plan/calibration.h"
#include "plan/cluster_description.h"
#include "plan/mode_shape.h"
#include "plan/step_demand.h"

namespace shoal {

// A question to the planner.
struct PlanRequest {
  Calibration calibration;
  PlannedJob job;
  ClusterDescription cluster;
  std::vector<const ModeShape*> modes;  // those that are compared
  std::vector<int> hosts;               // rows of the table, ascending
  double price_per_host_hour = 0;       // 0: no costs are shown
};

// 1, 2, 4, … below `most`, and `most`.
std::vector<int> HostsToPlan(int most);

// The answer for people: what was assumed, a table by mode and number of hosts,
// where another mode becomes the fastest, and which bandwidth each mode needs.
// It marks with `*` what is extrapolated, also what a search over bandwidths
// found, and says that it predicts speed alone. Ends with a newline; the table
// has at most 100 columns.
std::string PlanText(const PlanRequest& request);

// The same figures as one JSON object (docs/planning.md).
std::string PlanJson(const PlanRequest& request);

}  // namespace shoal

#endif  // SHOAL_PLAN_PLAN_TEXT_H_
