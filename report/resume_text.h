#ifndef SHOAL_REPORT_RESUME_TEXT_H_
#define SHOAL_REPORT_RESUME_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cluster/job_report.h"

namespace shoal {

// What the same command would meet after the end of a training.
enum class SameCommand {
  kGoesOn,      // it trains on, or begins from the start
  kFailsAgain,  // it would end for the same reason
  kIsDone,      // nothing is left to train
};

// The rule, for a job that has ended with `end`. By code: flags, files or data
// that were refused, and a disk or a table that is full, are refused again
// until a user mends them; a lost process, a signal or a deadline is gone.
SameCommand AfterEnd(const absl::Status& end);

// What is known of the checkpoints of a training.
struct ResumeFacts {
  std::string checkpoint;  // path of the newest one; empty: there is none
  uint64_t step = 0;       // its step
  std::string model_dir;   // where the job saves; empty: it does not
  bool resumes = true;     // false with --resume=never
  // Name of a directory of a save that was cut off; empty: there is none.
  std::string unfinished = "";
};

// The last words of a job that trains: the checkpoint from which the same
// command goes on, or that there is none; the newest checkpoint alone, or
// nothing, where the same command would fail again; and after a job that is
// done, that more epochs go on from the newest checkpoint, or that the model
// was not saved. With --resume=never
// the same command would be refused; the words say so.
std::string ResumeText(const ResumeFacts& facts, SameCommand next);

// The same for a job that runs, or has ended, as the report says. If training
// diverged: the checkpoint from before that, and the advice to lower the
// learning rate. Empty for a job that does not train.
std::string ResumeText(const JobReport& report);

// The error of a job, followed by its ResumeText, which may be empty.
absl::Status WithLastWords(const absl::Status& status,
                           absl::string_view resume_text);

}  // namespace shoal

#endif  // SHOAL_REPORT_RESUME_TEXT_H_
