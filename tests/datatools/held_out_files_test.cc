#include "datatools/held_out_files.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

std::string Warning(const FakeFileSystem& files, const std::string& pattern) {
  return HeldOutFilesWarning(files, ListSources(&files, pattern).value());
}

TEST(HeldOutFilesTest, ADirectoryOfPreparedDataIsWarnedOf) {
  FakeFileSystem files;
  for (const char* name :
       {"tr-00000.libsvm", "va-00000.libsvm", "te-00000.libsvm"}) {
    files.AddFile(std::string("/p/") + name, "1 1:1\n");
  }
  EXPECT_EQ(Warning(files, "/p"), "") << "not made by Shoal";
  files.AddFile("/p/_features.txt", "x");
  EXPECT_EQ(Warning(files, "/p/tr*"), "");
  EXPECT_THAT(Warning(files, "/p"),
              HasSubstr("2 files of rows to validate or to test with, the "
                        "first /p/te-00000.libsvm"));
  EXPECT_THAT(Warning(files, "/p"), HasSubstr("--training_data_dir='/p/tr*'"));
}

TEST(HeldOutFilesTest, ADirectoryOfGeneratedDataIsWarnedOf) {
  FakeFileSystem files;
  files.AddFile("/g/tr-00000.libsvm", "1 1:1\n");
  files.AddFile("/g/te.libsvm", "1 1:1\n");
  files.AddFile("/g/_meta.json", "{}");
  files.AddFile("/other/te.libsvm", "1 1:1\n");
  EXPECT_THAT(Warning(files, "/g"),
              HasSubstr("1 file of rows to validate or to test with, "
                        "/g/te.libsvm"));
  EXPECT_EQ(Warning(files, "/other"), "");
}

}  // namespace
}  // namespace shoal
