#ifndef SHOAL_CMD_PLAN_MAP_H_
#define SHOAL_CMD_PLAN_MAP_H_

#include <string>

#include "plan/plan_text.h"

namespace shoal {

// The map of a plan as SVG: the fastest mode by number of hosts and bandwidth,
// from 500 Mbit/s to 200 Gbit/s, with its samples a second in each cell. A mode
// has the colour that it has in a report of a comparison (report/mode_style.h).
// A cell is stronger the further the mode is ahead of the second one (full from
// 50 % on), and hollow where it is extrapolated.
std::string DrawPlanMap(const PlanRequest& request);

}  // namespace shoal

#endif  // SHOAL_CMD_PLAN_MAP_H_
