#ifndef SHOAL_TESTS_SIM_COORDINATOR_COMPLAINTS_H_
#define SHOAL_TESTS_SIM_COORDINATOR_COMPLAINTS_H_

#include <string>
#include <vector>

#include "tests/sim/coordinator_world.h"

namespace shoal {

// What is wrong with a job that had to end well; empty if nothing is.
std::vector<std::string> Complaints(const CoordinatorWorldOptions& options,
                                    const CoordinatorWorldResult& result);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_COORDINATOR_COMPLAINTS_H_
