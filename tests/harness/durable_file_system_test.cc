#include "tests/harness/durable_file_system.h"

#include <memory>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::UnorderedElementsAre;

// What a crash now leaves of a file, or "none".
std::string Left(const DurableFileSystem& files, const std::string& path,
                 std::optional<uint64_t> seed = std::nullopt) {
  const auto disk = files.Crash(files.operations(), seed);
  return disk->Contents(path).value_or("none");
}

// What crashes now may leave, over many seeds.
std::set<std::string> MayLeave(const DurableFileSystem& files,
                               const std::string& path) {
  std::set<std::string> left;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    left.insert(Left(files, path, seed));
  }
  return left;
}

class DurableFileSystemTest : public testing::Test {
 protected:
  DurableFileSystemTest() {
    EXPECT_TRUE(files_.CreateDirectories("d").ok());
    EXPECT_TRUE(files_.SyncDirectory(".").ok());
  }
  std::unique_ptr<WritableFile> Create(const std::string& path) {
    auto file = files_.Create(path);
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }

  DurableFileSystem files_;
};

TEST_F(DurableFileSystemTest, BytesAreDurableFromTheSyncOn) {
  const auto file = Create("d/a");
  ASSERT_TRUE(files_.SyncDirectory("d").ok());
  ASSERT_TRUE(file->Append("ab").ok());
  EXPECT_EQ(Left(files_, "d/a"), "");
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(Left(files_, "d/a"), "ab");
  ASSERT_TRUE(file->Append("c").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Left(files_, "d/a"), "ab");
  EXPECT_THAT(MayLeave(files_, "d/a"),
              UnorderedElementsAre("", "a", "ab", "abc", std::string(3, '\0')));
}

TEST_F(DurableFileSystemTest, ANameIsDurableFromItsDirectorysSyncOn) {
  ASSERT_TRUE(Create("d/a")->Sync().ok());
  EXPECT_EQ(Left(files_, "d/a"), "none");
  EXPECT_THAT(MayLeave(files_, "d/a"), UnorderedElementsAre("", "none"));
  ASSERT_TRUE(files_.SyncDirectory("d").ok());
  EXPECT_EQ(Left(files_, "d/a"), "");
}

TEST_F(DurableFileSystemTest, WhatIsRemovedMayComeBack) {
  ASSERT_TRUE(files_.WriteFileAtomically("d/a", "x").ok());
  ASSERT_TRUE(files_.Remove("d/a").ok());
  EXPECT_EQ(Left(files_, "d/a"), "x");
  EXPECT_THAT(MayLeave(files_, "d/a"), UnorderedElementsAre("x", "none"));
  ASSERT_TRUE(files_.SyncDirectory("d").ok());
  EXPECT_EQ(Left(files_, "d/a"), "none");
}

TEST_F(DurableFileSystemTest, AFileHasOneOfItsNames) {
  ASSERT_TRUE(files_.WriteFileAtomically("d/a", "x").ok());
  ASSERT_TRUE(files_.Rename("d/a", "d/b").ok());
  EXPECT_EQ(Left(files_, "d/b"), "x") << "a rename is synced";
  // Before the sync.
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto disk = files_.Crash(files_.operations() - 1, seed);
    EXPECT_NE(disk->Contents("d/a").ok(), disk->Contents("d/b").ok());
  }
}

TEST_F(DurableFileSystemTest, ADirectorysNameIsOfTheOneAboveIt) {
  ASSERT_TRUE(files_.CreateDirectories("d/e").ok());
  ASSERT_TRUE(files_.WriteFileAtomically("d/e/a", "x").ok());
  EXPECT_EQ(Left(files_, "d/e/a"), "none");
  ASSERT_TRUE(files_.SyncDirectory("d").ok());
  EXPECT_EQ(Left(files_, "d/e/a"), "x");
}

TEST_F(DurableFileSystemTest, AnAtomicWriteIsWholeOrTheOldOne) {
  ASSERT_TRUE(files_.WriteFileAtomically("d/a", "old").ok());
  const size_t before = files_.operations();
  ASSERT_TRUE(files_.WriteFileAtomically("d/a", "new").ok());
  for (size_t n = before; n <= files_.operations(); ++n) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const std::string left = *files_.Crash(n, seed)->Contents("d/a");
      EXPECT_TRUE(left == "new" || left == "old") << left;
    }
  }
  EXPECT_EQ(Left(files_, "d/a"), "new");
}

}  // namespace
}  // namespace shoal
