#include "base/output_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputPathTest : public ::testing::Test {
 protected:
  OutputPathTest() {
    std::string name = JoinPath(::testing::TempDir(), "shoal-output-XXXXXX");
    if (mkdtemp(name.data()) != nullptr) root_ = name;
  }
  ~OutputPathTest() override {
    std::error_code ignored;
    if (!root_.empty()) fs::remove_all(root_, ignored);
  }
  std::string At(absl::string_view name) { return JoinPath(root_, name); }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  absl::Status Write(const std::string& path, absl::string_view bytes) {
    return WriteOutput(*files_, path, bytes);
  }

  const std::unique_ptr<FileSystem> files_ = NewPosixFileSystem();
  std::string root_;
};

TEST_F(OutputPathTest, AFileIsReplacedWhereItsNameSays) {
  for (const absl::string_view text : {"one", "another"}) {
    ASSERT_TRUE(Write(At("a"), text).ok());
    EXPECT_EQ(Read(At("a")), text);
  }
  EXPECT_EQ(*OutputPath(At("a")), At("a"));
  EXPECT_EQ(*OutputPath(At("none/b")), At("none/b"));
}

TEST_F(OutputPathTest, ALinkStaysAndWhatItLeadsToIsWritten) {
  fs::create_directory(At("far"));
  ASSERT_TRUE(Write(At("far/file"), "old").ok());
  fs::create_symlink("far/file", At("link"));
  fs::create_symlink(At("link"), At("chain"));
  ASSERT_TRUE(Write(At("chain"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(At("chain")));
  EXPECT_TRUE(fs::is_symlink(At("link")));
  EXPECT_FALSE(fs::is_symlink(At("far/file")));
  EXPECT_EQ(Read(At("far/file")), "new");
}

TEST_F(OutputPathTest, ALinkToNothingYetMakesTheFile) {
  fs::create_directory(At("far"));
  fs::create_symlink("far/file", At("link"));
  ASSERT_TRUE(Write(At("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(At("link")));
  EXPECT_EQ(Read(At("far/file")), "new");
}

TEST_F(OutputPathTest, WhatIsNoRegularFileIsRefusedByName) {
  fs::create_directory(At("dir"));
  fs::create_symlink("dir", At("to-dir"));
  fs::create_symlink("/dev/null", At("to-null"));
  fs::create_symlink("circle", At("circle"));
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  const std::pair<std::string, std::string> cases[] = {
      {At("dir"), "directory"},  {At("to-dir"), "directory"},
      {"/dev/null", "device"},   {At("to-null"), "device"},
      {At("pipe"), "FIFO"},      {At("circle"), "leads back to itself"},
  };
  for (const auto& [path, what] : cases) {
    const absl::Status status = Write(path, "x");
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  }
  EXPECT_TRUE(fs::is_symlink(At("to-null")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputPathTest, AMissingDirectoryIsFoundBeforeTheWork) {
  EXPECT_TRUE(CheckOutputPath(At("new")).ok());
  EXPECT_TRUE(CheckOutputPath("new").ok());  // in the working directory
  const absl::Status missing = CheckOutputPath(At("none/new"));
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound) << missing;
  EXPECT_THAT(std::string(missing.message()), HasSubstr(At("none")));
  ASSERT_TRUE(Write(At("file"), "x").ok());
  EXPECT_EQ(CheckOutputPath(At("file/new")).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CheckOutputPath("/dev/null").code(),
            absl::StatusCode::kFailedPrecondition);
}

// Even where it leads to a regular file: a rename would put another in its
// place, and what goes to the descriptor from then on would be lost.
TEST_F(OutputPathTest, AnOpenDescriptorIsRefused) {
  ASSERT_TRUE(Write(At("log"), "x").ok());
  const int fd = dup(fileno(stdout));
  ASSERT_GE(fd, 0);
  FILE* const log = fopen(At("log").c_str(), "a");
  ASSERT_NE(log, nullptr);
  ASSERT_GE(dup2(fileno(log), fd), 0);
  for (const std::string directory : {"/proc/self/fd/", "/dev/fd/"}) {
    const absl::Status status = Write(directory + std::to_string(fd), "y");
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("open descriptor"));
  }
  EXPECT_EQ(Read(At("log")), "x");
  fclose(log);
  close(fd);
}

}  // namespace
}  // namespace shoal
