#include "worker/data/source_list.h"

#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/record_framing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SourceListTest, HostsWithOtherMountPointsAgree) {
  FakeFileSystem a, b;
  a.AddFile("/mnt/z/tr-0", "0 0:1");
  a.AddFile("/mnt/a/tr-1", "0 1:1");
  b.AddFile("/disk/1/tr-0", "0 0:1");
  b.AddFile("/disk/2/tr-1", "0 1:1");
  const auto on_a = ListSources(&a, "/mnt/a,/mnt/z").value();
  const auto on_b = ListSources(&b, "/disk/1,/disk/2/tr-*").value();
  ASSERT_EQ(on_a.size(), 2u);
  ASSERT_EQ(on_b.size(), 2u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(on_a[i].info, on_b[i].info);
  EXPECT_EQ(on_a[0].info.name, "tr-0");
  EXPECT_EQ(on_a[0].path, "/mnt/z/tr-0");
  EXPECT_EQ(on_b[1].path, "/disk/2/tr-1");
}

TEST(SourceListTest, TellsSizeAndDigestOfTheHead) {
  FakeFileSystem files;
  const std::string head = "0 1:1\n" + std::string((64 << 10) - 6, 'x');
  files.AddFile("/d/a", head + "tail");
  files.AddFile("/d/b", head + "liat");
  files.AddFile("/d/c", "0 2:1\n" + head);
  files.AddFile("/d/empty", "");
  const auto sources = ListSources(&files, "/d").value();
  ASSERT_EQ(sources.size(), 4u);
  EXPECT_EQ(sources[0].info.size, head.size() + 4);
  EXPECT_EQ(sources[0].info.head_crc32c, Crc32c(head));
  EXPECT_EQ(sources[1].info.head_crc32c, sources[0].info.head_crc32c);
  EXPECT_NE(sources[2].info.head_crc32c, sources[0].info.head_crc32c);
  EXPECT_EQ(sources[3].info.size, 0u);
  EXPECT_EQ(sources[3].info.head_crc32c, 0u);
}

TEST(SourceListTest, TellsTheKindOfIds) {
  FakeFileSystem files;
  files.AddFile("/d/a", "0 1:1\n");
  files.AddFile("/d/b", "1" + std::string(39, '\t') + "\n");
  files.AddFile("/d/c", "# no row\n");
  files.AddFile("/d/d", "");
  const auto sources = ListSources(&files, "/d").value();
  ASSERT_EQ(sources.size(), 4u);
  EXPECT_EQ(sources[0].ids, IdKind::kWritten);
  EXPECT_EQ(sources[1].ids, IdKind::kHashed);
  EXPECT_EQ(sources[2].ids, IdKind::kUnknown);
  EXPECT_EQ(sources[3].ids, IdKind::kUnknown);
}

TEST(SourceListTest, TellsTheMeanRowOfTheHeads) {
  FakeFileSystem files;
  std::string rows;
  for (int i = 0; i < 20000; ++i) rows += "0 1:1\n";
  files.AddFile("/text/a", rows);  // 6 bytes a row; the head ends within a row
  files.AddFile("/text/b", "0 1:1 2:1\n0 1:1 2:1");  // no end of the last row
  const auto text = ListSources(&files, "/text").value();
  EXPECT_EQ(text[0].head_rows, (64u << 10) / 6);
  EXPECT_EQ(text[0].head_bytes, (64u << 10) / 6 * 6);
  EXPECT_EQ(text[1].head_rows, 1u);
  EXPECT_EQ(text[1].head_bytes, 10u);
  EXPECT_EQ(MeanRowBytes(text), 7u) << "rounded up";
  // A record that lies whole in the head counts with its framing.
  std::string records;
  for (int i = 0; i < 3; ++i) AppendRecord(std::string(84, 'x'), &records);
  files.AddFile("/records/a", records.substr(0, 299));
  const auto framed =
      ListSources(&files, "/records", DataFormat::kTfRecord).value();
  EXPECT_EQ(framed[0].head_rows, 2u);
  EXPECT_EQ(MeanRowBytes(framed), 100u);
  // A length that no file has.
  files.AddFile("/bad/a", std::string(8, '\xff') + std::string(100, 'x'));
  EXPECT_EQ(MeanRowBytes(
                ListSources(&files, "/bad", DataFormat::kTfRecord).value()),
            0u);
  EXPECT_EQ(MeanRowBytes({}), 0u);
}

// Checkpoints hold the names, so the names must not change.
TEST(SourceListTest, NamesArePathsBelowTheDirectoryAndBaseNamesOtherwise) {
  FakeFileSystem files;
  files.AddFile("/flat/b", "0 0:1");
  files.AddFile("/flat/a", "0 1:1");
  files.AddFile("/hive/dt=1/part-0", "0 0:1");
  files.AddFile("/hive/dt=2/part-0", "0 1:1");
  files.AddFile("/hive/dt=2/_SUCCESS", "");
  const auto names = [&](const std::string& pattern) {
    std::vector<std::string> names;
    const auto sources = ListSources(&files, pattern);
    if (!sources.ok()) names.push_back(sources.status().ToString());
    if (!sources.ok()) return names;
    for (const LocalSource& source : *sources) {
      names.push_back(source.info.name);
    }
    return names;
  };
  for (const char* flat : {"/flat", "/flat/*", "/flat/b,/flat/a"}) {
    EXPECT_THAT(names(flat), ElementsAre("a", "b")) << flat;
  }
  for (const char* hive : {"/hive", "/hive/*", "/hive/dt=*"}) {
    EXPECT_THAT(names(hive), ElementsAre("dt=1/part-0", "dt=2/part-0")) << hive;
  }
  EXPECT_EQ(ListSources(&files, "/hive").value()[1].path, "/hive/dt=2/part-0");
}

TEST(SourceListTest, TwoFilesOfOneNameAreRefusedWithBothPaths) {
  FakeFileSystem files;
  files.AddFile("/d/1/tr", "0");
  files.AddFile("/d/2/tr", "1");
  const absl::Status status = ListSources(&files, "/d/1,/d/2").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("/d/1/tr"), HasSubstr("/d/2/tr"),
                    HasSubstr("name the directory above")));
  EXPECT_TRUE(ListSources(&files, "/d").ok());
}

TEST(SourceListTest, WhatIsNotThereIsNotFound) {
  FakeFileSystem files;
  EXPECT_EQ(ListSources(&files, "/nowhere").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(SourceListTest, UnreadableFilesAreTheirOwnError) {
  FakeFileSystem files;
  files.AddFile("/d/a", "x");
  files.FailReads("/d/a", absl::PermissionDeniedError("/d/a: not yours"));
  EXPECT_EQ(ListSources(&files, "/d").status().code(),
            absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace shoal
