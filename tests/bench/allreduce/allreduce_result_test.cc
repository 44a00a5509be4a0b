#include "bench/allreduce/allreduce_result.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace shoal {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

AllReduceResult Made() {
  AllReduceResult result;
  result.ranks = 4;
  result.reduction = "fast";
  result.points = {{4096, 21.34e-6, 20e-6, 25e-6, 12000},
                   {1 << 26, .8948, .88, 1.2, 3}};
  return result;
}

TEST(AllReduceResultTest, TheTableHasTheFiguresInColumns) {
  const std::string text = AllReduceText(Made());
  EXPECT_THAT(text, HasSubstr("AllReduce of 4 ranks"));
  // 2 x 3 / 4 x 4096 / 21.34e-6, and 2 x 3 / 4 x 2^26 / 0.8948.
  EXPECT_THAT(text, ContainsRegex("4 KiB +21.3 µs +20.0 µs +25.0 µs +"
                                  "0.288 GB/s +12000\n"));
  EXPECT_THAT(text, ContainsRegex("64 MiB +894.80 ms +880.00 ms +1.20 s +"
                                  "0.112 GB/s +3\n"));
  EXPECT_THAT(text, HasSubstr("as in nccl-tests"));
  for (const auto line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), 84u) << line;  // µ has two bytes
  }
}

TEST(AllReduceResultTest, JsonGivesBackWhatWasWritten) {
  const std::string json = AllReduceJson(Made());
  const auto read = ParseAllReduce(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(AllReduceJson(*read), json);
  EXPECT_EQ(read->ranks, 4);
  EXPECT_EQ(read->reduction, "fast");
  ASSERT_EQ(read->points.size(), 2u);
  EXPECT_EQ(read->points[1].bytes, 1u << 26);
  EXPECT_EQ(read->points[1].seconds, .8948);
  EXPECT_EQ(read->points[1].most, 1.2);
  EXPECT_EQ(read->points[0].calls, 12000u);
  EXPECT_THAT(json, HasSubstr("\"busbw\": 1124"));
}

TEST(AllReduceResultTest, WrongJsonIsRefusedWithItsPlace) {
  const std::string json = AllReduceJson(Made());
  const auto error = [&](const std::string& from, const std::string& to) {
    EXPECT_THAT(json, HasSubstr(from));
    const auto read = ParseAllReduce(absl::StrReplaceAll(json, {{from, to}}));
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(read.status().message());
  };
  EXPECT_THAT(error("\"seconds\": 0.8948", "\"seconds\": 0"),
              HasSubstr("points[1].seconds"));
  EXPECT_THAT(error("\"ranks\": 4", "\"ranks\": \"four\""),
              HasSubstr("ranks"));
  EXPECT_FALSE(ParseAllReduce("").ok());
}

TEST(AllReduceResultTest, SizesAreSaidInTheirUnits) {
  EXPECT_EQ(SizeText(100), "100 B");
  EXPECT_EQ(SizeText(4096), "4 KiB");
  EXPECT_EQ(SizeText(1536), "1.5 KiB");
  EXPECT_EQ(SizeText(64 << 20), "64 MiB");
}

}  // namespace
}  // namespace shoal
