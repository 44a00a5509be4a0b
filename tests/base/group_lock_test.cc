#include "base/group_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class GroupLockTest : public testing::Test {
 protected:
  ~GroupLockTest() override { unlink(path_.c_str()); }

  absl::StatusCode JoinCode(uint64_t group) {
    return GroupLock::Join(path_, group, "x").status().code();
  }

  const std::string path_ =
      testing::TempDir() + "group_lock_" + std::to_string(getpid());
};

constexpr absl::StatusCode kOk = absl::StatusCode::kOk;
constexpr absl::StatusCode kRefused = absl::StatusCode::kFailedPrecondition;

TEST_F(GroupLockTest, OneGroupHasItTogetherAndAnotherHearsWhose) {
  auto first = GroupLock::Join(path_, 0xa1, "start a1: pid 7 on host a");
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = GroupLock::Join(path_, 0xa1, "start a1: pid 8 on host b");
  ASSERT_TRUE(second.ok()) << second.status();
  for (int holders = 2; holders > 0; --holders) {
    const absl::Status other = GroupLock::Join(path_, 0xa2, "y").status();
    EXPECT_EQ(other.code(), kRefused) << holders;
    EXPECT_THAT(std::string(other.message()),
                AllOf(HasSubstr(path_), HasSubstr("start a1: pid 7 on host a"),
                      Not(HasSubstr("pid 8"))));
    first->reset();  // the second process keeps the lock
  }
  EXPECT_EQ(JoinCode(0xa1), kOk);
  second->reset();
  EXPECT_EQ(JoinCode(0xa2), kOk);
}

TEST_F(GroupLockTest, AProcessWithoutTheLockSeesWhoHasIt) {
  EXPECT_EQ(GroupLock::HolderOf(path_).status().code(),
            absl::StatusCode::kNotFound);
  auto lock = GroupLock::Join(path_, 3, "start 3: pid 7");
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ(GroupLock::HolderOf(path_).value(), "start 3: pid 7");
  // To look takes nothing away from another process.
  EXPECT_EQ(JoinCode(3), kOk);
  lock->reset();
  EXPECT_EQ(GroupLock::HolderOf(path_).value(), std::nullopt);
  auto alone = GroupLock::AcquireAlone(path_, "pid 8");
  EXPECT_EQ(GroupLock::HolderOf(path_).value(), "pid 8");
}

TEST_F(GroupLockTest, WhatADeadGroupWroteBindsNoOtherGroup) {
  ASSERT_EQ(JoinCode(1), kOk);  // and its lock ended
  auto second = GroupLock::Join(path_, 2, "b");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(JoinCode(1), kRefused);
  EXPECT_EQ(JoinCode(2), kOk);
}

TEST_F(GroupLockTest, AloneExcludesEveryGroupUntilItIsShared) {
  auto alone = GroupLock::AcquireAlone(path_, "pid 7");
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_EQ(JoinCode(3), kRefused);
  const absl::Status second = GroupLock::AcquireAlone(path_, "x").status();
  EXPECT_EQ(second.code(), kRefused);
  EXPECT_THAT(std::string(second.message()), HasSubstr("pid 7"));
  ASSERT_TRUE((*alone)->Share(3, "start 3: pid 7").ok());
  EXPECT_EQ(JoinCode(3), kOk);
  EXPECT_EQ(JoinCode(4), kRefused);
  EXPECT_EQ(GroupLock::AcquireAlone(path_, "x").status().code(), kRefused);
}

TEST_F(GroupLockTest, AGroupExcludesOneThatWantsItAlone) {
  auto lock = GroupLock::Join(path_, 3, "start 3: pid 7");
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(GroupLock::AcquireAlone(path_, "x").status().code(), kRefused);
  lock->reset();
  EXPECT_TRUE(GroupLock::AcquireAlone(path_, "x").ok());
}

TEST_F(GroupLockTest, ItEndsWithAProcessThatIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = GroupLock::Join(path_, 5, "child");
    const char byte = lock.ok() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_EQ(JoinCode(6), kRefused);
  EXPECT_EQ(JoinCode(5), kOk) << "its group may join";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(JoinCode(6), kOk);
}

// Each process counts itself into its group's byte of a file that all share;
// while it has the lock, no byte of another group may count.
TEST_F(GroupLockTest, ProcessesOfTwoGroupsThatComeAtOnceNeverBothHaveIt) {
  constexpr int kProcesses = 8;
  constexpr int kRounds = 50;
  const std::string held = path_ + ".held";
  const int file = open(held.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  ASSERT_GE(file, 0);
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    const off_t own = i;
    for (int taken = 0; taken < kRounds;) {
      const auto lock = GroupLock::Join(path_, 1 + i % 2, "p");
      if (!lock.ok()) {
        if (lock.status().code() != kRefused) _exit(2);
        usleep(100);
        continue;
      }
      ++taken;
      char bytes[kProcesses] = {};
      if (pwrite(file, "1", 1, own) != 1) _exit(3);
      if (pread(file, bytes, sizeof(bytes), 0) < 1) _exit(4);
      for (int other = 0; other < kProcesses; ++other) {
        if (other % 2 != i % 2 && bytes[other] == '1') _exit(1);
      }
      if (pwrite(file, "0", 1, own) != 1) _exit(5);
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "1: two groups had the lock at once";
  }
  close(file);
  unlink(held.c_str());
}

TEST_F(GroupLockTest, ADirectoryThatIsNotThereIsAnError) {
  EXPECT_EQ(GroupLock::Join(path_ + ".none/LOCK", 1, "x").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace shoal
