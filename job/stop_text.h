#ifndef SHOAL_JOB_STOP_TEXT_H_
#define SHOAL_JOB_STOP_TEXT_H_

#include <string>

#include "launch/job_flags.h"

namespace shoal {

// The words with which a process tells the user what follows a signal that asks
// the job of these flags to stop. They come after "SIGTERM: ".
std::string StopText(const JobFlags& flags);

// The words about a job that stops already, after its user's first SIGINT.
std::string RemindText();

}  // namespace shoal

#endif  // SHOAL_JOB_STOP_TEXT_H_
