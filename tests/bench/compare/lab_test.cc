#include "bench/compare/lab.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/compare/control_group.h"
#include "bench/compare/cpu_watch.h"
#include "bench/compare/dilation.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/tool_command.h"
#include "launch/child_process.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// Why the parts of a lab cannot be made here, found out without a lab.
absl::Status PartsOfALab() {
  if (geteuid() != 0) return absl::PermissionDeniedError("not root");
  const std::string probe = absl::StrCat("shoal-probe", getpid());
  SHOAL_RETURN_IF_ERROR(RunTool({"ip", "netns", "add", probe}));
  SHOAL_RETURN_IF_ERROR(RunTool({"ip", "netns", "del", probe}));
  SHOAL_RETURN_IF_ERROR(RunTool({"tc", "-V"}));
  SHOAL_ASSIGN_OR_RETURN(const ControlGroup::Place place, ControlGroup::Find());
  return ControlGroup::Make(place, probe).status();
}

// A lab of two hosts with links of 100 Mbit/s, where it can be made.
class LabTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status can = PartsOfALab();
    if (!can.ok()) {
      std::cout << "no lab here: " << can.message() << std::endl;
      GTEST_SKIP() << can.message();
    }
    ASSERT_TRUE(Lab::Check().ok()) << Lab::Check();
    HostShare share;
    share.bits_per_second = 1e8;
    share.quota = absl::Milliseconds(1);
    auto lab = Lab::Make({share, share});
    ASSERT_TRUE(lab.ok()) << lab.status();
    lab_ = *std::move(lab);
  }

  // Why a cell is grey before which the link had the rate that it has now.
  std::string Grey() {
    const auto rate = lab_->Stream(0, 1);
    EXPECT_TRUE(rate.ok()) << rate.status();
    Cell cell;
    CellRun run;
    run.ok = true;
    run.link_bits_per_second = rate.ok() ? *rate : 0;
    run.link_expected = StreamRate(1e8);
    cell.runs = {run};
    return GreyReason(cell);
  }

  std::unique_ptr<Lab> lab_;
};

// A link of 100 Mbit/s is exact however busy the machine is, or nearly so; a
// few tries leave out a moment in which nothing ran.
TEST_F(LabTest, ALinkHasItsRateAndALinkOfAnotherRateIsFound) {
  std::string grey = "not tried";
  for (int i = 0; i < 4 && !grey.empty(); ++i) grey = Grey();
  EXPECT_EQ(grey, "");
  ASSERT_TRUE(RunTool({"tc", "-n", lab_->name(1), "qdisc", "change", "dev",
                       "eth0", "root", "tbf", "rate", "90mbit", "burst",
                       "16kb", "limit", "2500000"})
                  .ok());
  // That link limits what host 1 sends, and not what it gets.
  const auto back = lab_->Stream(1, 0);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_LT(*back, .93 * StreamRate(1e8));
  const auto all = lab_->Streams();
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_LT((*all)[1], .93 * StreamRate(1e8));
  EXPECT_LT((*all)[1], (*all)[0]);
  ASSERT_TRUE(RunTool({"tc", "-n", lab_->name(0), "qdisc", "change", "dev",
                       "eth0", "root", "tbf", "rate", "90mbit", "burst",
                       "16kb", "limit", "2500000"})
                  .ok());
  EXPECT_THAT(Grey(), HasSubstr("the test stream reached"));
}

// The words that a command on the host prints.
std::string Print(const Lab& lab, int host, const std::string& script) {
  RemoteHost remote;
  remote.address = lab.address(host);
  const auto child =
      StartChild(lab.Command()(remote, {"/bin/sh", "-c", script}));
  EXPECT_TRUE(child.ok()) << child.status();
  std::string text;
  char buffer[4096];
  ProcessExit exit;
  const RealClock clock;
  const absl::Time give_up = clock.Now() + absl::Seconds(20);
  while (!ReapChild(child->pid, &exit) && clock.Now() < give_up) usleep(1000);
  for (ssize_t size; (size = read(child->out, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, size);
  }
  EXPECT_TRUE(exit.ok()) << exit.Describe();
  close(child->out);
  close(child->err);
  return text;
}

TEST_F(LabTest, ACommandRunsInTheNetworkAndTheGroupOfItsHost) {
  EXPECT_THAT(Print(*lab_, 1, "ip -o -4 addr show eth0"),
              HasSubstr(absl::StrCat(lab_->address(1), "/24")));
  EXPECT_THAT(Print(*lab_, 1, "cat /proc/self/cgroup"),
              HasSubstr(lab_->name(1)));
}

// The kernel counts the periods in which it made the host wait.
TEST_F(LabTest, AHostHasItsShareOfACore) {
  const auto throttled = [&] {
    std::ifstream file(absl::StrCat(ControlGroup::Find()->directory, "/",
                                    lab_->name(0), "/cpu.stat"));
    std::string key;
    uint64_t count = 0;
    while (file >> key >> count && key != "nr_throttled") {
    }
    return key == "nr_throttled" ? count : 0;
  };
  const std::string burn =
      "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
  Print(*lab_, 0, burn);
  EXPECT_EQ(throttled(), 0u);
  ASSERT_TRUE(lab_->LimitCores().ok());
  Print(*lab_, 0, burn);
  const uint64_t limited = throttled();
  EXPECT_GE(limited, 5u);
}

// So that threads that keep cores awake, whose group may be another one, take
// nothing from it.
TEST_F(LabTest, AHostComesBeforeOtherGroups) {
  const auto place = ControlGroup::Find();
  ASSERT_TRUE(place.ok());
  const auto weight = [&](const std::string& group) {
    std::ifstream file(
        absl::StrCat(place->directory, "/", group,
                     place->version2 ? "/cpu.weight" : "/cpu.shares"));
    double found = 0;
    file >> found;
    return found;
  };
  auto usual =
      ControlGroup::Make(*place, absl::StrCat("shoal-usual", getpid()));
  ASSERT_TRUE(usual.ok()) << usual.status();
  EXPECT_GE(weight(lab_->name(0)),
            100 * weight(absl::StrCat("shoal-usual", getpid())));
}

TEST_F(LabTest, LeavesNothing) {
  const std::string name = lab_->name(0);
  const auto place = ControlGroup::Find();
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(ControlGroup::List(*place, name).size(), 1u);
  lab_ = nullptr;
  EXPECT_TRUE(ControlGroup::List(*place, name).empty());
  EXPECT_NE(access(absl::StrCat("/run/netns/", name).c_str(), F_OK), 0);
}

// Leftovers of a process that was killed are found by the number and the start
// of their process, which are in their names.
TEST_F(LabTest, RemovesWhatAKilledProcessHasLeft) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    HostShare share;
    share.quota = absl::Milliseconds(4);
    auto lab = Lab::Make({share});
    const std::string made = lab.ok() ? (*lab)->name(0) : "none";
    if (write(pipe_ends[1], made.data(), made.size()) < 1) _exit(1);
    for (;;) pause();
  }
  char made[64];
  const ssize_t size = read(pipe_ends[0], made, sizeof made);
  ASSERT_GT(size, 0);
  const std::string name = absl::StrCat(
      "/run/netns/",
      absl::string_view(made, static_cast<size_t>(size)));
  EXPECT_EQ(access(name.c_str(), F_OK), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_GE(Lab::RemoveLeftovers(), 3);  // two namespaces and a group
  EXPECT_NE(access(name.c_str(), F_OK), 0);
  // And not what a living process has, whatever it is called.
  ASSERT_EQ(prctl(PR_SET_NAME, "another"), 0);
  Lab::RemoveLeftovers();
  EXPECT_TRUE(lab_->Stream(0, 1).ok());
}

TEST(CpuWatchTest, ABusyNeighbourIsSeenAndOwnWorkIsNot) {
  const RealClock clock;
  const absl::Time begin = clock.Now();
  const CpuWatch watch;
  const auto other_seconds = [&] {
    return watch.OthersCores() * absl::ToDoubleSeconds(clock.Now() - begin);
  };
  const pid_t neighbour = fork();
  if (neighbour == 0) {
    for (;;) {
    }
  }
  // This process works too, until the neighbour has had enough time to be seen:
  // .3 s pass at once, or many times as long beside other tests.
  clockid_t neighbours_clock;
  ASSERT_EQ(clock_getcpuclockid(neighbour, &neighbours_clock), 0);
  timespec had = {};
  do {
    ASSERT_EQ(clock_gettime(neighbours_clock, &had), 0);
  } while (absl::DurationFromTimespec(had) < absl::Milliseconds(300));
  EXPECT_GT(watch.OthersCores(), kOthersMost);
  const double seconds = other_seconds();
  const absl::Time end = clock.Now();
  kill(neighbour, SIGKILL);
  rusage used;
  wait4(neighbour, nullptr, 0, &used);
  // Now the neighbour was a child, and its time is this process's. Others may
  // have had all cores meanwhile.
  const double neighbours =
      absl::ToDoubleSeconds(absl::DurationFromTimeval(used.ru_utime));
  const double seconds_now = other_seconds();
  const double meanwhile = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)) *
                           absl::ToDoubleSeconds(clock.Now() - end);
  EXPECT_LT(seconds_now, seconds + meanwhile - .5 * neighbours);
}

TEST(RunToolTest, SaysWhatWentWrong) {
  EXPECT_TRUE(RunTool({"true"}).ok());
  const absl::Status missing = RunTool({"no-such-tool-here"});
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(missing.message(), HasSubstr("`no-such-tool-here`"));
  const absl::Status failed = RunTool({"sh", "-c", "echo why >&2; exit 3"});
  EXPECT_TRUE(absl::IsUnavailable(failed));
  EXPECT_THAT(failed.message(), HasSubstr("exited with code 3: why"));
}

}  // namespace
}  // namespace shoal
