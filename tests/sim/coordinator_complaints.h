#ifndef SHOAL_TESTS_SIM_COORDINATOR_COMPLAINTS_H_
#define SHOAL_TESTS_SIM_COORDINATOR_COMPLAINTS_H_

#include <string>
#include <vector>

#include "tests/sim/coordinator_world.h"

namespace shoal {

// The errors of a job that had to end well, as a text; empty: no errors.
std::vector<std::string> Complaints(const CoordinatorWorldOptions& options,
                                    const CoordinatorWorldResult& result);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_COORDINATOR_COMPLAINTS_H_
