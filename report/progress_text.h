#ifndef SHOAL_REPORT_PROGRESS_TEXT_H_
#define SHOAL_REPORT_PROGRESS_TEXT_H_

#include <string>

#include "report/live_line.h"
#include "report/progress_json.h"

namespace shoal {

// The live line about a job, by worth: epoch, share done, time left, samples
// per second, loss, AUC, the newest evaluation; then step, staleness and
// workers. The number of workers comes before the rate if some are missing.
// While training stands still for an evaluation, the share that is scored and
// its AUC so far come before the loss, and the time left is "-". 79 characters
// hold the brief forms up to the newest evaluation, or up to the loss while an
// evaluation runs. A figure that cannot be computed (yet) is "-".
LiveParts ProgressParts(const ProgressFigures& progress);

// All of it, for a line without a limit.
std::string ProgressText(const ProgressFigures& progress);

}  // namespace shoal

#endif  // SHOAL_REPORT_PROGRESS_TEXT_H_
