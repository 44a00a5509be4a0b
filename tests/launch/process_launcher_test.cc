#include "launch/process_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Action = StopSignals::Action;

// Real programs: /bin/sh with a script.
class ProcessLauncherTest : public ::testing::Test {
 protected:
  ProcessLauncherTest() {
    directory_ = absl::StrCat(::testing::TempDir(), "/launcher-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    signal(SIGHUP, SIG_DFL);  // whatever started this test
  }

  // A file that scripts of this test share.
  std::string File(const std::string& name) const {
    return absl::StrCat(directory_, "/", name);
  }

  // `script`, once another one has made the file `ready`.
  std::string AfterReady(const std::string& script) const {
    return absl::StrCat("while ! test -e ", File("ready"),
                        "; do sleep 0.01; done; ", script);
  }

  void Create(LauncherOptions options = {}) {
    LauncherEvents events;
    events.on_line = [this](int process, OutputStream stream,
                            absl::string_view line) {
      lines_[process].push_back(absl::StrCat(
          stream == OutputStream::kStdout ? "out " : "err ", line));
      if (on_line_) on_line_(process, std::string(line));
    };
    events.on_exit = [this](int process, const ProcessExit& exit, int restarts,
                            bool again) {
      exits_.push_back(absl::StrCat(process, " ", exit.Describe(), " after ",
                                    restarts, again ? ", again" : ""));
      if (on_exit_) on_exit_(process);
    };
    events.on_signal = [this](int signal, StopSignals::Action action) {
      signals_.emplace_back(signal, action);
      if (on_signal_) on_signal_(action);
    };
    auto launcher = ProcessLauncher::Create(options, std::move(events));
    ASSERT_TRUE(launcher.ok()) << launcher.status();
    launcher_ = *std::move(launcher);
  }

  void StartScript(const std::string& script, bool restart = false) {
    const absl::Status status =
        launcher_->Start({"script", {"/bin/sh", "-c", script}, restart});
    ASSERT_TRUE(status.ok()) << status;
  }

  std::string directory_;
  std::map<int, std::vector<std::string>> lines_;
  std::vector<std::string> exits_;
  std::vector<std::pair<int, StopSignals::Action>> signals_;
  std::function<void(int, const std::string&)> on_line_;
  std::function<void(int)> on_exit_;
  std::function<void(StopSignals::Action)> on_signal_;
  std::unique_ptr<ProcessLauncher> launcher_;
};

// The kernel gives a SIGCHLD of the process to any thread that does not block
// it, and then the launcher does not get it.
TEST_F(ProcessLauncherTest, NoticesAnEndWhoseSignalAnotherThreadTook) {
  std::atomic<bool> ends = false;
  std::thread other([&ends] {
    while (!ends) {
    }
  });
  Create();
  // Its output ends before the process does.
  StartScript("exec >&- 2>&-; sleep 0.2");
  launcher_->Run();
  EXPECT_THAT(exits_, ElementsAre("0 exited with code 0 after 0"));
  ends = true;
  other.join();
}

TEST_F(ProcessLauncherTest, PassesLinesOnByProcessAndStream) {
  Create();
  StartScript("echo a; echo b >&2; printf unended");
  StartScript("echo c");
  const LaunchOutcome outcome = launcher_->Run();
  EXPECT_THAT(lines_[0],
              ::testing::UnorderedElementsAre("out a", "err b", "out unended"));
  EXPECT_THAT(lines_[1], ElementsAre("out c"));
  EXPECT_FALSE(outcome.first_failure.has_value());
}

TEST_F(ProcessLauncherTest, SaysThatAProgramIsNotThere) {
  Create();
  const absl::Status status =
      launcher_->Start({"x", {"/no/such/program"}, false});
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  launcher_->Run();
}

TEST_F(ProcessLauncherTest, RemembersWhoFailedFirst) {
  Create();
  on_exit_ = [this](int process) {
    if (process == 1) launcher_->Stop();
  };
  StartScript(absl::StrCat("trap 'exit 5' TERM; touch ", File("ready"),
                           "; while :; do sleep 0.05; done"));
  StartScript(AfterReady("exit 3"));
  const LaunchOutcome outcome = launcher_->Run();
  ASSERT_TRUE(outcome.first_failure.has_value());
  EXPECT_EQ(outcome.first_failure->process, 1);
  EXPECT_EQ(outcome.first_failure->exit.code, 3);
  EXPECT_THAT(exits_, ElementsAre("1 exited with code 3 after 0",
                                  "0 exited with code 5 after 0"));
}

TEST_F(ProcessLauncherTest, RestartsWhatASignalKilledUntilItIsEnough) {
  Create({.max_restarts = 2});
  StartScript("kill -9 $$", /*restart=*/true);
  const LaunchOutcome outcome = launcher_->Run();
  EXPECT_THAT(exits_, ElementsAre("0 was killed by SIGKILL after 0, again",
                                  "0 was killed by SIGKILL after 1, again",
                                  "0 was killed by SIGKILL after 2"));
  ASSERT_TRUE(outcome.first_failure.has_value());
  EXPECT_EQ(outcome.first_failure->exit.signal, SIGKILL);
}

TEST_F(ProcessLauncherTest, ARestartThatMendsIsNoFailure) {
  Create();
  const std::string marker = File("marker");
  StartScript(absl::StrCat("test -e ", marker, " && exit 0; touch ", marker,
                           "; exit 130"),
              /*restart=*/true);
  const LaunchOutcome outcome = launcher_->Run();
  EXPECT_THAT(exits_, ElementsAre("0 exited with code 130 after 0, again",
                                  "0 exited with code 0 after 1"));
  EXPECT_FALSE(outcome.first_failure.has_value());
}

TEST_F(ProcessLauncherTest, DoesNotRestartWhatSaysThatItWouldBeOfNoUse) {
  Create();
  StartScript("exit 2", /*restart=*/true);
  launcher_->Run();
  EXPECT_THAT(exits_, ElementsAre("0 exited with code 2 after 0"));
}

TEST_F(ProcessLauncherTest, FirstSignalIsPassedOnForACleanStop) {
  Create();
  // Signals reach the launcher when the script is ready to be stopped.
  on_line_ = [](int, const std::string& line) {
    if (line == "ready") raise(SIGINT);
  };
  StartScript(
      "trap 'echo stopping; exit 0' INT; echo ready; "
      "while :; do sleep 0.05; done",
      /*restart=*/true);
  const LaunchOutcome outcome = launcher_->Run();
  EXPECT_THAT(lines_[0], ElementsAre("out ready", "out stopping"));
  EXPECT_EQ(outcome.signal, SIGINT);
  EXPECT_FALSE(outcome.first_failure.has_value());
  EXPECT_THAT(signals_, ElementsAre(Pair(SIGINT, Action::kStop)));
}

// A server that saves first, and the workers whose batches it waits for.
TEST_F(ProcessLauncherTest, WhoEndsWithOthersIsNotToldOfASignalToEnd) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    lines_.clear();
    Create({.stop_grace = absl::Hours(1)});
    on_line_ = [&](int process, const std::string& line) {
      // The worker is ready first; the server's line comes once it is.
      if (process == 0 && line == "ready") raise(signal);
    };
    StartScript(AfterReady("trap 'touch " + File("saved") +
                           "; exit 3' INT TERM HUP; echo ready; "
                           "while :; do sleep 0.05; done"));
    ASSERT_TRUE(launcher_
                    ->Start({.name = "worker",
                             .argv = {"/bin/sh", "-c",
                                      "trap 'echo signal' INT TERM HUP; "
                                      "touch " +
                                          File("ready") + "; while ! test -e " +
                                          File("saved") +
                                          "; do sleep 0.05; done; echo ended"},
                             .ends_with_others = true})
                    .ok());
    launcher_->Run();
    launcher_ = nullptr;
    EXPECT_THAT(lines_[1], ElementsAre("out ended"));
    unlink(File("ready").c_str());
    unlink(File("saved").c_str());
  }
}

TEST_F(ProcessLauncherTest, WhoEndsWithOthersIsToldOfADeadline) {
  const std::string script =
      "; echo stopping; exit 0' INT TERM; echo ready; "
      "while :; do sleep 0.05; done";
  Create({.stop_grace = absl::Hours(1)});
  int ready = 0;
  on_line_ = [&](int, const std::string& line) {
    if (line == "ready" && ++ready == 2) raise(SIGTERM);
  };
  // What the owner says once the server has ended and no other process does.
  on_exit_ = [&](int process) {
    if (process == 0) launcher_->StopAfter(absl::Milliseconds(10));
  };
  StartScript("trap 'touch " + File("server") + script);
  ASSERT_TRUE(launcher_
                  ->Start({.name = "worker",
                           .argv = {"/bin/sh", "-c",
                                    "exec 2>/dev/null; trap 'test -e " +
                                        File("server") +
                                        " && echo after the server" + script},
                           .ends_with_others = true})
                  .ok());
  launcher_->Run();
  EXPECT_THAT(lines_[1], ElementsAre("out ready", "out after the server",
                                     "out stopping"));
}

// As from a service manager, and from a terminal that closes.
TEST_F(ProcessLauncherTest, RepeatsOfASignalToEndKillNothing) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    lines_.clear();
    signals_.clear();
    Create({.stop_grace = absl::Hours(1)});
    int stopping = 0;
    on_line_ = [&](int, const std::string& line) {
      if (line == "ready") raise(signal);
      // It saves while the signals go on.
      if (line == "saving" && ++stopping < 5) raise(signal);
    };
    StartScript(
        "trap 'for i in 1 2 3 4 5; do echo saving; sleep 0.01; done; "
        "exit 3' TERM HUP; echo ready; while :; do sleep 0.02; done");
    const LaunchOutcome outcome = launcher_->Run();
    launcher_ = nullptr;
    EXPECT_EQ(exits_.back(), "0 exited with code 3 after 0");
    EXPECT_THAT(signals_, ElementsAre(Pair(signal, Action::kStop)));
    EXPECT_EQ(outcome.signal, signal);
  }
}

// As under nohup. The process ignores it too.
TEST_F(ProcessLauncherTest, AHangupThatIsIgnoredAtTheStartStaysIgnored) {
  signal(SIGHUP, SIG_IGN);
  Create();
  on_line_ = [](int, const std::string&) { raise(SIGHUP); };
  StartScript("kill -HUP $$; echo ready; sleep 0.1; exit 7");
  const LaunchOutcome outcome = launcher_->Run();
  EXPECT_THAT(lines_[0], ElementsAre("out ready"));
  EXPECT_THAT(exits_, ElementsAre("0 exited with code 7 after 0"));
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_TRUE(signals_.empty());
}

TEST_F(ProcessLauncherTest, AProcessIsNotStartedAgainAfterTheFinalCode) {
  Create({.final_code = 138});
  StartScript("exit 138", /*restart=*/true);
  launcher_->Run();
  EXPECT_THAT(exits_, ElementsAre("0 exited with code 138 after 0"));
}

TEST_F(ProcessLauncherTest, TheSecondInterruptKillsAtOnce) {
  Create({.stop_grace = absl::Hours(1)});
  on_line_ = [](int, const std::string& line) {
    raise(line == "ready" ? SIGTERM : SIGINT);
  };
  on_signal_ = [](Action action) {
    if (action == Action::kRemind) raise(SIGINT);
  };
  StartScript(
      "trap 'echo stubborn' TERM; echo ready; while :; do sleep 0.05; done",
      /*restart=*/true);
  launcher_->Run();
  EXPECT_THAT(exits_, ElementsAre("0 was killed by SIGKILL after 0"));
  EXPECT_THAT(signals_, ElementsAre(Pair(SIGTERM, Action::kStop),
                                    Pair(SIGINT, Action::kRemind),
                                    Pair(SIGINT, Action::kQuit)));
}

TEST_F(ProcessLauncherTest, KillsWhatDoesNotStopInTime) {
  Create({.stop_grace = absl::Milliseconds(50)});
  on_line_ = [this](int, const std::string&) { launcher_->Stop(); };
  StartScript("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  const LaunchOutcome outcome = launcher_->Run();
  EXPECT_THAT(exits_, ElementsAre("0 was killed by SIGKILL after 0"));
  EXPECT_FALSE(outcome.first_failure.has_value()) << "it was asked to stop";
}

TEST_F(ProcessLauncherTest, StopAfterLeavesTimeToEndAlone) {
  Create();
  on_exit_ = [this](int process) {
    if (process == 1) launcher_->StopAfter(absl::Milliseconds(20));
  };
  StartScript(absl::StrCat("trap 'exit 7' TERM; touch ", File("ready"),
                           "; while :; do sleep 0.05; done"),
              /*restart=*/true);
  StartScript(AfterReady("exit 0"));
  launcher_->Run();
  EXPECT_THAT(exits_, ElementsAre("1 exited with code 0 after 0",
                                  "0 exited with code 7 after 0"));
}

// True when no process has this id; takes zombies that came to us.
bool WaitUntilGone(pid_t pid) {
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (absl::Now() < deadline) {
    waitpid(pid, nullptr, WNOHANG);
    if (kill(pid, 0) != 0) return true;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return false;
}

TEST_F(ProcessLauncherTest, KillsWhatAProcessLeavesBehindInItsGroup) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  Create();
  StartScript("sleep 1000 & echo $!");
  launcher_->Run();
  ASSERT_EQ(lines_[0].size(), 1u);
  const pid_t left = atoi(lines_[0][0].c_str() + 4);
  ASSERT_GT(left, 0);
  EXPECT_TRUE(WaitUntilGone(left));
}

TEST_F(ProcessLauncherTest, ChildrenDieWithAKilledLauncher) {
  // The children of the launcher's process become ours when it dies.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t launcher_pid = fork();
  if (launcher_pid == 0) {
    Create();
    on_line_ = [&](int, const std::string& line) {
      const pid_t child = atoi(line.c_str());
      (void)!write(ready[1], &child, sizeof(child));
    };
    StartScript("echo $$; trap '' TERM INT HUP; while :; do sleep 1; done");
    launcher_->Run();
    _exit(0);
  }
  pid_t child = 0;
  ASSERT_EQ(read(ready[0], &child, sizeof(child)),
            static_cast<ssize_t>(sizeof(child)));
  ASSERT_GT(child, 0);
  kill(launcher_pid, SIGKILL);
  ASSERT_EQ(waitpid(launcher_pid, nullptr, 0), launcher_pid);
  EXPECT_TRUE(WaitUntilGone(child));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(ProcessLauncherTest, InputComesFirstAndItsEndAsksAProcessToStop) {
  Create();
  ASSERT_TRUE(launcher_
                  ->Start({"script",
                           {"/bin/sh", "-c",
                            "trap 'echo signal' TERM INT; read line; "
                            "echo got $line; cat; echo ended; exit 4"},
                           /*restart=*/false,
                           "a secret\n"})
                  .ok());
  on_line_ = [&](int, const std::string& line) {
    if (line == "got a secret") launcher_->Stop();
  };
  launcher_->Run();
  EXPECT_THAT(lines_[0], ElementsAre("out got a secret", "out ended"));
  EXPECT_THAT(exits_, ElementsAre("0 exited with code 4 after 0"));
}

TEST_F(ProcessLauncherTest, AProcessThatIsStartedAgainGetsItsInputAgain) {
  Create();
  ASSERT_TRUE(launcher_
                  ->Start({"script",
                           {"/bin/sh", "-c",
                            absl::StrCat("read line; echo $line; test -e ",
                                         File("twice"), " || { touch ",
                                         File("twice"), "; kill -9 $$; }")},
                           /*restart=*/true,
                           "a secret\n"})
                  .ok());
  launcher_->Run();
  EXPECT_THAT(lines_[0], ElementsAre("out a secret", "out a secret"));
}

TEST_F(ProcessLauncherTest, DestroyingItKillsWhatStillRuns) {
  Create();
  StartScript(absl::StrCat("echo $$ > ", File("pid.tmp"), "; mv ",
                           File("pid.tmp"), " ", File("pid"),
                           "; while :; do sleep 0.05; done"));
  pid_t pid = 0;
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (pid == 0 && absl::Now() < deadline) {
    std::ifstream(File("pid")) >> pid;
    absl::SleepFor(absl::Milliseconds(2));
  }
  ASSERT_GT(pid, 0);
  launcher_ = nullptr;
  EXPECT_NE(kill(pid, 0), 0);
}

}  // namespace
}  // namespace shoal
