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

TEST(ResumeTextTest, AJobThatTrainsNothingHasNothingToGoOnFrom) {
  JobReport report;
  report.trains = false;
  report.checkpoint.resumed_from = "m/ckpt-7";
  EXPECT_EQ(ResumeText(report), "");
}

}  // namespace
}  // namespace shoal
