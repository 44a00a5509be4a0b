#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_system.h"
#include "base/path.h"
#include "base/posix_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// What only the operating system's files have; what all file systems agree on
// is in tests/conformance/file_system_test.cc.
namespace shoal {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Code = absl::StatusCode;

class PosixFileSystemTest : public ::testing::Test {
 protected:
  PosixFileSystemTest() {
    std::string name = JoinPath(::testing::TempDir(), "shoal-posix-XXXXXX");
    if (mkdtemp(name.data()) != nullptr) root_ = name;
  }
  ~PosixFileSystemTest() override {
    std::error_code ignored;
    if (!root_.empty()) fs::remove_all(root_, ignored);
  }
  std::string At(absl::string_view name) { return JoinPath(root_, name); }

  const std::unique_ptr<FileSystem> files_ = NewPosixFileSystem();
  std::string root_;
};

TEST_F(PosixFileSystemTest, AFifoIsRefusedByNameAtOnceAndNotListed) {
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  ASSERT_TRUE(files_->WriteFileAtomically(At("file"), "x").ok());
  for (const absl::Status& status :
       {files_->OpenForRead(At("pipe")).status(),
        files_->List(At("pipe")).status(),
        files_->WriteFileAtomically(At("pipe"), "x")}) {
    EXPECT_EQ(status.code(), Code::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("FIFO"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(At("pipe")));
  }
  EXPECT_EQ(files_->Create(At("pipe")).status().code(),
            Code::kFailedPrecondition);
  const auto listed = files_->List(root_);
  ASSERT_TRUE(listed.ok());
  EXPECT_THAT(*listed, SizeIs(1));
}

TEST_F(PosixFileSystemTest, ADeviceIsRefusedAndNeverReplaced) {
  EXPECT_EQ(files_->OpenForRead("/dev/null").status().code(),
            Code::kFailedPrecondition);
  const absl::Status status = files_->WriteFileAtomically("/dev/null", "x");
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("device"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(PosixFileSystemTest, OpenFilesAreNotInheritedByPrograms) {
  ASSERT_TRUE(files_->WriteFileAtomically(At("a"), "x").ok());
  const auto reader = files_->OpenForRead(At("a"));
  const auto writer = files_->Create(At("b"));
  ASSERT_TRUE(reader.ok() && writer.ok());
  int ours = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string target = fs::read_symlink(entry.path(), ignored);
    if (target.rfind(root_, 0) != 0) continue;
    ++ours;
    const int fd = std::stoi(entry.path().filename());
    EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << target;
  }
  EXPECT_EQ(ours, 2);
}

TEST_F(PosixFileSystemTest, AtomicWriteStepsOverLeftTemporariesAndKeepsMode) {
  const std::string left = At(absl::StrCat(".m.tmp-", getpid(), "-", 0));
  ASSERT_TRUE(files_->WriteFileAtomically(left, "of a dead process").ok());
  const mode_t old_mask = umask(022);
  const absl::Status status = files_->WriteFileAtomically(At("m"), "whole");
  umask(old_mask);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(fs::file_size(At("m")), 5u);
  EXPECT_EQ(fs::file_size(left), 17u);
  struct stat info;
  ASSERT_EQ(stat(At("m").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
}

TEST(PosixFile, ErrnoValuesMapToTheCodesOfTheContract) {
  const std::pair<int, Code> cases[] = {
      {ENOENT, Code::kNotFound},
      {EACCES, Code::kPermissionDenied},
      {EROFS, Code::kPermissionDenied},
      {EISDIR, Code::kFailedPrecondition},
      {ENOTDIR, Code::kFailedPrecondition},
      {ENOSPC, Code::kResourceExhausted},
      {EDQUOT, Code::kResourceExhausted},
      {EMFILE, Code::kResourceExhausted},
      {EIO, Code::kInternal},
  };
  for (const auto& [error, code] : cases) {
    const absl::Status status = PosixError(error, "the/path");
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the/path"));
  }
}

TEST(PosixFile, AFullDiskIsSeenByWriteAll) {
  const FileDescriptor fd(open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(WriteAll(fd.get(), "x", "/dev/full").code(),
            Code::kResourceExhausted);
}

TEST_F(PosixFileSystemTest, ALinkToAFileIsTheFileAndADanglingOneIsNone) {
  ASSERT_TRUE(files_->WriteFileAtomically(At("a"), "xyz").ok());
  fs::create_symlink(At("a"), At("link"));
  fs::create_symlink(At("gone"), At("dangling"));
  const auto listed = files_->List(root_);
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_THAT(*listed, SizeIs(2));
  EXPECT_EQ((*listed)[1].path, At("link"));
  EXPECT_EQ((*listed)[1].size, 3u);
}

}  // namespace
}  // namespace shoal
