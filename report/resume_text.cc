#include "report/resume_text.h"

#include "absl/strings/str_cat.h"
#include "base/path.h"

namespace shoal {
namespace {

// The newest checkpoint may hold weights that diverged already, and a job goes
// on from the newest.
std::string AfterDivergence(const CheckpointReport& checkpoint) {
  constexpr absl::string_view kLower = "with a smaller --learning_rate";
  const std::string& newest =
      checkpoint.path.empty() ? checkpoint.resumed_from : checkpoint.path;
  const std::string& before = checkpoint.before_divergence;
  if (before.empty() && newest.empty()) {
    return absl::StrCat("there is no checkpoint",
                        checkpoint.model_dir.empty()
                            ? std::string(" without --model_dir")
                            : absl::StrCat(" in ", checkpoint.model_dir),
                        ": begin again ", kLower);
  }
  if (before.empty()) {
    return absl::StrCat("the checkpoints in ", checkpoint.model_dir,
                        " were saved while it diverged: begin again ", kLower,
                        " and another --model_dir");
  }
  const std::string go_on = absl::StrCat(
      "the same command ", kLower,
      checkpoint.same_command_resumes ? "" : " and without --resume=never",
      " goes on from ", before, ", step ", checkpoint.before_divergence_step);
  if (newest.empty() || newest == before) return go_on;
  return absl::StrCat("remove ", newest,
                      " and any other checkpoint that was saved after ",
                      Basename(before), ", while it diverged; then ", go_on);
}

}  // namespace

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
  if (report.diverged) return AfterDivergence(checkpoint);
  return checkpoint.path.empty()
             ? ResumeText(checkpoint.resumed_from, checkpoint.resumed_step,
                          checkpoint.model_dir, checkpoint.same_command_resumes)
             : ResumeText(checkpoint.path, checkpoint.step,
                          checkpoint.model_dir,
                          checkpoint.same_command_resumes);
}

}  // namespace shoal
