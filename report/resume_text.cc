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

// "m/ckpt-7, step 7".
std::string Place(const ResumeFacts& facts) {
  return absl::StrCat(facts.checkpoint, ", step ", facts.step);
}

std::string WithoutCheckpoint(const ResumeFacts& facts) {
  if (facts.model_dir.empty()) {
    return "there is no checkpoint without --model_dir, so the same command "
           "begins from the start";
  }
  return absl::StrCat("there is no checkpoint in ", facts.model_dir,
                      facts.unfinished.empty()
                          ? ""
                          : absl::StrCat(" (", facts.unfinished,
                                         " is an unfinished save)"),
                      ", so the same command begins from the start");
}

}  // namespace

SameCommand AfterEnd(const absl::Status& end) {
  switch (end.code()) {
    case absl::StatusCode::kOk:
      return SameCommand::kIsDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return SameCommand::kFailsAgain;
    default:
      return SameCommand::kGoesOn;
  }
}

std::string ResumeText(const ResumeFacts& facts, SameCommand next) {
  if (facts.checkpoint.empty()) {
    switch (next) {
      case SameCommand::kGoesOn:
        return WithoutCheckpoint(facts);
      case SameCommand::kIsDone:
        return facts.model_dir.empty()
                   ? "the model was not saved, as there is no --model_dir"
                   : absl::StrCat("there is no checkpoint in ",
                                  facts.model_dir);
      case SameCommand::kFailsAgain:
        return "";
    }
  }
  const std::string newest =
      absl::StrCat("the newest checkpoint is ", Place(facts));
  switch (next) {
    case SameCommand::kFailsAgain:
      return newest;
    case SameCommand::kIsDone:
      return absl::StrCat("a larger --num_epochs",
                          facts.resumes ? "" : ", without --resume=never,",
                          " trains on from ", Place(facts));
    case SameCommand::kGoesOn:
      break;
  }
  if (!facts.resumes) {
    return absl::StrCat(newest,
                        "; to go on from it, leave --resume=never out");
  }
  return absl::StrCat("the same command goes on from ", Place(facts));
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
  const bool saved = !checkpoint.path.empty();
  ResumeFacts facts;
  facts.checkpoint = saved ? checkpoint.path : checkpoint.resumed_from;
  facts.step = saved ? checkpoint.step : checkpoint.resumed_step;
  facts.model_dir = checkpoint.model_dir;
  facts.resumes = checkpoint.same_command_resumes;
  facts.unfinished = checkpoint.unfinished;
  return ResumeText(facts, report.over ? AfterEnd(report.status)
                                       : SameCommand::kGoesOn);
}

}  // namespace shoal
