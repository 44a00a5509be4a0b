#include "job/restarting_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kKilled[] = "kill -9 $$";

// Jobs of one process, whose starts are shell scripts.
class RestartingJobTest : public ::testing::Test {
 protected:
  RestartingJobTest() {
    directory_ = absl::StrCat(::testing::TempDir(), "/restarts-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    wait_.Begin();
  }

  // A start that reports these figures first.
  static std::string At(uint64_t step, uint64_t saved,
                        const std::string& then) {
    ProgressFigures figures;
    figures.step = step;
    figures.checkpoint = absl::StrCat("m/ckpt-", saved);
    figures.checkpoint_step = saved;
    return absl::StrCat("echo '", ProgressJson(figures), "'; ", then);
  }
  static std::string Done() {
    return absl::StrCat("echo '", EndingJson({true, "", {"all"}}), "'");
  }
  // A start that has failed and said so.
  static std::string Failed(bool lost) {
    JobEnding ending;
    ending.reason = "ps 1: x";
    ending.lost = lost;
    return absl::StrCat("echo '", EndingJson(ending), "'; exit 1");
  }

  // Runs one start after the other.
  RestartingJobEnd Run(std::vector<std::string> starts) {
    RestartingJobOptions options;
    options.max_restarts = max_restarts_;
    options.pause = pause_;
    options.plan = [this, starts]() -> absl::StatusOr<LaunchedJobOptions> {
      if (planned_ >= starts.size()) return plan_error_;
      LaunchedProcess process;
      process.role = Role::kPs;
      process.leads = true;
      process.command = {"/bin/sh", "-c", starts[planned_++]};
      LaunchedJobOptions job;
      job.processes.push_back(std::move(process));
      job.ending_timeout = absl::Milliseconds(100);
      job.remote = remote_;
      return job;
    };
    options.newest = [this](const ProgressFigures& figures)
        -> std::optional<KnownCheckpoint> {
      // It is blocked, and so it waits until something reads it.
      if (++asked_ == signal_at_) raise(SIGTERM);
      if (figures.checkpoint.empty()) return std::nullopt;
      return KnownCheckpoint{figures.checkpoint, figures.checkpoint_step};
    };
    const std::string log = directory_ + "/log";
    FILE* const file = fopen(log.c_str(), "w");
    LiveOutputOptions output_options;
    output_options.fd = fileno(file);
    absl::StatusOr<RestartingJobEnd> end;
    {
      LiveOutput output(output_options);
      end = RunWithRestarts(std::move(options), &wait_, &output);
    }
    fclose(file);
    std::ifstream said(log);
    said_.assign(std::istreambuf_iterator<char>(said), {});
    EXPECT_TRUE(end.ok()) << end.status();
    return *std::move(end);
  }

  MainWait wait_;
  std::string directory_;
  int max_restarts_ = 2;
  bool remote_ = false;
  absl::Duration pause_ = absl::ZeroDuration();
  absl::Status plan_error_ = absl::InternalError("no more");
  size_t planned_ = 0;
  // SIGTERM comes at this question for the newest checkpoint, the first of
  // which is before the first start; 0: it never comes.
  int signal_at_ = 0;
  int asked_ = 0;
  std::string said_;  // what users see
};

TEST_F(RestartingJobTest, AJobThatEndsIsNotStartedAgain) {
  for (const std::string& start : {Done(), Failed(false), std::string("exit 2"),
                                   std::string("exit 1")}) {
    planned_ = 0;
    const RestartingJobEnd end = Run({start, Done()});
    EXPECT_EQ(planned_, 1u) << start;
    EXPECT_EQ(end.restarts, 0);
    EXPECT_FALSE(end.last.lost);
    EXPECT_THAT(said_, Not(HasSubstr("starting it again")));
  }
}

TEST_F(RestartingJobTest, ALostProcessStartsTheJobAgainAndTheReasonIsSaid) {
  const RestartingJobEnd end =
      Run({At(12, 10, kKilled), At(25, 20, Failed(true)), Done()});
  EXPECT_TRUE(end.last.status.ok()) << end.last.status;
  EXPECT_EQ(end.restarts, 2);
  EXPECT_EQ(end.steps_again, 2u + 5u);
  EXPECT_THAT(
      said_,
      AllOf(ContainsRegex(R"(shoal run \| \S+ warning the job failed: )"
                          "ps 0 was killed by SIGKILL; starting it again, "
                          "restart 1 of 2 since the newest checkpoint, from "
                          "m/ckpt-10, step 10; about 2 batches are trained "
                          "again\n"),
            HasSubstr("the job failed: ps 1: x; starting it again, restart 1 "
                      "of 2 since the newest checkpoint, from m/ckpt-20, step "
                      "20; about 5 batches are trained again\n")));
}

TEST_F(RestartingJobTest, AJobWithoutProgressIsGivenUp) {
  const RestartingJobEnd end =
      Run({At(12, 10, kKilled), At(11, 10, kKilled), kKilled, Done()});
  EXPECT_EQ(planned_, 3u);
  EXPECT_EQ(end.restarts, 2);
  EXPECT_TRUE(end.last.lost);
  EXPECT_EQ(end.last.status.message(),
            "ps 0 was killed by SIGKILL; given up after 2 restarts without a "
            "newer checkpoint (--max_job_restarts)");
  EXPECT_EQ(end.last.figures.checkpoint_step, 10u)
      << "known from the start before";
  EXPECT_THAT(said_, HasSubstr("restart 2 of 2"));
}

TEST_F(RestartingJobTest, WithoutACheckpointItBeginsFromTheStart) {
  const RestartingJobEnd end = Run({kKilled, Done()});
  EXPECT_EQ(end.restarts, 1);
  EXPECT_THAT(said_,
              HasSubstr("restart 1 of 2 since the newest checkpoint, from the "
                        "start, since no checkpoint is known\n"));
}

TEST_F(RestartingJobTest, ALaterStartThatCannotBeginEndsAJobOfThisHost) {
  const RestartingJobEnd end = Run({kKilled, "exit 2", Done()});
  EXPECT_EQ(planned_, 2u) << "nothing of the first start is left";
  EXPECT_FALSE(end.last.lost);
  EXPECT_EQ(end.last.exit_code, kExitUsage);
}

TEST_F(RestartingJobTest, ALaterStartThatCannotBeginIsNoMistakeInTheFlags) {
  remote_ = true;
  const RestartingJobEnd end = Run({kKilled, "exit 2", "exit 2", Done()});
  EXPECT_EQ(planned_, 3u);
  EXPECT_TRUE(end.last.lost);
  EXPECT_EQ(end.last.exit_code, kExitFailed);
  EXPECT_THAT(std::string(end.last.status.message()),
              HasSubstr("; given up after 2 restarts"));
}

TEST_F(RestartingJobTest, TheDiskIsReadOnlyIfARestartMayFollow) {
  Run({Done()});
  EXPECT_EQ(asked_, 1) << "before the first start";
  max_restarts_ = 0;
  planned_ = 0;
  EXPECT_TRUE(Run({kKilled}).last.lost);
  EXPECT_EQ(asked_, 1);
}

TEST_F(RestartingJobTest, ASignalBetweenTwoStartsStopsTheJob) {
  pause_ = absl::Hours(1);
  signal_at_ = 2;
  const RestartingJobEnd end = Run({kKilled, Done()});
  EXPECT_EQ(planned_, 1u);
  EXPECT_EQ(end.last.exit_code, kExitStopped);
  EXPECT_FALSE(end.last.lost);
  EXPECT_EQ(end.last.status,
            absl::CancelledError(
                "stopped by SIGTERM before it was started again; the start "
                "before: ps 0 was killed by SIGKILL"));
}

TEST_F(RestartingJobTest, AHostThatStaysAwayEndsTheJob) {
  plan_error_ = absl::UnavailableError("h2 is away");
  RestartingJobEnd end = Run({kKilled});
  EXPECT_TRUE(end.last.lost);
  EXPECT_EQ(end.last.status.message(),
            "ps 0 was killed by SIGKILL; it cannot be started again: h2 is "
            "away");
  planned_ = 0;
  plan_error_ = absl::CancelledError("stopped by SIGHUP");
  end = Run({kKilled});
  EXPECT_FALSE(end.last.lost);
  EXPECT_EQ(end.last.exit_code, kExitStopped);
}

}  // namespace
}  // namespace shoal
