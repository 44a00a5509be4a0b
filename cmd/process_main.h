#ifndef SHOAL_CMD_PROCESS_MAIN_H_
#define SHOAL_CMD_PROCESS_MAIN_H_

#include <memory>
#include <string>
#include <vector>

#include "job/job_plan.h"
#include "job/job_process.h"
#include "job/main_wait.h"
#include "launch/job_flags.h"

namespace shoal {

using NewJobProcess = std::unique_ptr<JobProcess> (*)(const JobFlags& flags,
                                                      JobPlan plan,
                                                      std::string token,
                                                      MainWait* wait);

// What the mains of a job's processes do: with what is wrong of flags, token,
// plan or memory they complain before the process is made. `args` follow the
// program's name, `binary` as in "shoal-ps". Returns what to exit with.
int ProcessMain(const std::vector<std::string>& args, const std::string& binary,
                Command command, NewJobProcess new_process);

}  // namespace shoal

#endif  // SHOAL_CMD_PROCESS_MAIN_H_
