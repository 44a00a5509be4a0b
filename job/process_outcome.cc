#include "job/process_outcome.h"

#include "absl/strings/str_cat.h"
#include "job/lost_exit.h"

namespace shoal {

ProcessOutcome ProcessOutcome::OfMember(const MemberEnd& end) {
  ProcessOutcome outcome;
  outcome.over = end.job_over;
  outcome.status = end.status;
  outcome.lost = end.lost;
  outcome.left_behind = end.left_behind;
  return outcome;
}

ExitCode ReportOutcome(const ProcessOutcome& outcome, const JobFlags& flags,
                       bool signalled, Logger* logger) {
  const absl::Status& status = outcome.status;
  const std::string last_words =
      outcome.last_words.empty() ? "" : absl::StrCat("; ", outcome.last_words);
  // The end of the job is told by the launcher, if there is one.
  const bool told = outcome.over && flags.output.Launched();
  if (status.ok()) {
    const bool left = signalled && !outcome.leads;
    logger->Log(told ? LogLevel::kDebug : LogLevel::kInfo,
                left ? "left the job"
                     : absl::StrCat("the job is done", last_words));
    return left ? kExitStopped : kExitOk;
  }
  if (outcome.over && absl::IsCancelled(status)) {
    logger->Log(told ? LogLevel::kDebug : LogLevel::kWarn,
                absl::StrCat("the job was stopped: ", status.message(),
                             last_words));
    return kExitStopped;
  }
  logger->Log(told ? LogLevel::kDebug : LogLevel::kError,
              absl::StrCat(outcome.left_behind
                               ? "this process was taken for dead: "
                               : "the job failed: ",
                           status.message(), last_words));
  // The job of a leader that got a signal has failed too if it did not end as
  // it was asked to: it is not saved.
  if (signalled) return outcome.leads ? kExitFailed : kExitStopped;
  return outcome.lost ? LostExit(flags) : kExitFailed;
}

}  // namespace shoal
