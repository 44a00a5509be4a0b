#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file_system.h"
#include "base/path.h"
#include "base/posix_file.h"
#include "base/posix_file_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// What only the operating system's files have; what all file systems agree on
// is in tests/conformance/file_system_test.cc.
namespace shoal {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
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

class PosixFileListTest : public PosixFileSystemTest {
 protected:
  void Write(absl::string_view name) {
    const std::string path = At(name);
    ASSERT_TRUE(files_->CreateDirectories(std::string(Dirname(path))).ok());
    ASSERT_TRUE(files_->WriteFileAtomically(path, "x").ok());
  }
  // The names of the files below the root.
  std::vector<std::string> Names() {
    const auto listed = files_->List(root_);
    if (!listed.ok()) return {listed.status().ToString()};
    std::vector<std::string> names;
    for (const FileInfo& info : *listed) names.push_back(info.name);
    return names;
  }
  // The message of the FAILED_PRECONDITION with which `pattern` is refused.
  std::string Refused(const std::string& pattern,
                      const FileListLimits& limits = {}) {
    const absl::Status status = ListPosixFiles(pattern, limits).status();
    EXPECT_EQ(status.code(), Code::kFailedPrecondition) << status;
    return std::string(status.message());
  }
};

TEST_F(PosixFileListTest, ALinkToADirectoryElsewhereIsDescended) {
  Write("there/a/1");
  Write("data/2");
  fs::create_directory_symlink(At("there"), At("data/link"));
  const auto listed = files_->List(At("data"));
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_THAT(*listed, SizeIs(2));
  EXPECT_EQ((*listed)[1].path, At("data/link/a/1"));
  EXPECT_EQ((*listed)[1].name, "link/a/1");
}

TEST_F(PosixFileListTest, ACircleOfLinksIsRefusedAndBothEndsAreNamed) {
  Write("a/b/file");
  fs::create_directory_symlink(At("a"), At("a/b/back"));
  EXPECT_THAT(Refused(root_),
              AllOf(HasSubstr(At("a/b/back")), HasSubstr("circle"),
                    HasSubstr(absl::StrCat("back to ", At("a"), ";"))));
  // By way of the directory that is named, too.
  EXPECT_THAT(Refused(At("a")), HasSubstr("circle"));
  fs::remove(At("a/b/back"));
  EXPECT_THAT(Names(), ElementsAre("a/b/file"));
}

TEST_F(PosixFileListTest, ADirectoryThatALinkNamesAgainIsRefused) {
  Write("dt=1/part");
  Write("dt=2/part");
  // One link comes before its directory in the order of names, one behind it.
  for (const char* link : {"current", "latest"}) {
    fs::create_directory_symlink(At("dt=2"), At(link));
    const std::string why = Refused(root_);
    EXPECT_THAT(why, AllOf(HasSubstr(At(link)), HasSubstr(At("dt=2")),
                           HasSubstr("read twice")));
    fs::remove(At(link));
  }
  fs::create_directory_symlink(At("dt=2"), At("_latest"));
  EXPECT_THAT(Names(), ElementsAre("dt=1/part", "dt=2/part"))
      << "a link with a hidden name is left out";
  fs::create_directory_symlink(At("dt=2"), At("latest"));
  const auto chosen = files_->List(At("dt=*"));
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_THAT(*chosen, SizeIs(2));
}

TEST_F(PosixFileListTest, DepthAndCountAreBounded) {
  FileListLimits limits;
  limits.depth = 2;
  Write("a/b/file");
  EXPECT_TRUE(ListPosixFiles(root_, limits).ok());
  Write("a/b/c/file");
  EXPECT_THAT(Refused(root_, limits),
              AllOf(HasSubstr(At("a/b/c")), HasSubstr("more than 2 levels")));
  limits = {};
  limits.entries = 5;  // a, b, c and two files
  EXPECT_TRUE(ListPosixFiles(root_, limits).ok());
  Write("another");
  EXPECT_THAT(Refused(root_, limits), HasSubstr("more than 5 files and dir"));
  EXPECT_THAT(Refused(At("*"), limits), HasSubstr("more than 5 files and dir"));
}

TEST_F(PosixFileListTest, WhatBelongsToTheFileSystemIsNotRead) {
  Write("file");
  Write("lost+found/file");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(PosixFileListTest, ADirectoryBelowThatMayNotBeReadIsNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every directory";
  Write("file");
  Write("below/file");
  fs::permissions(At("below"), fs::perms::none);
  const absl::Status status = files_->List(root_).status();
  fs::permissions(At("below"), fs::perms::owner_all);
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr(At("below")));
}

}  // namespace
}  // namespace shoal
