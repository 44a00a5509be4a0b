#include "base/file_system.h"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/durable_file_system.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

// A file system with an empty directory to work in.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual FileSystem& files() = 0;
  virtual std::string root() = 0;
};

class PosixSubject final : public Subject {
 public:
  PosixSubject() {
    std::string name = JoinPath(::testing::TempDir(), "shoal-files-XXXXXX");
    if (mkdtemp(name.data()) != nullptr) root_ = name;
  }
  ~PosixSubject() override {
    std::error_code ignored;
    if (!root_.empty()) std::filesystem::remove_all(root_, ignored);
  }
  FileSystem& files() override { return *files_; }
  std::string root() override { return root_; }

 private:
  std::string root_;
  const std::unique_ptr<FileSystem> files_ = NewPosixFileSystem();
};

class FakeSubject final : public Subject {
 public:
  FakeSubject() { files_.AddFile("/files/.keep", ""); }
  FileSystem& files() override { return files_; }
  std::string root() override { return "/files"; }

 private:
  FakeFileSystem files_;
};

class DurableSubject final : public Subject {
 public:
  DurableSubject() { files_.CreateDirectories("/files").IgnoreError(); }
  FileSystem& files() override { return files_; }
  std::string root() override { return "/files"; }

 private:
  DurableFileSystem files_;
};

struct Implementation {
  const char* name;
  std::unique_ptr<Subject> (*make)();
};

class FileSystemConformance : public ::testing::TestWithParam<Implementation> {
 protected:
  FileSystem& files() { return subject_->files(); }
  std::string At(absl::string_view name) {
    return JoinPath(subject_->root(), name);
  }

  void Write(absl::string_view name, absl::string_view bytes) {
    auto file = files().Create(At(name));
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append(bytes).ok());
    ASSERT_TRUE((*file)->Close().ok());
  }

  std::string Read(absl::string_view name) {
    auto file = files().OpenForRead(At(name));
    if (!file.ok()) return file.status().ToString();
    std::string bytes((*file)->size(), '\0');
    const auto n = (*file)->Read(0, absl::MakeSpan(bytes));
    if (!n.ok()) return n.status().ToString();
    return bytes.substr(0, *n);
  }

  // The names of the listed files, in the order of their paths.
  std::vector<std::string> Names(const std::string& pattern) {
    auto found = files().List(pattern);
    if (!found.ok()) return {absl::StatusCodeToString(found.status().code())};
    std::vector<std::string> names;
    for (const FileInfo& info : *found) names.push_back(info.name);
    return names;
  }

  // The listed paths below the root, or the code of the error.
  std::vector<std::string> List(absl::string_view pattern) {
    auto found = files().List(std::string(pattern));
    if (!found.ok()) return {absl::StatusCodeToString(found.status().code())};
    std::vector<std::string> names;
    for (const FileInfo& info : *found) {
      names.push_back(info.path.substr(subject_->root().size() + 1));
    }
    return names;
  }

 private:
  const std::unique_ptr<Subject> subject_ = GetParam().make();
};

TEST_P(FileSystemConformance, WhatWasWrittenIsRead) {
  std::string large(200'000, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i);
  auto file = files().Create(At("a"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->Append("head ").ok());
  EXPECT_TRUE((*file)->Append("").ok());
  EXPECT_TRUE((*file)->Append(large).ok());
  EXPECT_TRUE((*file)->Append(" tail").ok());
  EXPECT_TRUE((*file)->Close().ok());
  EXPECT_EQ(Read("a"), absl::StrCat("head ", large, " tail"));
}

TEST_P(FileSystemConformance, CreateTruncatesAndAClosedFileTakesNoMore) {
  Write("a", "a long first version");
  auto file = files().Create(At("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->Append("short").ok());
  EXPECT_TRUE((*file)->Close().ok());
  EXPECT_TRUE((*file)->Close().ok());
  EXPECT_EQ((*file)->Append("late").code(), Code::kFailedPrecondition);
  EXPECT_EQ(Read("a"), "short");
}

TEST_P(FileSystemConformance, ReadsGiveFewerBytesOnlyAtTheEnd) {
  Write("a", "0123456789");
  auto file = files().OpenForRead(At("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 10u);
  char out[4];
  const std::pair<uint64_t, size_t> cases[] = {{0, 4}, {6, 4},  {7, 3},
                                               {9, 1}, {10, 0}, {1'000'000, 0}};
  for (const auto& [offset, expected] : cases) {
    const auto n = (*file)->Read(offset, absl::MakeSpan(out));
    ASSERT_TRUE(n.ok());
    ASSERT_EQ(*n, expected) << "at " << offset;
    for (size_t i = 0; i < *n; ++i) {
      EXPECT_EQ(out[i], static_cast<char>('0' + offset + i));
    }
  }
  EXPECT_EQ(*(*file)->Read(3, absl::Span<char>()), 0u);
}

TEST_P(FileSystemConformance, AnErrorNamesThePathAndItsKind) {
  const absl::Status missing = files().OpenForRead(At("nope")).status();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr(At("nope")));
  EXPECT_EQ(files().Create(At("no/such/dir")).status().code(), Code::kNotFound);
  ASSERT_TRUE(files().CreateDirectories(At("dir")).ok());
  const absl::Status directory = files().OpenForRead(At("dir")).status();
  EXPECT_EQ(directory.code(), Code::kFailedPrecondition);
  EXPECT_THAT(std::string(directory.message()), HasSubstr("directory"));
  EXPECT_EQ(files().Create(At("dir")).status().code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(files().WriteFileAtomically(At("dir"), "x").code(),
            Code::kFailedPrecondition);
}

TEST_P(FileSystemConformance, CreateDirectoriesMakesParentsAndMayBeRepeated) {
  EXPECT_TRUE(files().CreateDirectories(At("x/y/z/")).ok());
  EXPECT_TRUE(files().CreateDirectories(At("x/y/z")).ok());
  Write("x/y/z/file", "found");
  EXPECT_EQ(Read("x/y/z/file"), "found");
  EXPECT_EQ(files().CreateDirectories(At("x/y/z/file/under")).code(),
            Code::kFailedPrecondition);
}

TEST_P(FileSystemConformance, ListNamesFilesDirectoriesAndGlobsSortedAndOnce) {
  ASSERT_TRUE(files().CreateDirectories(At("sub")).ok());
  for (const char* name : {"tr2", "tr1", "tr10", "va1", "_SUCCESS", ".hidden",
                           "sub/tr0", "sub/other"}) {
    Write(name, name);
  }
  EXPECT_THAT(List(At("tr2")), ElementsAre("tr2"));
  EXPECT_THAT(List(At("sub")), ElementsAre("sub/other", "sub/tr0"));
  EXPECT_THAT(List(At("tr*")), ElementsAre("tr1", "tr10", "tr2"));
  EXPECT_THAT(List(At("*[0-9]")), ElementsAre("tr1", "tr10", "tr2", "va1"));
  EXPECT_THAT(List(At("[tv][ra]?")), ElementsAre("tr1", "tr2", "va1"));
  EXPECT_THAT(List(At("s*/tr*")), ElementsAre("sub/tr0"));
  EXPECT_THAT(List(absl::StrCat(At("va1"), ",", At("./tr2"), ",", At("tr*"))),
              ElementsAre("tr1", "tr10", "tr2", "va1"));
  EXPECT_THAT(List(At("_SUCCESS")), ElementsAre("_SUCCESS"));
  const auto sized = files().List(At("tr10"));
  ASSERT_TRUE(sized.ok());
  EXPECT_EQ((*sized)[0].size, 4u);
}

TEST_P(FileSystemConformance, ADirectoryNamesTheFilesBelowItAtEveryDepth) {
  for (const char* name : {"dt=1/h=00", "dt=1/_tmp/0", "dt=2/.x", "_logs"}) {
    ASSERT_TRUE(files().CreateDirectories(At(name)).ok());
  }
  for (const char* name :
       {"flat", "dt=1/part-0", "dt=1/h=00/part-0", "dt=1/_SUCCESS",
        "dt=1/_tmp/0/part-0", "dt=2/part-0", "dt=2/.x/part-0", "_logs/1"}) {
    Write(name, name);
  }
  const auto all =
      ElementsAre("dt=1/h=00/part-0", "dt=1/part-0", "dt=2/part-0", "flat");
  EXPECT_THAT(List(At("")), all);
  EXPECT_THAT(Names(At("")), all) << "below the directory";
  EXPECT_THAT(Names(At("dt=1")), ElementsAre("h=00/part-0", "part-0"));
  EXPECT_THAT(Names(At("dt=1/part-0")), ElementsAre("part-0"));
  EXPECT_THAT(Names(At("dt=1/p*")), ElementsAre("part-0"));
  EXPECT_THAT(List(At("*")), all) << "a glob may name directories too";
  EXPECT_THAT(Names(At("*")), all);
  EXPECT_THAT(Names(At("dt=[2-9]")), ElementsAre("dt=2/part-0"));
  EXPECT_THAT(Names(At("*/h=*")), ElementsAre("h=00/part-0"));
  EXPECT_THAT(Names(At("_logs")), ElementsAre("1")) << "its own path names it";
  EXPECT_THAT(Names(absl::StrCat(At("dt=2"), ",", At(""))),
              ElementsAre("dt=1/h=00/part-0", "dt=1/part-0", "part-0", "flat"))
      << "listed once, with its first name";
}

TEST_P(FileSystemConformance, APatternThatNamesNothingIsNotFound) {
  Write("tr1", "");
  ASSERT_TRUE(files().CreateDirectories(At("empty")).ok());
  ASSERT_TRUE(files().CreateDirectories(At("hollow/below")).ok());
  for (const std::string& pattern :
       {At("te*"), At("te1"), At("empty"), At("empty/*"), At("hollow"),
        At("hol*"), std::string(),
        absl::StrCat(At("tr1"), ",", At("te*")),
        absl::StrCat(At("tr1"), ",")}) {
    EXPECT_THAT(List(pattern), ElementsAre("NOT_FOUND")) << pattern;
  }
}

TEST_P(FileSystemConformance, ANameWithGlobCharactersIsFoundByItself) {
  Write("a[1]", "literal");
  Write("a1", "matched");
  EXPECT_THAT(List(At("a[1]")), ElementsAre("a[1]"));
}

TEST_P(FileSystemConformance, APathThatExistsIsTakenBeforeItsCommas) {
  ASSERT_TRUE(files().CreateDirectories(At("x,y")).ok());
  for (const char* name : {"a", "b", "a,b", "c[1],d", "x,y/e"}) {
    Write(name, name);
  }
  EXPECT_THAT(List(At("a,b")), ElementsAre("a,b"));
  EXPECT_THAT(List(At("./a,b")), ElementsAre("a,b"));
  EXPECT_THAT(List(At("x,y")), ElementsAre("x,y/e"));
  EXPECT_THAT(List(absl::StrCat(At("a"), ",", At("b"))), ElementsAre("a", "b"))
      << "the whole is no path";
  // Within a list, too, the longest path that exists wins.
  EXPECT_THAT(List(absl::StrCat(At("x,y"), ",", At("b"))),
              ElementsAre("b", "x,y/e"));
  EXPECT_THAT(List(absl::StrCat(At("b"), ",", At("c[1],d"))),
              ElementsAre("b", "c[1],d"));
  EXPECT_THAT(List(absl::StrCat(At("b"), ",", At("c[1],d"), ",", At("a,b"))),
              ElementsAre("a,b", "b", "c[1],d"));
  EXPECT_THAT(List(absl::StrCat(At("b"), ",", At("x,y"), ",", At("c*"))),
              ElementsAre("b", "c[1],d", "x,y/e"));
  EXPECT_THAT(List(At("a,c")), ElementsAre("NOT_FOUND"));
}

TEST_P(FileSystemConformance, AtomicWriteReplacesTheFileAndLeavesNoOther) {
  Write("m", "old contents");
  auto before = files().OpenForRead(At("m"));
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(files().WriteFileAtomically(At("m"), "new").ok());
  EXPECT_EQ(Read("m"), "new");
  char out[3];
  ASSERT_EQ(*(*before)->Read(0, absl::MakeSpan(out)), 3u);
  EXPECT_EQ(std::string(out, 3), "old") << "an open file keeps its contents";
  ASSERT_TRUE(files().WriteFileAtomically(At("fresh"), "").ok());
  EXPECT_THAT(List(At("*")), ElementsAre("fresh", "m"));
  EXPECT_EQ(files().WriteFileAtomically(At("no/dir/m"), "x").code(),
            Code::kNotFound);
}

TEST_P(FileSystemConformance, ADirectoryIsListedWithItsHiddenNames) {
  Write(".hidden", "four");
  Write("b", "");
  ASSERT_TRUE(files().CreateDirectories(At("a/inner")).ok());
  const auto entries = files().ListDirectory(At(""));
  ASSERT_TRUE(entries.ok()) << entries.status();
  std::vector<std::string> found;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.name == ".keep") continue;  // of the fixture
    found.push_back(absl::StrCat(entry.name, entry.is_directory ? "/" : "", " ",
                                 entry.size));
  }
  EXPECT_THAT(found, ElementsAre(".hidden 4", "a/ 0", "b 0"));
  EXPECT_TRUE(files().ListDirectory(At("a/inner"))->empty());
  EXPECT_EQ(files().ListDirectory(At("no")).status().code(), Code::kNotFound);
  EXPECT_EQ(files().ListDirectory(At("b")).status().code(),
            Code::kFailedPrecondition);
}

TEST_P(FileSystemConformance, RenameReplacesAndRemoveTakesOnlyWhatIsEmpty) {
  Write("a", "new");
  Write("b", "old");
  ASSERT_TRUE(files().Rename(At("a"), At("b")).ok());
  EXPECT_EQ(Read("b"), "new");
  EXPECT_EQ(files().OpenForRead(At("a")).status().code(), Code::kNotFound);
  EXPECT_EQ(files().Rename(At("a"), At("c")).code(), Code::kNotFound);
  ASSERT_TRUE(files().CreateDirectories(At("d")).ok());
  Write("d/e", "");
  EXPECT_EQ(files().Remove(At("d")).code(), Code::kFailedPrecondition);
  EXPECT_TRUE(files().Remove(At("d/e")).ok());
  EXPECT_TRUE(files().Remove(At("d")).ok());
  EXPECT_EQ(files().Remove(At("d")).code(), Code::kNotFound);
}

TEST_P(FileSystemConformance, DirectoriesAreSyncedAndNothingElseIs) {
  Write("a", "");
  EXPECT_TRUE(files().SyncDirectory(At("")).ok());
  EXPECT_EQ(files().SyncDirectory(At("no")).code(), Code::kNotFound);
  EXPECT_EQ(files().SyncDirectory(At("a")).code(), Code::kFailedPrecondition);
}

TEST_P(FileSystemConformance, SyncedBytesAreThereForOthers) {
  auto file = files().Create(At("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->Append("synced").ok());
  ASSERT_TRUE((*file)->Sync().ok());
  EXPECT_EQ(Read("a"), "synced");
  EXPECT_TRUE((*file)->Close().ok());
}

INSTANTIATE_TEST_SUITE_P(
    All, FileSystemConformance,
    ::testing::Values(Implementation{"posix",
                                     []() -> std::unique_ptr<Subject> {
                                       return std::make_unique<PosixSubject>();
                                     }},
                      Implementation{"fake",
                                     []() -> std::unique_ptr<Subject> {
                                       return std::make_unique<FakeSubject>();
                                     }},
                      Implementation{
                          "durable",
                          []() -> std::unique_ptr<Subject> {
                            return std::make_unique<DurableSubject>();
                          }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace shoal
