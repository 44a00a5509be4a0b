#ifndef SHOAL_JOB_PROCESS_OUTCOME_H_
#define SHOAL_JOB_PROCESS_OUTCOME_H_

#include <string>

#include "absl/status/status.h"
#include "base/logger.h"
#include "core/cluster_member.h"
#include "job/exit_code.h"
#include "launch/job_flags.h"

namespace shoal {

// How a job ended for one of its processes.
struct ProcessOutcome {
  // The outcome of a process that does not lead the job.
  static ProcessOutcome OfMember(const MemberEnd& end);

  // True for the process that leads the job: the outcome is that of the job.
  bool leads = false;
  // The job is over with `status`. Otherwise only the process's part is.
  bool over = false;
  absl::Status status;
  bool lost = false;         // MemberEnd::lost
  bool left_behind = false;  // MemberEnd::left_behind
  std::string last_words;  // about the checkpoints (ResumeText); may be empty
};

// Logs how the job of these flags ended, and returns what the process exits
// with. `signalled`: a signal has asked the process to stop. An end that the
// launcher tells is logged at debug.
ExitCode ReportOutcome(const ProcessOutcome& outcome, const JobFlags& flags,
                       bool signalled, Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_PROCESS_OUTCOME_H_
