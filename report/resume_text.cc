#include "report/resume_text.h"

#include "absl/strings/str_cat.h"

namespace shoal {

std::string ResumeText(absl::string_view path, uint64_t step,
                       absl::string_view model_dir, bool resumes) {
  if (!path.empty() && !resumes) {
    return absl::StrCat("the newest checkpoint is ", path, ", step ", step,
                        "; to go on from it, leave --resume=never out");
  }
  if (!path.empty()) {
    return absl::StrCat("the same command goes on from ", path, ", step ",
                        step);
  }
  if (!model_dir.empty()) {
    return absl::StrCat("there is no checkpoint in ", model_dir,
                        ", so the same command begins from the start");
  }
  return "there is no checkpoint without --model_dir, so the same command "
         "begins from the start";
}

absl::Status WithLastWords(const absl::Status& status,
                           absl::string_view resume_text) {
  if (status.ok() || resume_text.empty()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; ", resume_text));
}

std::string ResumeText(const JobReport& report) {
  if (!report.trains) return "";
  const CheckpointReport& checkpoint = report.checkpoint;
  return checkpoint.path.empty()
             ? ResumeText(checkpoint.resumed_from, checkpoint.resumed_step,
                          checkpoint.model_dir, checkpoint.same_command_resumes)
             : ResumeText(checkpoint.path, checkpoint.step,
                          checkpoint.model_dir,
                          checkpoint.same_command_resumes);
}

}  // namespace shoal
