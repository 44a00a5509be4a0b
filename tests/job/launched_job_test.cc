#include "job/launched_job.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Jobs whose processes are shell scripts.
class LaunchedJobTest : public ::testing::Test {
 protected:
  LaunchedJobTest() {
    directory_ = absl::StrCat(::testing::TempDir(), "/job-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    options_.ending_timeout = absl::Milliseconds(100);
  }

  void Ps(const std::string& script) { Add(Role::kPs, script); }
  void Worker(const std::string& script) { Add(Role::kWorker, script); }

  // A process that runs until it is asked to stop, or a file is there.
  std::string UntilStopped() const {
    return "trap 'exit 3' TERM INT; while :; do sleep 0.02; done";
  }
  std::string Until(const std::string& file) const {
    return absl::StrCat("while ! test -e ", directory_, "/", file,
                        "; do sleep 0.01; done");
  }
  std::string Touch(const std::string& file) const {
    return absl::StrCat("touch ", directory_, "/", file);
  }
  static std::string Print(const std::string& json) {
    return absl::StrCat("echo '", json, "'");
  }
  LaunchedJobEnd Run() {
    LiveOutputOptions output_options;
    output_options.fd = -1;
    LiveOutput output(output_options);
    return LaunchedJob(options_, &output).Run();
  }
  // The launcher gets SIGTERM and passes it on to the leader, which then tells
  // of this end.
  LaunchedJobEnd StopAndEndWith(const std::string& reason, int signal) {
    Ps(absl::StrCat(
        "trap 'cat ", directory_, "/ending; exit 3' TERM; ",
        Print(EndingJson({false, reason, {}, "ps 0", true, "", signal})), " > ",
        directory_, "/ending; kill -TERM $PPID; while :; do sleep 0.02; done"));
    Worker(UntilStopped());
    return Run();
  }

  std::string directory_;
  LaunchedJobOptions options_;

 private:
  void Add(Role role, const std::string& script) {
    const auto index = std::count_if(
        options_.processes.begin(), options_.processes.end(),
        [role](const LaunchedProcess& other) { return other.role == role; });
    LaunchedProcess process;
    process.role = role;
    process.index = static_cast<int>(index);
    process.command = {"/bin/sh", "-c", script};
    process.leads = role == Role::kPs && index == 0;
    process.may_restart = role == Role::kWorker;
    options_.processes.push_back(std::move(process));
  }
};

TEST_F(LaunchedJobTest, AJobThatEndsWellHasItsClosingLines) {
  Ps(absl::StrCat(Until("worked"), "; ", Print(ProgressJson(ProgressFigures{})),
                  "; ", Print(EndingJson({true, "", {"samples 1 = 1"}}))));
  Worker(Touch("worked"));
  const LaunchedJobEnd end = Run();
  EXPECT_TRUE(end.status.ok()) << end.status;
  EXPECT_THAT(end.lines, ElementsAre("samples 1 = 1"));
}

TEST_F(LaunchedJobTest, PsZeroTellsOfAJobThatNeverBeganToo) {
  Ps(absl::StrCat(Print(EndingJson({false, "ps 0: stopped", {}})), "; exit 1"));
  Worker("exit 1");
  const LaunchedJobEnd end = Run();
  EXPECT_TRUE(end.told) << "it has written the summary";
  EXPECT_TRUE(end.lines.empty());
}

TEST_F(LaunchedJobTest, TheSummaryOfALargeJobArrivesWhole) {
  JobEnding ending;
  ending.ok = true;
  ending.summary = absl::StrCat("{\"x\":\"", std::string(300'000, 'x'), "\"}");
  const std::string file = absl::StrCat(directory_, "/ending");
  std::ofstream(file) << EndingJson(ending) << "\n";
  Ps(absl::StrCat("cat ", file));
  Worker("exit 0");
  const LaunchedJobEnd end = Run();
  EXPECT_TRUE(end.status.ok()) << end.status;
  EXPECT_EQ(end.summary, ending.summary);
}

TEST_F(LaunchedJobTest, AKilledPsZeroTellsNothing) {
  Ps("kill -9 $$");
  Worker("exit 1");
  EXPECT_FALSE(Run().told);
}

TEST_F(LaunchedJobTest, AKilledWorkerIsStartedAgain) {
  Ps(absl::StrCat(Until("twice"), "; ",
                  Print(EndingJson({true, "", {"end"}}))));
  Worker(absl::StrCat("test -e ", directory_, "/once && { ", Touch("twice"),
                      "; exit 0; }; ", Touch("once"), "; kill -9 $$"));
  EXPECT_TRUE(Run().status.ok());
}

TEST_F(LaunchedJobTest, TheOthersGoOnWithoutAWorkerThatIsKilledTooOften) {
  options_.max_restarts = 1;
  Ps(absl::StrCat(Until("done"), "; ", Print(EndingJson({true, "", {"end"}}))));
  Worker("kill -9 $$");
  Worker(absl::StrCat("sleep 0.2; ", Touch("done")));
  EXPECT_TRUE(Run().status.ok());
}

TEST_F(LaunchedJobTest, WithoutAnyWorkerTheJobFails) {
  options_.max_restarts = 1;
  Ps(UntilStopped());
  Worker("kill -9 $$");
  const LaunchedJobEnd end = Run();
  EXPECT_THAT(std::string(end.status.message()),
              HasSubstr("worker 0 was killed by SIGKILL"));
}

TEST_F(LaunchedJobTest, AWorkerThatGivesUpEndsTheJobAndIsTheCause) {
  Ps(UntilStopped());
  Worker("echo 'no such file' >&2; exit 1");
  Worker(UntilStopped());
  const LaunchedJobEnd end = Run();
  EXPECT_EQ(end.status.message(),
            "worker 0 exited with code 1; its last words: no such file");
}

// A rank of a ring that was taken for dead and comes back too late.
TEST_F(LaunchedJobTest, AWorkerMayLeaveAJobThatGoesOnWithoutIt) {
  ProgressFigures figures;
  figures.started = true;
  const std::string pid = absl::StrCat(directory_, "/pid");
  Ps(absl::StrCat(Print(ProgressJson(figures)), "; ", Until("over"), "; ",
                  Print(EndingJson({true, "", {"end"}}))));
  // The launcher has read what the leader printed, and later that it ended.
  Worker(absl::StrCat("echo $$ > ", pid, "; sleep 0.2; exit 1"));
  options_.processes[1].may_leave = true;
  Worker(absl::StrCat(Until("pid"), "; while kill -0 $(cat ", pid,
                      ") 2>/dev/null; do sleep 0.01; done; sleep 0.3; ",
                      Touch("over")));
  EXPECT_TRUE(Run().status.ok());
}

// What happens to the job later has its own cause.
TEST_F(LaunchedJobTest, AWorkerThatHasLeftIsNotTheCauseOfALaterEnd) {
  ProgressFigures figures;
  figures.started = true;
  for (const absl::string_view end_of : {"killed", "stopped"}) {
    SCOPED_TRACE(std::string(end_of));
    const bool killed = end_of == "killed";
    options_.processes.clear();
    const std::string pid = absl::StrCat(directory_, "/pid-", end_of);
    Ps(absl::StrCat(
        Print(ProgressJson(figures)), "; ", Until(absl::StrCat(end_of)), "; ",
        killed ? "kill -9 $$"
               : absl::StrCat(Print(EndingJson({false,
                                                "ps 0 was stopped by SIGTERM",
                                                {},
                                                "ps 0",
                                                true})),
                              "; exit 3")));
    // The launcher has read what the leader printed.
    Worker(absl::StrCat("echo $$ > ", pid, "; sleep 0.2; ",
                        killed ? "exit 1" : "kill -9 $$"));
    options_.processes[1].may_leave = true;
    Worker(absl::StrCat("while ! test -s ", pid, "; do sleep 0.01; done; ",
                        "while kill -0 $(cat ", pid,
                        ") 2>/dev/null; do sleep 0.01; done; sleep 0.3; ",
                        Touch(absl::StrCat(end_of)), "; ", UntilStopped()));
    const LaunchedJobEnd end = Run();
    EXPECT_EQ(end.lost, killed);
    EXPECT_EQ(end.status.message(), killed ? "ps 0 was killed by SIGKILL"
                                           : "ps 0 was stopped by SIGTERM");
    EXPECT_EQ(end.exit_code, killed ? kExitFailed : kExitStopped);
  }
}

TEST_F(LaunchedJobTest, AProcessThatCannotUseItsFlagsMakesItAMistakeOfThem) {
  Ps(UntilStopped());
  Worker("echo 'worker: --quarantine_dir: Permission denied' >&2; exit 2");
  EXPECT_EQ(Run().exit_code, kExitUsage);
  options_.processes.pop_back();
  Worker("exit 1");
  EXPECT_EQ(Run().exit_code, kExitFailed);
  // Its first life had a part in the job.
  options_.processes.pop_back();
  Worker(absl::StrCat("test -e ", directory_, "/once && exit 2; ",
                      Touch("once"), "; kill -9 $$"));
  EXPECT_EQ(Run().exit_code, kExitFailed);
}

TEST_F(LaunchedJobTest, AProcessThatNeverTookPartEndsTheJobAtOnce) {
  options_.ending_timeout = absl::Hours(1);
  for (const bool is_ps : {true, false}) {
    options_.processes.clear();
    // It will have to be stopped for that, and say so.
    const std::string ready = is_ps ? "ready-1" : "ready-2";
    Ps(absl::StrCat(
        "trap 'exit 3' TERM; ",
        Print(EndingJson(
            {false, "ps 0 was stopped by SIGTERM", {}, "ps 0", true})),
        "; ", Touch(ready), "; while :; do sleep 0.02; done"));
    const std::string refused = absl::StrCat(
        Until(ready), "; echo 'shoal-ps: port in use' >&2; exit 2");
    if (is_ps) Ps(refused);
    Worker(is_ps ? UntilStopped() : refused);
    const LaunchedJobEnd end = Run();
    EXPECT_EQ(end.status.message(),
              absl::StrCat(is_ps ? "ps 1" : "worker 0",
                           " exited with code 2; its last words: shoal-ps: "
                           "port in use"));
    EXPECT_EQ(end.exit_code, kExitUsage);
  }
}

TEST_F(LaunchedJobTest, ProcessesThatTheLauncherStoppedAreNoNews) {
  Ps(UntilStopped());
  Worker("echo 'shoal-worker: no such flag' >&2; exit 2");
  Worker("while :; do sleep 0.02; done");
  const std::string path = absl::StrCat(directory_, "/said");
  LiveOutputOptions output_options;
  output_options.fd = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(output_options.fd, 0);
  LiveOutput output(output_options);
  const LaunchedJobEnd end = LaunchedJob(options_, &output).Run();
  std::string said(4096, '\0');
  said.resize(pread(output_options.fd, said.data(), said.size(), 0));
  close(output_options.fd);
  EXPECT_EQ(end.status.message(),
            "worker 0 exited with code 2; its last words: shoal-worker: no "
            "such flag");
  EXPECT_THAT(said, HasSubstr("warning worker 0 exited with code 2"));
  EXPECT_THAT(said, Not(HasSubstr("worker 1")));
  EXPECT_THAT(said, Not(HasSubstr("ps 0")));
}

TEST_F(LaunchedJobTest, TheLastErrorIsQuotedAndNotTheLastLine) {
  Ps(UntilStopped());
  Worker("echo '12:00:00.000 error [worker 0] the disk is gone' >&2; "
         "echo '12:00:00.001 info [worker 0] left the job' >&2; exit 1");
  EXPECT_EQ(Run().status.message(),
            "worker 0 exited with code 1; its last words: the disk is gone");
}

TEST_F(LaunchedJobTest, AServerThatGotASignalStopsTheJobAndDoesNotFailIt) {
  Ps(absl::StrCat(
      Until("left"), "; ",
      Print(
          EndingJson({false, "ps 1 was stopped by SIGTERM", {}, "ps 1", true})),
      "; exit 3"));
  Ps(absl::StrCat(Touch("left"), "; exit 3"));
  Worker(absl::StrCat(Until("left"), "; exit 3"));
  const LaunchedJobEnd end = Run();
  EXPECT_EQ(end.status, absl::CancelledError("ps 1 was stopped by SIGTERM"));
  EXPECT_EQ(end.exit_code, kExitStopped);
}

TEST_F(LaunchedJobTest, ASignalIsNamedOnce) {
  const auto end =
      StopAndEndWith("ps 0 was stopped by SIGTERM; saved", SIGTERM);
  EXPECT_EQ(end.status, absl::CancelledError("stopped by SIGTERM; saved"));
  EXPECT_EQ(end.exit_code, kExitStopped);
}

// Where the connection to a host is closed, its processes get SIGHUP.
TEST_F(LaunchedJobTest, TheHangUpOnAnotherHostIsNotNamed) {
  options_.remote = true;
  const auto end = StopAndEndWith("ps 0 was stopped by SIGHUP; saved", SIGHUP);
  EXPECT_EQ(end.status, absl::CancelledError("stopped by SIGTERM; saved"));
}

TEST_F(LaunchedJobTest, AnotherSignalOfTheLeaderIsNamedToo) {
  // Whatever the reason looks like, the code of the signal decides.
  EXPECT_EQ(
      StopAndEndWith("ps 0 was stopped by SIGTERM", SIGHUP).status,
      absl::CancelledError("stopped by SIGTERM: ps 0 was stopped by SIGTERM"));
}

TEST_F(LaunchedJobTest, AJobWhoseLeaderIsKilledBeforeItSavedHasFailed) {
  for (const bool saves : {true, false}) {
    options_.saves = saves;
    options_.processes.clear();
    Ps("trap 'kill -9 $$' TERM; kill -TERM $PPID; "
       "while :; do sleep 0.02; done");
    Worker(UntilStopped());
    const LaunchedJobEnd end = Run();
    EXPECT_EQ(end.status,
              saves ? absl::AbortedError(
                          "stopped by SIGTERM; ps 0 was killed by SIGKILL")
                    : absl::CancelledError("stopped by SIGTERM"));
    EXPECT_EQ(end.exit_code, saves ? kExitFailed : kExitStopped);
  }
}

TEST_F(LaunchedJobTest, ALeaderWhoseSshIsLostBeforeItSavedHasFailed) {
  options_.remote = true;
  options_.saves = true;
  Ps("trap 'exit 255' TERM; kill -TERM $PPID; while :; do sleep 0.02; done");
  Worker(UntilStopped());
  const LaunchedJobEnd end = Run();
  EXPECT_EQ(end.exit_code, kExitFailed) << end.status;
  EXPECT_FALSE(end.lost) << "its user has stopped it";
}

TEST_F(LaunchedJobTest, AKilledServerAndAKilledLeaderAreLosses) {
  Ps("kill -9 $$");
  Worker(UntilStopped());
  EXPECT_TRUE(Run().lost);
  options_.processes.clear();
  // The leader has to be stopped, and does not know why.
  Ps(absl::StrCat(
      "trap 'cat ", directory_, "/ending; exit 3' TERM; echo '",
      EndingJson({false, "ps 0 was stopped by SIGTERM", {}, "ps 0", true}),
      "' > ", directory_, "/ending; ", Touch("ready"),
      "; while :; do sleep 0.02; done"));
  Ps(absl::StrCat(Until("ready"), "; kill -9 $$"));
  Worker(UntilStopped());
  EXPECT_TRUE(Run().lost);
}

TEST_F(LaunchedJobTest, TheLeaderSaysWhetherTheJobLostAProcess) {
  for (const bool lost : {true, false}) {
    options_.processes.clear();
    JobEnding ending;
    ending.reason = "ps 1 is gone";
    ending.lost = lost;
    Ps(absl::StrCat(Print(EndingJson(ending)), "; exit 1"));
    Worker(absl::StrCat("exit ", int{kExitLost}));
    EXPECT_EQ(Run().lost, lost);
  }
}

TEST_F(LaunchedJobTest, AllWorkersKilledTooOftenAreALossAndOneIsNot) {
  options_.max_restarts = 1;
  const std::string stopped =
      EndingJson({false, "ps 0 was stopped by SIGTERM", {}, "ps 0", true});
  Ps(absl::StrCat("trap 'cat ", directory_, "/ending; exit 3' TERM; echo '",
                  stopped, "' > ", directory_, "/ending; ", Touch("ready"),
                  "; while :; do sleep 0.02; done"));
  Worker(absl::StrCat(Until("ready"), "; kill -9 $$"));
  EXPECT_TRUE(Run().lost);
  Worker(absl::StrCat(Until("ready"), "; sleep 0.2; exit 1"));
  EXPECT_FALSE(Run().lost);
}

TEST_F(LaunchedJobTest, AWorkerThatLostTheJobIsNotStartedAgain) {
  Ps(UntilStopped());
  Worker(absl::StrCat("test -e ", directory_, "/once && exit 1; ",
                      Touch("once"), "; exit ", int{kExitLost}));
  const LaunchedJobEnd end = Run();
  EXPECT_EQ(end.status.message(), "worker 0 exited with code 138");
  EXPECT_TRUE(end.lost);
  EXPECT_EQ(end.exit_code, kExitFailed);
}

TEST_F(LaunchedJobTest, AFailureAMistakeAndASignalAreNoLosses) {
  Ps(UntilStopped());
  Worker("exit 1");
  EXPECT_FALSE(Run().lost);
  options_.processes.pop_back();
  Worker("exit 2");
  EXPECT_FALSE(Run().lost);
  options_.processes.clear();
  Ps("trap 'exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.02; done");
  Ps("trap 'kill -9 $$' TERM; while :; do sleep 0.02; done");
  Worker(UntilStopped());
  EXPECT_FALSE(Run().lost);
}

TEST_F(LaunchedJobTest, AServerThatItsUserHasEndedIsNoLoss) {
  JobEnding ending;
  ending.reason = "ps 1 died";
  ending.lost = true;
  // Server 0 ends once the launcher has seen the end of server 1, also if the
  // launcher asks it to stop before that.
  const std::string pid = absl::StrCat(directory_, "/pid");
  Ps(absl::StrCat("trap '' TERM; ", Until("left"), "; while kill -0 $(cat ",
                  pid, ") 2>/dev/null; do sleep 0.01; done; ",
                  Print(EndingJson(ending)), "; exit ", int{kExitLost}));
  Ps(absl::StrCat("echo $$ > ", pid, "; ", Touch("left"), "; exit 3"));
  Worker(UntilStopped());
  const LaunchedJobEnd end = Run();
  EXPECT_FALSE(end.lost);
  EXPECT_EQ(end.exit_code, kExitStopped) << end.status;
}

TEST_F(LaunchedJobTest, TheNewestFiguresAreKept) {
  ProgressFigures figures;
  figures.step = 17;
  figures.checkpoint = "m/ckpt-5";
  figures.checkpoint_step = 5;
  Ps(absl::StrCat(Print(ProgressJson(ProgressFigures{})), "; ",
                  Print(ProgressJson(figures)), "; kill -9 $$"));
  Worker(UntilStopped());
  const LaunchedJobEnd end = Run();
  EXPECT_EQ(end.figures.step, 17u);
  EXPECT_EQ(end.figures.checkpoint, "m/ckpt-5");
  EXPECT_EQ(end.figures.checkpoint_step, 5u);
}

TEST_F(LaunchedJobTest, AJobIsStoppedWhenItsFiguresSaySo) {
  ProgressFigures early, late;
  early.step = 7;
  late.step = 8;
  const std::string last = absl::StrCat(directory_, "/last");
  Ps(absl::StrCat(Print(EndingJson({false, "ps 0 was stopped", {}})), " > ",
                  last, "; trap 'cat ", last, "; exit 3' TERM; ",
                  Print(ProgressJson(early)), "; ",
                  Print(ProgressJson(late)),
                  "; while :; do sleep 0.02; done"));
  Worker(UntilStopped());
  std::vector<uint64_t> seen;
  options_.stop_when = [&seen](const ProgressFigures& figures) {
    seen.push_back(figures.step);
    return figures.step == 8;
  };
  const LaunchedJobEnd end = Run();
  EXPECT_THAT(seen, ElementsAre(7, 8));
  EXPECT_TRUE(end.stopped_as_planned) << end.status;
  EXPECT_TRUE(absl::IsCancelled(end.status)) << end.status;
  EXPECT_EQ(end.exit_code, kExitStopped);
  EXPECT_TRUE(end.told);
  EXPECT_FALSE(end.lost);
}

TEST_F(LaunchedJobTest, AJobThatFailsIsNotStoppedAsPlanned) {
  Ps(absl::StrCat(Print(ProgressJson(ProgressFigures{})), "; exit 1"));
  options_.stop_when = [](const ProgressFigures&) { return false; };
  EXPECT_FALSE(Run().stopped_as_planned);
}

TEST_F(LaunchedJobTest, AJobThatItsUserKilledIsStopped) {
  options_.saves = true;
  Ps("trap 'kill -INT $PPID' INT; kill -INT $PPID; "
     "while :; do sleep 0.02; done");
  Worker("trap '' INT; while :; do sleep 0.02; done");
  EXPECT_EQ(Run().exit_code, kExitStopped);
}

TEST_F(LaunchedJobTest, ADeadCoordinatorEndsTheJobAtOnce) {
  options_.ending_timeout = absl::Hours(1);
  Ps("kill -9 $$");
  Ps(UntilStopped());
  Worker(UntilStopped());
  const LaunchedJobEnd end = Run();
  EXPECT_EQ(end.status.message(), "ps 0 was killed by SIGKILL");
}

// A frozen process: the others give up, and the launcher has to kill it.
TEST_F(LaunchedJobTest, ALeaderThatDoesNotAnswerIsNamedFirst) {
  Ps("trap '' TERM; while :; do sleep 0.02; done");
  Worker("echo '12:00 error the coordinator is silent' >&2; exit 1");
  EXPECT_EQ(Run().status.message(),
            "ps 0, which coordinates the job, did not answer any more; first "
            "to end: worker 0 exited with code 1; its last words: the "
            "coordinator is silent");
}

TEST_F(LaunchedJobTest, WhoExitsBecauseTheJobFailedIsNotItsCause) {
  Ps(absl::StrCat(Print(EndingJson({false, "worker 0: no data", {}})), "; ",
                  Touch("ended"), "; exit 1"));
  Worker(absl::StrCat(Until("ended"), "; echo '12:00 error no data' >&2; ",
                      "exit 1"));
  EXPECT_EQ(Run().status.message(), "worker 0: no data");
}

TEST_F(LaunchedJobTest, ASummaryThatIsNotWrittenFailsAJobThatIsDone) {
  Ps(absl::StrCat(
      Print(EndingJson({true, "", {"samples"}, "", false, "no disk"})),
      "; echo '12:01 info bye' >&2; exit 1"));
  Worker("true");
  const LaunchedJobEnd end = Run();
  EXPECT_EQ(end.status, absl::AbortedError("no disk"));
  EXPECT_EQ(end.exit_code, kExitFailed);
  EXPECT_THAT(end.lines, ElementsAre("samples"));
}

TEST_F(LaunchedJobTest, ALeaderThatDiesOnceAllIsDoneIsTheCause) {
  Ps(absl::StrCat(Print(EndingJson({true, "", {"samples"}})),
                  "; echo '12:01 info the job is done' >&2; kill -9 $$"));
  Worker("true");
  EXPECT_EQ(Run().status, absl::AbortedError("ps 0 was killed by SIGKILL"));
}

TEST_F(LaunchedJobTest, WhatALineSaysDecidesNothing) {
  Ps(UntilStopped());
  Worker(
      "echo '12:00 info reading /data/an error log' >&2; "
      "echo 'worker: cannot allocate' >&2; exit 1");
  EXPECT_EQ(Run().status.message(),
            "worker 0 exited with code 1; its last words: worker: cannot "
            "allocate");
}

TEST_F(LaunchedJobTest, WhatAReasonSaysDecidesNothing) {
  // It only looks as if a process had been stopped. The launcher has taken note
  // of the death of ps 1 before ps 0 ends.
  const std::string pid = absl::StrCat(directory_, "/pid");
  Ps(absl::StrCat(
      Until("pid"), "; ",
      Print(EndingJson({false,
                        "worker 0: /data/was stopped by SIG.txt: gone",
                        {},
                        "worker 0",
                        false})),
      "; ", Touch("ended"), "; while kill -0 $(cat ", pid,
      ") 2>/dev/null; do sleep 0.01; done; exit 1"));
  Ps(absl::StrCat("echo $$ > ", pid, ".tmp; mv ", pid, ".tmp ", pid, "; ",
                  Until("ended"), "; exit 1"));
  Worker(UntilStopped());
  EXPECT_EQ(Run().status.message(),
            "worker 0: /data/was stopped by SIG.txt: gone");
}

TEST_F(LaunchedJobTest, WhoLeadsAndWhoMayRestartIsSaidAndNotCounted) {
  // The first process is no leader, and its second life is welcome.
  Ps(absl::StrCat("test -e ", directory_, "/once && { ", Touch("twice"),
                  "; exit 0; }; ", Touch("once"), "; kill -9 $$"));
  options_.processes[0].leads = false;
  options_.processes[0].may_restart = true;
  Ps(absl::StrCat(Until("twice"), "; ",
                  Print(EndingJson({true, "", {"end"}}))));
  options_.processes[1].leads = true;
  const LaunchedJobEnd end = Run();
  EXPECT_TRUE(end.status.ok()) << end.status;
  EXPECT_THAT(end.lines, ElementsAre("end"));
}

TEST_F(LaunchedJobTest, TheCoordinatorsReasonComesFirst) {
  const std::string pid = absl::StrCat(directory_, "/pid");
  // Waits until the launcher has taken note of the death.
  Ps(absl::StrCat(Until("pid"), "; while kill -0 $(cat ", pid,
                  ") 2>/dev/null; do sleep 0.01; done; ",
                  Print(EndingJson({false, "ps 1: gone", {"samples"}})),
                  "; exit 1"));
  Ps(absl::StrCat("echo $$ > ", pid, ".tmp; mv ", pid, ".tmp ", pid,
                  "; kill -9 $$"));
  Worker(UntilStopped());
  const LaunchedJobEnd end = Run();
  EXPECT_EQ(end.status.message(),
            "ps 1: gone; first to fail: ps 1 was killed by SIGKILL");
  EXPECT_THAT(end.lines, ElementsAre("samples"));
}

TEST_F(LaunchedJobTest, ProcessesThatStayAfterTheJobAreStopped) {
  Ps(Print(EndingJson({true, "", {"end"}})));
  Worker("trap '' TERM INT; while :; do sleep 0.02; done");
  options_.shutdown_timeout = absl::Milliseconds(50);
  EXPECT_TRUE(Run().status.ok());
}

TEST_F(LaunchedJobTest, WhatSshLostIsStartedAgainAndNotCalledAnExitCode) {
  options_.remote = true;
  options_.input = "secret\n";
  options_.max_restarts = 1;
  Ps(absl::StrCat("read token; test $token = secret && { cat; ", "exit 3; }"));
  Worker("exit 255");
  const LaunchedJobEnd end = Run();
  EXPECT_THAT(std::string(end.status.message()),
              HasSubstr("worker 0 was killed by a signal, or its ssh "
                        "connection broke"));
}

TEST_F(LaunchedJobTest, SaysWhichProgramCannotBeStarted) {
  LaunchedProcess process;
  process.command = {"/no/such/shoal-ps"};
  process.leads = true;
  options_.processes.push_back(process);
  EXPECT_THAT(std::string(Run().status.message()),
              HasSubstr("/no/such/shoal-ps"));
}

}  // namespace
}  // namespace shoal
