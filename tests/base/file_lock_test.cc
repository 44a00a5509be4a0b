#include "base/file_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FileLockTest : public testing::Test {
 protected:
  const std::string path_ =
      testing::TempDir() + "lock_" + std::to_string(getpid());
};

TEST_F(FileLockTest, OneHasItAndTheOtherHearsWhom) {
  auto first = FileLock::Acquire(path_, "pid 7 on host a");
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = FileLock::Acquire(path_, "pid 8 on host b");
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr(path_), HasSubstr("pid 7 on host a")));
  first->reset();
  EXPECT_TRUE(FileLock::Acquire(path_, "pid 8").ok());
}

TEST_F(FileLockTest, LinesAreAddedForOthersAndOnlyTheFirstIsQuoted) {
  const std::string path = path_ + "_lines";
  auto first = FileLock::Acquire(path, "pid 7");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->left_before(), "");
  ASSERT_TRUE((*first)->AddLine("socket: /tmp/x").ok());
  const auto second = FileLock::Acquire(path, "pid 8");
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr("pid 7"), Not(HasSubstr("socket"))));
  first->reset();
  const auto third = FileLock::Acquire(path, "pid 9");
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ((*third)->left_before(), "pid 7\nsocket: /tmp/x\n");
  unlink(path.c_str());
}

TEST_F(FileLockTest, ItEndsWithAProcessThatIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = FileLock::Acquire(path_, "child");
    char byte = lock.ok() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_FALSE(FileLock::Acquire(path_, "parent").ok());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::Acquire(path_, "parent").ok());
}

TEST_F(FileLockTest, WhoWithdrawsLeavesNoFileThatWasNotThere) {
  const std::string path = path_ + "_withdrawn";
  auto first = FileLock::Acquire(path, "first");
  ASSERT_TRUE(first.ok()) << first.status();
  (*first)->Withdraw();
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  // The path names another file by now.
  auto second = FileLock::Acquire(path, "second");
  ASSERT_TRUE(second.ok()) << second.status();
  (*first)->Withdraw();
  first->reset();
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
  EXPECT_FALSE(FileLock::Acquire(path, "third").ok());
  second->reset();

  auto later = FileLock::Acquire(path, "later");
  ASSERT_TRUE(later.ok()) << later.status();
  (*later)->Withdraw();
  EXPECT_EQ(access(path.c_str(), F_OK), 0) << "it was there before";
}

TEST_F(FileLockTest, ADirectoryThatIsNotThereIsAnError) {
  const auto lock = FileLock::Acquire(path_ + ".none/LOCK", "x");
  EXPECT_EQ(lock.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace shoal
