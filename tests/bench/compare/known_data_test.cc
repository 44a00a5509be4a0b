#include "bench/compare/known_data.h"

#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

class KnownDataTest : public ::testing::Test {
 protected:
  KnownDataTest() : files_(NewPosixFileSystem()) {
    directory_ = absl::StrCat(::testing::TempDir(), "/data-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
  }

  void Meta(const std::string& text) {
    ASSERT_TRUE(
        files_->WriteFileAtomically(absl::StrCat(directory_, "/_meta.json"),
                                    text)
            .ok());
  }
  std::string Path(const std::string& name) const {
    return absl::StrCat(directory_, "/", name);
  }
  uint64_t Rows(const std::vector<std::string>& paths) const {
    const ComparedData data = KnownData(*files_, paths);
    EXPECT_EQ(data.files, paths.size());
    return data.rows;
  }

  const std::unique_ptr<FileSystem> files_;
  std::string directory_;
};

TEST_F(KnownDataTest, GeneratedDataTellTheirRows) {
  Meta(R"({"rows": 200000, "test_rows": 7, "files": 2, "format": "libsvm"})");
  EXPECT_EQ(Rows({Path("tr-00000.libsvm"), Path("tr-00001.libsvm")}), 200000u);
}

TEST_F(KnownDataTest, OtherFilesOrSomeOfThemAreNotCounted) {
  Meta(R"({"rows": 200000, "files": 2})");
  EXPECT_EQ(Rows({Path("tr-00000.libsvm")}), 0u);
  EXPECT_EQ(Rows({Path("tr-00000.libsvm"), Path("te.libsvm")}), 0u);
  EXPECT_EQ(Rows({Path("tr-00000.libsvm"), "/elsewhere/tr-00001.libsvm"}), 0u);
  EXPECT_EQ(Rows({Path("tr-00000.libsvm"), Path("tr-00000.libsvm")}), 0u);
  EXPECT_EQ(Rows({}), 0u);
}

TEST_F(KnownDataTest, AFileThatIsNoneOfOursSaysNothing) {
  const std::vector<std::string> paths = {Path("tr-00000.libsvm")};
  EXPECT_EQ(Rows(paths), 0u);
  Meta("{");
  EXPECT_EQ(Rows(paths), 0u);
  Meta(R"({"rows": "many", "files": 1})");
  EXPECT_EQ(Rows(paths), 0u);
  Meta(R"({"files": 1})");
  EXPECT_EQ(Rows(paths), 0u);
}

}  // namespace
}  // namespace shoal
