#include "launch/flags/evaluation_flags.h"

#include "absl/strings/str_cat.h"
#include "launch/job_flags.h"

namespace shoal {
void EvaluationFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Evaluation");
  rows->Add(kAllCommands, Canonical::kNo,
            {"eval_every_epochs", &eval_every_epochs,
             "Number of epochs between two evaluations on --val_data_dir; the "
             "end is always evaluated. 0: only the end.",
             IntRange{0, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"predictions_file", &predictions_file,
             "File for the probabilities that --task_type=infer predicts, one "
             "per row in the order of the input; nan for a row that cannot be "
             "parsed. Left out: predictions.txt (.f32) in --model_dir."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"predictions_format",
             ChoiceTarget(&predictions_format, kPredictionsFormats),
             absl::StrCat("Format of --predictions_file: ",
                          ChoiceHelp(kPredictionsFormats), ".")});
  rows->Add(kScoring, Canonical::kNo,
            {"unseen", ChoiceTarget(&unseen, kUnseen),
             absl::StrCat("Weights of an id that no training has seen, so that "
                          "the checkpoint has no row for it: ",
                          ChoiceHelp(kUnseen), ".")});
}

absl::Status EvaluationFlags::Validate(const JobFlags& job) const {
  // The process with the coordinator writes predictions.
  if (job.training.Infers() && job.PredictionsFile().empty() && job.Leads()) {
    return absl::InvalidArgumentError(
        OnlyScores(job.command)
            ? absl::StrCat(job.TaskText(),
                           " needs --predictions_file, to know where to write")
            : "--task_type=infer needs --predictions_file or --model_dir, to "
              "know where to write");
  }
  return absl::OkStatus();
}

}  // namespace shoal
