#include "cluster/piece_facts.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PieceFacts TwoPieces() {
  return PieceFacts("training", {{"day_0", 100, 0}},
                    {{0, 0, 0, 60}, {1, 0, 60, 100}}, /*batch_size=*/10);
}

PieceReport Report(uint32_t piece, uint64_t examples, uint32_t batches,
                   uint64_t bad_rows = 0, std::string error = "") {
  return {LeasePurpose::kTrain, 0, piece, examples, bad_rows, batches, error};
}

TEST(PieceFactsTest, TheFirstReportMakesAPieceKnown) {
  PieceFacts facts = TwoPieces();
  EXPECT_EQ(facts.bytes(), 100u);
  EXPECT_FALSE(facts.known(1));
  const auto first = facts.Add(Report(1, 25, 3));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(*first);
  EXPECT_TRUE(facts.known(1));
  EXPECT_FALSE(facts.all_known());
  EXPECT_EQ(facts.examples(), 25u);
  ASSERT_TRUE(facts.Add(Report(0, 0, 0)).ok());
  EXPECT_TRUE(facts.all_known());
}

TEST(PieceFactsTest, CountsShortBatches) {
  PieceFacts facts = TwoPieces();
  ASSERT_TRUE(facts.Add(Report(0, 20, 2)).ok());
  EXPECT_EQ(facts.report().short_batches, 0u) << "20 rows are two whole ones";
  EXPECT_FALSE(facts.report().all_read);
  EXPECT_EQ(facts.report().read_bytes, 60u);
  ASSERT_TRUE(facts.Restore(1, {25, 0, 3, std::nullopt}).ok());
  const DataReport report = facts.report();
  EXPECT_EQ(report.files, 1u);
  EXPECT_EQ(report.bytes, 100u);
  EXPECT_TRUE(report.all_read);
  EXPECT_EQ(report.read_bytes, 100u);
  EXPECT_EQ(report.rows, 45u);
  EXPECT_EQ(report.batches, 5u);
  EXPECT_EQ(report.short_batches, 1u);
  EXPECT_EQ(report.batch_size, 10u);
}

TEST(PieceFactsTest, ARepeatedReportChangesNothing) {
  PieceFacts facts = TwoPieces();
  ASSERT_TRUE(facts.Add(Report(1, 25, 3, 2, "line 7")).ok());
  const auto again = facts.Add(Report(1, 25, 3, 2, "line 7"));
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(*again);
  EXPECT_EQ(facts.examples(), 25u);
  EXPECT_EQ(facts.bad_rows(), 2u);
}

TEST(PieceFactsTest, ADifferentReportMeansThatTheFileChanged) {
  PieceFacts facts = TwoPieces();
  ASSERT_TRUE(facts.Add(Report(1, 25, 3)).ok());
  const absl::Status status = facts.Add(Report(1, 26, 3)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("day_0, bytes 60"));
  EXPECT_EQ(facts.Add(Report(1, 25, 3, 1)).status().code(),
            absl::StatusCode::kDataLoss)
      << "as many examples, but one more bad row";
}

TEST(PieceFactsTest, OtherBytesMeanThatTheFileChanged) {
  PieceFacts facts = TwoPieces();
  PieceReport report = Report(1, 25, 3);
  report.crc32c = 0x1234;
  ASSERT_TRUE(facts.Add(report).ok());
  EXPECT_EQ(facts.facts(1).crc32c, 0x1234u);
  ASSERT_TRUE(facts.Add(report).ok());
  report.crc32c = 0x1235;
  const absl::Status status = facts.Add(report).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("day_0, bytes 60"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("00001235 now"));
}

TEST(PieceFactsTest, ReportsAreComparedWithTheCheckpoint) {
  PieceFacts facts = TwoPieces();
  ASSERT_TRUE(facts.Restore(0, {30, 1, 3, 7}).ok());
  ASSERT_TRUE(facts.Restore(1, {20, 0, 2, std::nullopt}).ok());
  EXPECT_EQ(facts.examples(), 50u);
  EXPECT_EQ(facts.bad_rows(), 1u);
  EXPECT_THAT(facts.named_bad_rows(), ElementsAre(HasSubstr("day_0")));
  PieceReport report = Report(0, 30, 3, 1);
  report.crc32c = 8;
  EXPECT_EQ(facts.Add(report).status().code(), absl::StatusCode::kDataLoss);
  report.crc32c = 7;
  const auto known = facts.Add(report);
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_FALSE(*known);
  // A checkpoint of an older release has no CRCs: the first reading tells.
  report = Report(1, 20, 2);
  report.crc32c = 9;
  EXPECT_TRUE(facts.Add(report).ok());
  report.crc32c = 10;
  EXPECT_EQ(facts.Add(report).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(TwoPieces().Restore(0, {30, 0, 4, 7}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(PieceFactsTest, RefusesWhatCannotBe) {
  PieceFacts facts = TwoPieces();
  for (const PieceReport& report :
       {Report(2, 1, 1), Report(0, 25, 2), Report(0, 30, 4), Report(0, 0, 1),
        Report(0, UINT64_MAX, 3)}) {
    EXPECT_EQ(facts.Add(report).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(facts.known(0));
}

TEST(PieceFactsTest, KeepsTheFirstBadRowThatItHeardOf) {
  PieceFacts facts = TwoPieces();
  EXPECT_TRUE(facts.named_bad_rows().empty());
  ASSERT_TRUE(facts.Add(Report(1, 5, 1, 1, "day_0:9: not a number")).ok());
  ASSERT_TRUE(facts.Add(Report(0, 5, 1, 9, "a:1: x\na:2: x\na:3: x\na:4: x\n"
                                           "a:5: x"))
                  .ok());
  EXPECT_THAT(facts.named_bad_rows(),
              ElementsAre("day_0:9: not a number", "a:1: x", "a:2: x", "a:3: x",
                          "a:4: x"))
      << "kNamedBadRows";
  EXPECT_EQ(facts.bad_rows(), 10u);
}

}  // namespace
}  // namespace shoal
