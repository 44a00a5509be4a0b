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

// The main function of the processes of a job. Reports errors in the flags, the
// token, the plan or the memory forecast before the process is made. `args` are
// the arguments after the program's name; `binary` is that name, such as
// "shoal-ps". Returns the exit code.
int ProcessMain(const std::vector<std::string>& args, const std::string& binary,
                Command command, NewJobProcess new_process);

}  // namespace shoal

#endif  // SHOAL_CMD_PROCESS_MAIN_H_
