#include "job/await_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "job/loopback_advice.h"

namespace shoal {
namespace {

using testing::HasSubstr;

// A name server whose names appear after a number of questions for each. Copies
// share their state, which lives as long as the threads that stay behind.
class LateNames {
 public:
  explicit LateNames(int refusals) : refusals_(refusals) {}

  absl::Status operator()(const std::string& host) const {
    MutexLock lock(&state_->mu);
    return ++state_->asked[host] > refusals_
               ? absl::OkStatus()
               : absl::UnavailableError("not known yet");
  }
  int asked(const std::string& host) const {
    MutexLock lock(&state_->mu);
    return state_->asked[host];
  }

 private:
  struct State {
    Mutex mu;
    std::map<std::string, int> asked ABSL_GUARDED_BY(mu);
  };

  const int refusals_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

class AwaitNamesTest : public testing::Test {
 protected:
  absl::Status Await(const std::vector<std::string>& addresses,
                     absl::Duration timeout, NameLookup lookup) {
    std::vector<NeededAddress> needed;
    for (const std::string& address : addresses) {
      needed.push_back({address, "ps 7", "check it"});
    }
    MainWait wait;
    wait.Begin();
    if (signal_ != 0) kill(getpid(), signal_);
    testing::internal::CaptureStderr();
    Logger logger({"worker 3", LogLevel::kInfo});
    const absl::Status status =
        AwaitNames(needed, timeout, &wait, &logger, std::move(lookup));
    log_ = testing::internal::GetCapturedStderr();
    return status;
  }

  int signal_ = 0;
  std::string log_;
};

TEST_F(AwaitNamesTest, ANumberIsNotLookedUp) {
  LateNames names(1000);
  EXPECT_TRUE(Await({"127.0.0.1:1", "[::1]:2", "10.0.0.255:3"}, absl::Hours(1),
                    names)
                  .ok());
  EXPECT_EQ(log_, "");
}

TEST_F(AwaitNamesTest, NamesThatResolveAreAskedForOnceAndNotLogged) {
  LateNames names(0);
  EXPECT_TRUE(
      Await({"h1:1", "h2:1", "h1:2"}, absl::Hours(1), names).ok());
  EXPECT_EQ(names.asked("h1"), 1);
  EXPECT_EQ(names.asked("h2"), 1);
  EXPECT_EQ(log_, "");
}

TEST_F(AwaitNamesTest, ALateNameIsWaitedForAndNamedOnce) {
  LateNames names(2);
  ASSERT_TRUE(Await({"h1:1"}, absl::Hours(1), names).ok());
  EXPECT_EQ(names.asked("h1"), 3);
  // On a busy machine the first look-up may not have answered by then.
  const size_t first = log_.find("'h1' of ps 7 (");
  ASSERT_NE(first, std::string::npos) << log_;
  EXPECT_EQ(log_.find("'h1' of ps 7", first + 1), std::string::npos) << log_;
  EXPECT_THAT(log_, HasSubstr("the host name 'h1' resolves now"));
}

TEST_F(AwaitNamesTest, ANameThatNeverComesEndsTheWaitAndIsNamed) {
  LateNames names(1000);
  const absl::Status status =
      Await({"h1:1", "h2:1"}, absl::Milliseconds(700), names);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("'h1' of ps 7 (not known yet), 'h2'"),
                             HasSubstr("--start_timeout"),
                             HasSubstr("check it")));
}

TEST_F(AwaitNamesTest, ALookupThatHangsHindersNeitherTheDeadlineNorASignal) {
  struct Gate {
    Mutex mu;
    CondVar open;
    bool is_open = false;
  };
  // Lives as long as the threads that stay behind.
  const auto gate = std::make_shared<Gate>();
  const NameLookup hangs = [gate](const std::string&) {
    MutexLock lock(&gate->mu);
    while (!gate->is_open) gate->open.Wait(&gate->mu);
    return absl::OkStatus();
  };
  const absl::Status late = Await({"h1:1"}, absl::Milliseconds(10), hangs);
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(late.message()), HasSubstr("no answer yet"));
  signal_ = SIGTERM;
  const absl::Status stopped = Await({"h1:1"}, absl::Hours(1), hangs);
  EXPECT_EQ(stopped.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(stopped.message()), HasSubstr("SIGTERM"));
  MutexLock lock(&gate->mu);
  gate->is_open = true;
  gate->open.SignalAll();
}

TEST_F(AwaitNamesTest, ManyNamesMakeOneLine) {
  std::vector<std::string> addresses;
  for (int i = 0; i < 1000; ++i) {
    addresses.push_back("h" + std::to_string(i) + ":1");
  }
  LateNames names(1000);
  const absl::Status status =
      Await(addresses, absl::Milliseconds(1), names);
  EXPECT_THAT(std::string(status.message()), HasSubstr("and 992 more"));
  EXPECT_LT(status.message().size(), 600);
}

TEST_F(AwaitNamesTest, WhatCanNeverResolveIsRefusedAtOnce) {
  for (const std::string& address :
       {std::string("10.0.0.300:1"), std::string("h1..x:1"),
        std::string(64, 'a') + ".x:1", std::string("1.2.3.256:1"),
        std::string("h 1:1"), std::string("h1")}) {
    LateNames names(1000);
    const absl::Status status =
        Await({address}, absl::Hours(1), names);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr("ps 7")) << address;
  }
}

TEST_F(AwaitNamesTest, TheSystemKnowsThisHost) {
  EXPECT_TRUE(SystemNameLookup("localhost").ok());
  EXPECT_EQ(SystemNameLookup("no-such-host.invalid").code(),
            absl::StatusCode::kUnavailable);
}

JobFlags Flags(Command command, int index) {
  JobFlags flags(command);
  flags.cluster.ps_hosts = "h1:1,h2:1,h3:1";
  flags.cluster.task_index = index;
  return flags;
}

TEST(NeededAddressesTest, AServerNeedsItselfAndTheFirstAWorkerAllServers) {
  using Needed = std::vector<NeededAddress>;
  const NeededAddress ps[] = {
      {"h1:1", "ps 0", ""}, {"h2:1", "ps 1", ""}, {"h3:1", "ps 2", ""}};
  EXPECT_EQ(NeededAddresses(Flags(Command::kPs, 0)),
            (Needed{{"h1:1", "this server", ""}}));
  EXPECT_EQ(NeededAddresses(Flags(Command::kPs, 2)),
            (Needed{ps[0], {"h3:1", "this server", ""}}));
  EXPECT_EQ(NeededAddresses(Flags(Command::kWorker, 5)),
            (Needed{ps[0], ps[1], ps[2]}));
  JobFlags listens = Flags(Command::kPs, 1);
  listens.cluster.listen = "0.0.0.0:1";
  EXPECT_EQ(NeededAddresses(listens),
            (Needed{ps[0], {"0.0.0.0:1", "this server", ""}}));
}

TEST(LoopbackAdviceTest, OnlyANameThatMeansThisHostAloneIsWarnedOf) {
  EXPECT_EQ(LoopbackAdvice("localhost:1"), "");
  EXPECT_EQ(LoopbackAdvice("127.0.1.1:1"), "");
  EXPECT_EQ(LoopbackAdvice("[::1]:1"), "");
  EXPECT_EQ(LoopbackAdvice("0.0.0.0:1"), "");
  EXPECT_EQ(LoopbackAdvice("[::]:1"), "");
  EXPECT_EQ(LoopbackAdvice("10.1.2.3:1"), "");
  EXPECT_EQ(LoopbackAdvice("no-such-host.invalid:1"), "");
  EXPECT_EQ(LoopbackAdvice("not an address"), "");
}

}  // namespace
}  // namespace shoal
