#include "cluster/resume.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ResumeTest, WhatMayDifferIsPassedOver) {
  const std::vector<std::string> may_differ = {"num_epochs", "ps",
                                               "table_row_limit"};
  EXPECT_TRUE(CheckResumableConfig(
                  "batch_size=8\nnum_epochs=1\nps=1\n",
                  "batch_size=8\nnum_epochs=2\nps=3\ntable_row_limit=7\n",
                  may_differ)
                  .ok());
  EXPECT_FALSE(
      CheckResumableConfig("num_epochs=1\n", "num_epochs=2\n", {}).ok());
}

TEST(ResumeTest, ARefusalSaysWhatToDo) {
  EXPECT_TRUE(WithResumeAdvice(absl::OkStatus()).ok());
  EXPECT_EQ(WithResumeAdvice(absl::FailedPreconditionError("no")),
            absl::FailedPreconditionError(
                "no; go on with the same value, or start afresh with "
                "--resume=never and another --model_dir"));
}

TEST(ResumeTest, WhatMayNotIsNamed) {
  const absl::Status status = CheckResumableConfig(
      "batch_size=8\nnum_epochs=1\noptimizer=adam\n",
      "batch_size=8\nnum_epochs=2\noptimizer=ftrl\n", {"num_epochs"});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("--optimizer"), HasSubstr("adam"),
                    HasSubstr("ftrl"), HasSubstr("--resume=never")));
}

class SameDataTest : public testing::Test {
 protected:
  SameDataTest() {
    files_.files = {{"a", 100, 1}, {"b", 50, 2}};
    pieces_ = {{0, 0, 0, 100}, {1, 1, 0, 50}};
    saved_.sources = files_.files;
    saved_.pieces = {{0, 0, 100, {}}, {1, 0, 50, {}}};
  }
  std::string Why() {
    const absl::Status status = CheckSameData(saved_, files_, pieces_);
    EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
    return std::string(status.message());
  }

  SavedData saved_;
  FileList files_;
  std::vector<Piece> pieces_;
};

TEST_F(SameDataTest, TheSameFilesGoOn) { EXPECT_EQ(Why(), ""); }

TEST_F(SameDataTest, AFileThatChangedIsNamed) {
  files_.files[1].head_crc32c = 3;
  EXPECT_THAT(Why(), HasSubstr("'b'"));
  files_.files[1] = {"b", 51, 2};
  EXPECT_THAT(Why(), AllOf(HasSubstr("50 bytes"), HasSubstr("51 bytes")));
}

TEST_F(SameDataTest, AFileThatIsGoneOrNewIsNamed) {
  files_.files.pop_back();
  EXPECT_THAT(Why(), AllOf(HasSubstr("'b'"), HasSubstr("any more")));
  files_.files = {{"a", 100, 1}, {"b", 50, 2}, {"c", 1, 3}};
  EXPECT_THAT(Why(), AllOf(HasSubstr("'c'"), HasSubstr("does not know")));
}

TEST_F(SameDataTest, OtherPiecesAndOtherHostsAreRefused) {
  pieces_[0].end = 60;
  EXPECT_THAT(Why(), HasSubstr("--piece_bytes"));
  pieces_[0].end = 100;
  files_.hosts = {0, 1};
  EXPECT_THAT(Why(), HasSubstr("other hosts"));
}

}  // namespace
}  // namespace shoal
