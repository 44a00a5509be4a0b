#ifndef SHOAL_REPORT_RESUME_TEXT_H_
#define SHOAL_REPORT_RESUME_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cluster/job_report.h"

namespace shoal {

// The last words of a job that trains: the checkpoint from which the same
// command goes on, or that there is none. If training diverged: the checkpoint
// from before that, and the advice to lower the learning rate. With
// --resume=never the same command would be refused; the words say so. Empty for
// a job that does not train.
std::string ResumeText(const JobReport& report);

// The same from what is known without a report. `path`: the newest checkpoint;
// empty: there is none. `model_dir`: where the job saves; empty: it does not.
// `resumes`: false with --resume=never.
std::string ResumeText(absl::string_view path, uint64_t step,
                       absl::string_view model_dir, bool resumes);

// The error of a job, followed by its ResumeText, which may be empty.
absl::Status WithLastWords(const absl::Status& status,
                           absl::string_view resume_text);

}  // namespace shoal

#endif  // SHOAL_REPORT_RESUME_TEXT_H_
