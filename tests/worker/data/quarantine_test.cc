#include "worker/data/quarantine.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

constexpr char kHeader[] = "file\trecord\tbyte\treason\n";

QuarantineOptions SmallQuarantine() {
  QuarantineOptions options;
  options.directory = "q/new";
  options.name = "worker-3";
  return options;
}

BadRow Bad(uint64_t number, uint64_t offset) {
  return {number, offset, absl::StrCat("reason ", number)};
}

TEST(QuarantineTest, MakesNoFileWithoutABadRow) {
  FakeFileSystem files;
  {
    Quarantine quarantine(&files, SmallQuarantine());
    EXPECT_TRUE(quarantine.Sync().ok());
    EXPECT_EQ(quarantine.path(), "");
  }
  EXPECT_FALSE(files.List("q").ok());
}

TEST(QuarantineTest, WritesFileRecordByteAndReason) {
  FakeFileSystem files;
  Quarantine quarantine(&files, SmallQuarantine());
  ASSERT_TRUE(quarantine.Add("d/a\tb\n", 0, Bad(7, 100)).ok());
  ASSERT_TRUE(quarantine.Add("d/c", 4096, Bad(0, 5000)).ok());
  ASSERT_TRUE(quarantine.Sync().ok());
  EXPECT_EQ(quarantine.path(), "q/new/bad-rows-worker-3.tsv");
  EXPECT_EQ(files.Contents(quarantine.path()).value(),
            absl::StrCat(kHeader, "d/a\\tb\\n\t7\t100\treason 7\n",
                         "d/c\t-\t5000\treason 0\n"));
}

TEST(QuarantineTest, APieceThatIsReadAgainWritesNothingTwice) {
  FakeFileSystem files;
  Quarantine quarantine(&files, SmallQuarantine());
  // The first reading is dropped after two rows; the next goes on; a third.
  for (const int rows : {2, 4, 4}) {
    for (int i = 0; i < rows; ++i) {
      ASSERT_TRUE(quarantine.Add("a", 0, Bad(i + 1, 10 * i)).ok());
    }
  }
  ASSERT_TRUE(quarantine.Add("a", 100, Bad(1, 120)).ok());
  EXPECT_EQ(files.Contents(quarantine.path()).value(),
            absl::StrCat(kHeader, "a\t1\t0\treason 1\n", "a\t2\t10\treason 2\n",
                         "a\t3\t20\treason 3\n", "a\t4\t30\treason 4\n",
                         "a\t1\t120\treason 1\n"));
}

TEST(QuarantineTest, IsBoundedByRowsAndByBytes) {
  for (const bool by_bytes : {false, true}) {
    FakeFileSystem files;
    QuarantineOptions options = SmallQuarantine();
    if (by_bytes) {
      options.max_bytes = 100;
    } else {
      options.max_rows = 5;
    }
    Quarantine quarantine(&files, options);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(quarantine.Add("a", 0, Bad(i, i)).ok());
    }
    const std::string contents = files.Contents(quarantine.path()).value();
    EXPECT_LT(contents.size(), 130u);
    EXPECT_THAT(contents, ::testing::HasSubstr("reason 4\n"));
    EXPECT_THAT(contents, ::testing::Not(::testing::HasSubstr("reason 10\n")));
  }
}

TEST(QuarantineTest, KeepsTheFilesOfEarlierLives) {
  FakeFileSystem files;
  for (const char* name : {"bad-rows-worker-3.tsv", "bad-rows-worker-3-2.tsv",
                           "bad-rows-worker-3-3.tsv"}) {
    Quarantine quarantine(&files, SmallQuarantine());
    ASSERT_TRUE(quarantine.Add("a", 0, Bad(1, 1)).ok());
    EXPECT_EQ(quarantine.path(), absl::StrCat("q/new/", name));
  }
  EXPECT_EQ(files.List("q/new").value().size(), 3u);
}

TEST(QuarantineTest, AFullDiskIsAnErrorThatNamesTheFile) {
  FakeFileSystem files;
  ASSERT_TRUE(files.CreateDirectories("q/new").ok());
  files.LimitWrites("q/new/bad-rows-worker-3.tsv", 30);
  Quarantine quarantine(&files, SmallQuarantine());
  const absl::Status status = quarantine.Add("a", 0, Bad(1, 1));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("bad-rows-worker-3.tsv"));
}

TEST(QuarantineTest, WhoTakesTheFailureIsToldOnceAndTheReadingGoesOn) {
  FakeFileSystem files;
  ASSERT_TRUE(files.CreateDirectories("q/new").ok());
  files.LimitWrites("q/new/bad-rows-worker-3.tsv", 30);
  QuarantineOptions options = SmallQuarantine();
  int told = 0;
  options.on_failure = [&told](const absl::Status& why) {
    ++told;
    EXPECT_EQ(why.code(), absl::StatusCode::kResourceExhausted) << why;
  };
  Quarantine quarantine(&files, options);
  EXPECT_TRUE(quarantine.Add("a", 0, Bad(1, 1)).ok());
  EXPECT_TRUE(quarantine.Add("a", 0, Bad(2, 9)).ok());
  EXPECT_TRUE(quarantine.Sync().ok());
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace shoal
