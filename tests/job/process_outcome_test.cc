#include "job/process_outcome.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace shoal {
namespace {

struct Row {
  std::string name;
  ProcessOutcome outcome;
  bool signalled = false;
  ExitCode code = kExitOk;
  // The level and the words of the line.
  std::string level;
  std::string words;
};

ProcessOutcome Leads(absl::Status status, bool lost = false) {
  return {.leads = true,
          .over = true,
          .status = std::move(status),
          .lost = lost,
          .last_words = "resume from ckpt-7"};
}

ProcessOutcome Member(absl::Status status, bool over, bool lost = false) {
  MemberEnd end;
  end.status = std::move(status);
  end.job_over = over;
  end.lost = lost;
  return ProcessOutcome::OfMember(end);
}

ProcessOutcome LeftBehind(absl::Status status) {
  MemberEnd end;
  end.status = std::move(status);
  end.left_behind = true;
  return ProcessOutcome::OfMember(end);
}

std::vector<Row> Rows() {
  const absl::Status cancelled = absl::CancelledError("ps 0 was stopped");
  const absl::Status lost = absl::UnavailableError("ps 1 is lost");
  const absl::Status bad = absl::InvalidArgumentError("a bad row");
  return {
      {"the leader of a job that is done", Leads(absl::OkStatus()), false,
       kExitOk, "info", "the job is done; resume from ckpt-7"},
      {"a leader whose job ended well in spite of a signal",
       Leads(absl::OkStatus()), true, kExitOk, "info",
       "the job is done; resume from ckpt-7"},
      {"a stopped job", Leads(cancelled), true, kExitStopped, "warn",
       "the job was stopped: ps 0 was stopped; resume from ckpt-7"},
      {"a signal, and another failure", Leads(bad), true, kExitFailed, "error",
       "the job failed: a bad row; resume from ckpt-7"},
      {"a lost process", Leads(lost, true), false, kExitLost, "error",
       "the job failed: ps 1 is lost; resume from ckpt-7"},
      {"a failure", Leads(bad), false, kExitFailed, "error",
       "the job failed: a bad row; resume from ckpt-7"},
      {"a member of a job that is done", Member(absl::OkStatus(), true), false,
       kExitOk, "info", "the job is done"},
      {"a member that left", Member(absl::OkStatus(), false), true,
       kExitStopped, "info", "left the job"},
      {"a member of a stopped job", Member(cancelled, true), false,
       kExitStopped, "warn", "the job was stopped: ps 0 was stopped"},
      {"a member whose own part was cancelled", Member(cancelled, false), false,
       kExitFailed, "error", "the job failed: ps 0 was stopped"},
      {"a member of a job that lost a process", Member(lost, true, true), false,
       kExitLost, "error", "the job failed: ps 1 is lost"},
      {"a member that was taken for dead", LeftBehind(lost), false, kExitFailed,
       "error", "this process was taken for dead: ps 1 is lost"},
      {"a member with a signal, of a job that failed", Member(bad, true), true,
       kExitStopped, "error", "the job failed: a bad row"},
  };
}

class ProcessOutcomeTest : public testing::Test {
 protected:
  ProcessOutcomeTest() : flags_(Command::kPs) {
    flags_.checkpoints.model_dir = "model";
  }

  // Returns what `report` logs, with debug lines.
  std::string Logged(const Row& row, ExitCode* code) {
    LoggerOptions options;
    options.level = LogLevel::kDebug;
    testing::internal::CaptureStderr();
    {
      Logger logger(options);
      *code = ReportOutcome(row.outcome, flags_, row.signalled, &logger);
    }
    return testing::internal::GetCapturedStderr();
  }

  JobFlags flags_;
};

TEST_F(ProcessOutcomeTest, EachEndHasItsCodeAndItsWords) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.name);
    ExitCode code = kExitUsage;
    const std::string line = Logged(row, &code);
    EXPECT_EQ(code, row.code);
    EXPECT_NE(line.find(row.level), std::string::npos) << line;
    EXPECT_NE(line.find(row.words + "\n"), std::string::npos) << line;
  }
}

TEST_F(ProcessOutcomeTest, TheLauncherTellsTheEndOfTheJob) {
  flags_.output.progress = ProgressStyle::kNone;
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.name);
    ExitCode code = kExitUsage;
    const std::string line = Logged(row, &code);
    EXPECT_EQ(code, row.code);
    const bool debug = line.find("debug") != std::string::npos;
    EXPECT_EQ(debug, row.outcome.over) << line;
  }
}

TEST_F(ProcessOutcomeTest, WithoutCheckpointsALostProcessIsAFailure) {
  flags_.checkpoints.model_dir = "";
  ExitCode code = kExitUsage;
  Logged({"", Leads(absl::UnavailableError("ps 1 is lost"), true)}, &code);
  EXPECT_EQ(code, kExitFailed);
}

}  // namespace
}  // namespace shoal
