#include "tests/harness/fake_file_system.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

// The faults; what it shares with the real one is in tests/conformance.
namespace shoal {
namespace {

TEST(FakeFileSystem, ReadsFailWhereTheyTouchTheBadBytesAndOnlyThere) {
  FakeFileSystem files;
  files.AddFile("data/tr1", "0123456789");
  const auto file = files.OpenForRead("data/tr1");
  ASSERT_TRUE(file.ok());
  files.FailReads("data/tr1", absl::DataLossError("bad sector"), 6);
  char out[4];
  EXPECT_EQ(*(*file)->Read(2, absl::MakeSpan(out)), 4u);
  EXPECT_EQ((*file)->Read(3, absl::MakeSpan(out)).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ((*file)->Read(8, absl::MakeSpan(out)).status().code(),
            absl::StatusCode::kDataLoss);
  files.FailReads("data/tr1", absl::OkStatus());
  EXPECT_EQ(*(*file)->Read(8, absl::MakeSpan(out)), 2u);
}

TEST(FakeFileSystem, ATruncatedFileIsShorterThanItSaid) {
  FakeFileSystem files;
  files.AddFile("a", "0123456789");
  const auto file = files.OpenForRead("a");
  ASSERT_TRUE(file.ok());
  files.Truncate("a", 3);
  char out[10];
  EXPECT_EQ((*file)->size(), 10u);
  EXPECT_EQ(*(*file)->Read(0, absl::MakeSpan(out)), 3u);
  EXPECT_EQ((*files.OpenForRead("a"))->size(), 3u);
}

TEST(FakeFileSystem, ALimitedFileFillsTheDisk) {
  FakeFileSystem files;
  files.LimitWrites("out", 4);
  const auto file = files.Create("out");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->Append("1234").ok());
  EXPECT_EQ((*file)->Append("5").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ((*file)->Close().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*files.Contents("out"), "1234");
  EXPECT_EQ(files.WriteFileAtomically("out", "12345").code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*files.Contents("out"), "1234") << "whole or not at all";
}

}  // namespace
}  // namespace shoal
