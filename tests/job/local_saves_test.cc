#include "job/local_saves.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/thread_executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/running_job.h"
#include "tests/rpc/fake_coordinator.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A socket at `path` to which nothing listens any more.
void MakeDeadSocket(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  close(fd);
}

class LocalSavesTest : public testing::Test {
 protected:
  LocalSavesTest() {
    directory_ = absl::StrCat(testing::TempDir(), "/saves-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    model_dir_ = directory_ + "/m";
    flags_.checkpoints.model_dir = model_dir_;
    flags_.deadlines.silent_after = absl::ZeroDuration();
  }
  ~LocalSavesTest() override {
    saves_ = nullptr;
    lock_ = nullptr;
    executor_.Shutdown();
    std::filesystem::remove_all(directory_);
  }

  void BeginJob() {
    auto lock = LockOutput(*files_, flags_, &logger_);
    ASSERT_TRUE(lock.ok()) << lock.status();
    lock_ = *std::move(lock);
    lock_->Keep();
  }
  void Open() {
    saves_ = LocalSaves::Open("", lock_.get(), &cluster_, &executor_, &logger_);
    ASSERT_NE(saves_, nullptr);
  }
  void EndJob() {
    saves_ = nullptr;
    lock_ = nullptr;
  }
  absl::StatusOr<std::string> Find() const {
    return SocketOfJob(*files_, model_dir_);
  }
  void ExpectNone(absl::StatusCode code, const std::string& why) {
    const absl::Status status = Find().status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(model_dir_), HasSubstr(why)));
  }
  // What a job that was killed left in LOCK.
  void WriteLock(const std::string& host, const std::string& socket) {
    std::ofstream(model_dir_ + "/LOCK")
        << "pid 7 on h, since then\n" << SocketLine{host, socket}.ToString()
        << "\n";
  }

  const std::unique_ptr<FileSystem> files_ = NewPosixFileSystem();
  RealClock clock_;
  ThreadExecutor executor_{{"test", 1}, &clock_};
  FakeCoordinator cluster_{&executor_};
  Logger logger_{{"", LogLevel::kError}};
  JobFlags flags_{Command::kTrain};
  std::string directory_;
  std::string model_dir_;
  std::unique_ptr<OutputLock> lock_;
  std::unique_ptr<LocalSaves> saves_;
};

TEST_F(LocalSavesTest, TheLockNamesASocketOfThisUserAloneUntilTheEnd) {
  BeginJob();
  Open();
  const auto path = Find();
  ASSERT_TRUE(path.ok()) << path.status();
  struct stat file = {};
  ASSERT_EQ(stat(path->c_str(), &file), 0);
  EXPECT_TRUE(S_ISSOCK(file.st_mode));
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  const std::string parent(Dirname(*path));
  ASSERT_EQ(stat(parent.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0700u);
  EndJob();
  EXPECT_FALSE(std::filesystem::exists(parent));
  ExpectNone(absl::StatusCode::kUnavailable, "no job holds");
}

TEST_F(LocalSavesTest, AJobThatSavesNothingHasNone) {
  EXPECT_EQ(LocalSaves::Open("", nullptr, &cluster_, &executor_, &logger_),
            nullptr);
}

TEST_F(LocalSavesTest, ADirectoryThatIsNoneOfAJobIsNamed) {
  EXPECT_EQ(Find().status().code(), absl::StatusCode::kNotFound);
  std::filesystem::create_directory(model_dir_);
  ExpectNone(absl::StatusCode::kInvalidArgument, "is not a model directory");
  std::filesystem::create_directory(model_dir_ + "/ckpt-00000000007");
  ExpectNone(absl::StatusCode::kUnavailable, "no job holds");
  std::ofstream(model_dir_ + "/manifest.json") << "{}";
  ExpectNone(absl::StatusCode::kInvalidArgument,
             "is a checkpoint; give the directory that holds it: ");
}

TEST_F(LocalSavesTest, AJobThatHasJustBegunIsNotReadyYet) {
  BeginJob();
  ExpectNone(absl::StatusCode::kUnavailable, "If the job has just begun");
}

TEST_F(LocalSavesTest, AJobThatWasKilledIsGoneAndTheNextJobTidiesUp) {
  BeginJob();
  EndJob();
  std::string stale = "/tmp/shoal-XXXXXX";
  ASSERT_NE(mkdtemp(stale.data()), nullptr);
  MakeDeadSocket(stale + "/save");
  WriteLock(HostName(), stale + "/save");
  ExpectNone(absl::StatusCode::kUnavailable,
             "is gone: pid 7 on h, since then, did not end in good order");
  // While its servers still hold their lock.
  auto server = LockWithServers(*files_, flags_, 0xa1);
  ASSERT_TRUE(server.ok()) << server.status();
  ExpectNone(absl::StatusCode::kUnavailable, "is gone: pid 7");
  server->reset();
  BeginJob();
  Open();
  EXPECT_TRUE(Find().ok());
  EXPECT_FALSE(std::filesystem::exists(stale));
}

TEST_F(LocalSavesTest, TheNextJobRemovesNothingElse) {
  BeginJob();
  EndJob();
  const std::string other = directory_ + "/shoal-x";
  std::filesystem::create_directory(other);
  std::ofstream(other + "/save") << "a file that is no socket";
  MakeDeadSocket(directory_ + "/save");  // in a directory with another name
  for (const std::string& path : {other, directory_}) {
    WriteLock(HostName(), path + "/save");
    BeginJob();
    Open();
    EndJob();
    EXPECT_TRUE(std::filesystem::exists(path + "/save"));
  }
  // Another job is alive there.
  auto live = SaveSocket::Listen(other + "/live", "", &cluster_, &executor_);
  ASSERT_TRUE(live.ok()) << live.status();
  std::filesystem::remove(other + "/save");
  std::filesystem::rename(other + "/live", other + "/save");
  WriteLock(HostName(), other + "/save");
  BeginJob();
  Open();
  EXPECT_TRUE(std::filesystem::exists(other + "/save"));
}

TEST_F(LocalSavesTest, AJobOfAnotherHostIsNamed) {
  BeginJob();
  WriteLock("h9", "/tmp/shoal-none/save");
  ExpectNone(absl::StatusCode::kFailedPrecondition,
             "runs on host h9 (pid 7 on h, since then), and this is ");
  std::filesystem::remove(model_dir_ + "/LOCK");
  ExpectNone(absl::StatusCode::kFailedPrecondition, "on another host");
}

TEST_F(LocalSavesTest, ASocketThatIsOutOfSightIsSaid) {
  BeginJob();
  WriteLock(HostName(), "/tmp/shoal-none/save");
  ExpectNone(absl::StatusCode::kFailedPrecondition, "PrivateTmp");
}

// As `cp -r` makes it: the copy names the socket of the job, which is alive.
TEST_F(LocalSavesTest, ACopyOfTheDirectoryIsNotTheJobs) {
  BeginJob();
  Open();
  const std::string copy = directory_ + "/copy";
  std::filesystem::copy(model_dir_, copy,
                        std::filesystem::copy_options::recursive);
  EXPECT_EQ(SocketOfJob(*files_, copy).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Find().ok());
}

}  // namespace
}  // namespace shoal
