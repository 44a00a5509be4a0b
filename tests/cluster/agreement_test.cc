#include "cluster/agreement.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(CheckSameConfigTest, EqualTextsAgree) {
  EXPECT_TRUE(
      CheckSameConfig("worker 1", "a=1\nb=2\n", "ps 0", "a=1\nb=2\n").ok());
}

TEST(CheckSameConfigTest, NamesTheFirstFlagWithBothValuesAndBothSides) {
  const absl::Status status =
      CheckSameConfig("worker 1", "a=1\nbatch_size=256\nseed=2\n", "ps 0",
                      "a=1\nbatch_size=1024\nseed=3\n");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("--batch_size differs: worker 1 has 256, ps 0 has "
                        "1024"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("seed")));
}

TEST(CheckSameConfigTest, NamesAFlagThatOneSideLacks) {
  EXPECT_THAT(
      std::string(CheckSameConfig("w", "a=1\n", "c", "a=1\nb=2\n").message()),
      HasSubstr("--b differs: w does not have it, c has 2"));
  EXPECT_THAT(
      std::string(
          CheckSameConfig("w", "a=1\nc=3\n", "c", "b=2\nc=3\n").message()),
      HasSubstr("--a differs: w has 1, c does not have it"));
}

TEST(CheckSameConfigTest, AnotherNumberOfServersIsTheFlagThatListsThem) {
  const absl::Status status =
      CheckSameConfig("worker 0", "a=1\nps=1\n", "ps 0", "a=1\nps=2\n");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("--ps_hosts, or --worker_hosts with --mode=ring, "
                        "differs in its number of entries: worker 0 "
                        "has 1, ps 0 has 2"));
}

TEST(CheckSameConfigTest, OrderAndEmptyLinesDoNotMatter) {
  EXPECT_TRUE(CheckSameConfig("w", "b=2\n\na=1", "c", "a=1\nb=2\n").ok());
}

TEST(CheckSameConfigTest, AFormerNameOfAFlagIsItsName) {
  EXPECT_TRUE(CheckSameConfig("w", "a=1\ndropout=0.5\nz=1\n", "c",
                              "a=1\nkeep_prob=0.5\nz=1\n")
                  .ok());
  EXPECT_THAT(std::string(CheckSameConfig("w", "dropout=0.5\n", "c",
                                          "keep_prob=0.25\n")
                              .message()),
              HasSubstr("--keep_prob differs: w has 0.5, c has 0.25"));
}

TEST(CheckSameConfigTest, ALineWithoutAValueIsAFlagToo) {
  EXPECT_FALSE(CheckSameConfig("w", "garbage", "c", "a=1").ok());
  EXPECT_FALSE(CheckSameConfig("w", "a", "c", "a=1").ok());
}

TEST(CheckSameSourcesTest, NamesTheFileThatDiffersAndHow) {
  const std::vector<SourceInfo> ours = {{"a", 10, 1}, {"b", 20, 2}};
  EXPECT_TRUE(CheckSameSources("training", "w1", ours, "w0", ours, "why").ok());
  const absl::Status size = CheckSameSources(
      "training", "w1", {{"a", 10, 1}, {"b", 21, 2}}, "w0", ours,
      "all read the same files");
  EXPECT_EQ(size.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(size.message()),
              HasSubstr("training file 1 differs: w1 has b (21 bytes"));
  EXPECT_THAT(std::string(size.message()), HasSubstr("w0 has b (20 bytes"));
  EXPECT_THAT(std::string(size.message()),
              EndsWith("; all read the same files"));
  EXPECT_FALSE(CheckSameSources("training", "w1", {{"a", 10, 9}, {"b", 20, 2}},
                                "w0", ours, "why")
                   .ok())
      << "equal in size, but not in its first bytes";
}

TEST(CheckSameSourcesTest, NamesAFileThatOneSideLacks) {
  const std::vector<SourceInfo> one = {{"a", 10, 1}};
  EXPECT_THAT(
      std::string(
          CheckSameSources("evaluation", "w1", {}, "w0", one, "why").message()),
      HasSubstr("evaluation file 0 differs: w1 has no such file, w0 has a"));
}

}  // namespace
}  // namespace shoal
