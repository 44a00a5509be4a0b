#include "bench/compare/run_file.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

RunFile RunOfRing() {
  RunFile run;
  run.settings = "seed=1";
  run.data = {5000, 8};
  run.cell.name = "A_ring_h2_b1024_1gbit";
  run.cell.model = "A";
  run.cell.mode = "ring";
  run.cell.hosts = 2;
  run.cell.runs.resize(1);
  run.cell.runs[0].ok = true;
  run.cell.runs[0].samples_per_second = 12345.5;
  return run;
}

TEST(RunFileTest, GivesBackTheRunOfACell) {
  const auto parsed = ParseRunFile(RunFileJson(RunOfRing()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->settings, "seed=1");
  EXPECT_EQ(parsed->data.rows, 5000u);
  EXPECT_EQ(parsed->data.files, 8u);
  EXPECT_EQ(parsed->cell.runs.at(0).samples_per_second, 12345.5);
  EXPECT_EQ(RunFileJson(*parsed), RunFileJson(RunOfRing()));
}

TEST(RunFileTest, AFileOfAnEarlierVersionDoesNotKnowTheData) {
  const std::string text = absl::StrReplaceAll(
      RunFileJson(RunOfRing()), {{"\"data\"", "\"other\""}});
  const auto parsed = ParseRunFile(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->data.rows, 0u);
}

TEST(RunFileTest, NeedsExactlyOneRun) {
  RunFile none = RunOfRing();
  none.cell.runs.clear();
  EXPECT_THAT(ParseRunFile(RunFileJson(none)).status().message(),
              HasSubstr("cell.runs: does not have exactly one entry"));
  EXPECT_THAT(ParseRunFile(absl::StrReplaceAll(
                               RunFileJson(RunOfRing()),
                               {{"\"format\": 1", "\"format\": 2"}}))
                  .status()
                  .message(),
              HasSubstr("format: is 2, and this version reads 1"));
}

}  // namespace
}  // namespace shoal
