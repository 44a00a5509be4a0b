#include "report/resume_text.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(ResumeTextTest, NamesTheNewestCheckpointOrSaysThatThereIsNone) {
  JobReport report;
  EXPECT_EQ(ResumeText(report),
            "there is no checkpoint without --model_dir, so the same command "
            "begins from the start");
  report.checkpoint.model_dir = "m";
  EXPECT_EQ(ResumeText(report),
            "there is no checkpoint in m, so the same command begins from the "
            "start");
  report.checkpoint.resumed_from = "m/ckpt-7";
  report.checkpoint.resumed_step = 7;
  EXPECT_EQ(ResumeText(report),
            "the same command goes on from m/ckpt-7, step 7");
  report.checkpoint.path = "m/ckpt-1234";
  report.checkpoint.step = 1234;
  EXPECT_EQ(ResumeText(report),
            "the same command goes on from m/ckpt-1234, step 1234");
  report.checkpoint.same_command_resumes = false;
  EXPECT_EQ(ResumeText(report),
            "the newest checkpoint is m/ckpt-1234, step 1234; to go on from "
            "it, leave --resume=never out");
}

// What the last line says after each kind of end, with a checkpoint and without
// one.
TEST(ResumeTextTest, PromisesOnlyWhatTheSameCommandWouldDo) {
  constexpr char kOn[] = "the same command goes on from m/ckpt-7, step 7";
  constexpr char kNewest[] = "the newest checkpoint is m/ckpt-7, step 7";
  constexpr char kStart[] =
      "there is no checkpoint in m, so the same command begins from the start";
  struct Row {
    const char* end;
    absl::Status status;
    const char* with;
    const char* without;
  };
  const Row rows[] = {
      {"done", absl::OkStatus(),
       "a larger --num_epochs trains on from m/ckpt-7, step 7",
       "there is no checkpoint in m"},
      {"a signal", absl::CancelledError(""), kOn, kStart},
      {"a lost server", absl::UnavailableError(""), kOn, kStart},
      {"no progress", absl::DeadlineExceededError(""), kOn, kStart},
      {"a worker that gave up", absl::AbortedError(""), kOn, kStart},
      {"bad rows, a wrong --field_size", absl::InvalidArgumentError(""),
       kNewest, ""},
      {"other data, fewer epochs", absl::FailedPreconditionError(""), kNewest,
       ""},
      {"divergence at the end", absl::OutOfRangeError(""), kNewest, ""},
      {"a damaged checkpoint", absl::DataLossError(""), kNewest, ""},
      {"a full table or disk", absl::ResourceExhaustedError(""), kNewest, ""},
      {"a missing file", absl::NotFoundError(""), kNewest, ""},
      {"a file that may not be read", absl::PermissionDeniedError(""), kNewest,
       ""},
  };
  for (const Row& row : rows) {
    JobReport report;
    report.over = true;
    report.status = row.status;
    report.checkpoint.model_dir = "m";
    EXPECT_EQ(ResumeText(report), row.without) << row.end;
    report.checkpoint.resumed_from = "m/ckpt-7";
    report.checkpoint.resumed_step = 7;
    EXPECT_EQ(ResumeText(report), row.with) << row.end;
  }
}

TEST(ResumeTextTest, AJobThatIsDoneGoesOnWithoutResumeNeverOnly) {
  EXPECT_EQ(ResumeText({"m/ckpt-7", 7, "m", /*resumes=*/false},
                       SameCommand::kIsDone),
            "a larger --num_epochs, without --resume=never, trains on from "
            "m/ckpt-7, step 7");
}

TEST(ResumeTextTest, AJobThatIsDonePromisesNoStartFromTheBeginning) {
  EXPECT_EQ(ResumeText({"", 0, "", true}, SameCommand::kIsDone),
            "the model was not saved, as there is no --model_dir");
}

TEST(ResumeTextTest, AnUnfinishedSaveIsNoCheckpoint) {
  EXPECT_EQ(ResumeText({"", 0, "m", true, "ckpt-9"}, SameCommand::kGoesOn),
            "there is no checkpoint in m (ckpt-9 is an unfinished save), so "
            "the same command begins from the start");
}

TEST(ResumeTextTest, AJobThatDivergedNamesTheCheckpointFromBeforeThat) {
  JobReport report;
  report.diverged = true;
  CheckpointReport& checkpoint = report.checkpoint;
  EXPECT_EQ(ResumeText(report),
            "there is no checkpoint without --model_dir: begin again with a "
            "smaller --learning_rate");
  checkpoint.model_dir = "m";
  EXPECT_EQ(ResumeText(report),
            "there is no checkpoint in m: begin again with a smaller "
            "--learning_rate");
  checkpoint.path = "m/ckpt-20";
  EXPECT_EQ(ResumeText(report),
            "the checkpoints in m were saved while it diverged: begin again "
            "with a smaller --learning_rate and another --model_dir");
  checkpoint.before_divergence = "m/ckpt-10";
  checkpoint.before_divergence_step = 10;
  EXPECT_EQ(ResumeText(report),
            "remove m/ckpt-20 and any other checkpoint that was saved after "
            "ckpt-10, while it diverged; then the same command with a smaller "
            "--learning_rate goes on from m/ckpt-10, step 10");
  checkpoint.path = "m/ckpt-10";
  EXPECT_EQ(ResumeText(report),
            "the same command with a smaller --learning_rate goes on from "
            "m/ckpt-10, step 10");
  checkpoint.same_command_resumes = false;
  EXPECT_EQ(ResumeText(report),
            "the same command with a smaller --learning_rate and without "
            "--resume=never goes on from m/ckpt-10, step 10");
  // It began from that checkpoint and saved none.
  checkpoint.same_command_resumes = true;
  checkpoint.path = "";
  EXPECT_EQ(ResumeText(report),
            "the same command with a smaller --learning_rate goes on from "
            "m/ckpt-10, step 10");
}

TEST(ResumeTextTest, AJobThatBeganWhileItDivergedNamesAnOlderCheckpoint) {
  JobReport report;
  report.diverged = true;
  CheckpointReport& checkpoint = report.checkpoint;
  checkpoint.model_dir = "m";
  checkpoint.resumed_from = "m/ckpt-71";
  checkpoint.resumed_step = 71;
  EXPECT_EQ(ResumeText(report),
            "the checkpoints in m were saved while it diverged: begin again "
            "with a smaller --learning_rate and another --model_dir");
  checkpoint.before_divergence = "m/ckpt-40";
  checkpoint.before_divergence_step = 40;
  EXPECT_EQ(ResumeText(report),
            "remove m/ckpt-71 and any other checkpoint that was saved after "
            "ckpt-40, while it diverged; then the same command with a smaller "
            "--learning_rate goes on from m/ckpt-40, step 40");
}

TEST(ResumeTextTest, AJobThatTrainsNothingHasNothingToGoOnFrom) {
  JobReport report;
  report.trains = false;
  report.checkpoint.resumed_from = "m/ckpt-7";
  EXPECT_EQ(ResumeText(report), "");
}

}  // namespace
}  // namespace shoal
