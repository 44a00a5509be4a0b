#include "worker/train/rank_part.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<int> kDims = {2, 1};
const std::vector<FeatureId> kIds = {7, 1ull << 40};
const std::vector<float> kRows = {1, -2, 0.5f, 3};
const std::vector<FeatureId> kWideId = {9};
const std::vector<float> kWideRow = {-1};

RankPart Part() {
  RankPart part;
  part.batch = {.id = {1, 2, 3}, .lease = 4, .examples = 5};
  part.hold = 6;
  part.tables = {{kIds, kRows}, {kWideId, kWideRow}};
  return part;
}

RankPart WithoutRows(bool batch) {
  RankPart part = Part();
  if (!batch) part.batch.reset();
  part.tables = {{}, {}};
  return part;
}

// The bytes of a part, which may be changed.
class Bytes {
 public:
  explicit Bytes(const RankPart& part) { EncodeRankPart(part, kDims, &out_); }
  explicit Bytes(const std::string& text) {
    out_.ResizeDiscard(text.size());
    std::copy(text.begin(), text.end(), out_.data());
  }
  std::string text() const { return {out_.data(), out_.size()}; }
  void Put(size_t at, uint32_t value) {
    std::memcpy(out_.data() + at, &value, sizeof(value));
  }
  absl::StatusOr<RankPart> Decode() const {
    return DecodeRankPart(out_.span(), kDims);
  }

 private:
  AlignedBuffer<char> out_;
};

// Offsets, as docs/wire_protocol.md has them.
constexpr size_t kVersion = 4;
constexpr size_t kFlags = 8;
constexpr size_t kTables = 12;
constexpr size_t kExamples = 44;
constexpr size_t kRowsOfTable = 48;
constexpr size_t kDimOfTable = 52;

// The example of docs/wire_protocol.md.
TEST(RankPartTest, ByteByByte) {
  EXPECT_EQ(absl::BytesToHexString(Bytes(Part()).text()),
            "5348525001000000010000000200000006000000000000000400000000000000"
            "01000000020000000300000005000000"
            "02000000020000000100000001000000"
            "070000000000000000000000000100000900000000000000"
            "0000803f000000c00000003f00004040000080bf");
}

TEST(RankPartTest, ComesBackAndRefersToTheBytes) {
  const Bytes bytes(Part());
  const auto part = bytes.Decode();
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(part->batch, Part().batch);
  EXPECT_TRUE(part->ready());
  EXPECT_FALSE(part->lane_ended);
  EXPECT_FALSE(part->tainted);
  EXPECT_EQ(part->hold, 6u);
  ASSERT_EQ(part->tables.size(), 2u);
  EXPECT_THAT(part->tables[0].ids, ElementsAre(7, 1ull << 40));
  EXPECT_THAT(part->tables[0].rows, ElementsAre(1, -2, 0.5f, 3));
  EXPECT_THAT(part->tables[1].ids, ElementsAre(9));
  EXPECT_THAT(part->tables[1].rows, ElementsAre(-1));
}

TEST(RankPartTest, ARankWithoutABatchSaysWhetherItsLaneHasEnded) {
  RankPart part = WithoutRows(/*batch=*/false);
  auto back = Bytes(part).Decode();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_FALSE(back->batch.has_value());
  EXPECT_FALSE(back->ready());
  part.lane_ended = true;
  back = Bytes(part).Decode();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(back->lane_ended);
  EXPECT_TRUE(back->ready());
  EXPECT_THAT(back->tables[0].ids, IsEmpty());
}

TEST(RankPartTest, ARejectedBatchHasNoRowsAndMayBeTainted) {
  RankPart part = WithoutRows(/*batch=*/true);
  part.batch->rejected = true;
  part.tainted = true;
  const auto back = Bytes(part).Decode();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->batch, part.batch);
  EXPECT_TRUE(back->tainted);
  part.tables = Part().tables;
  Bytes with_rows(Part());
  with_rows.Put(kFlags, 3);
  EXPECT_THAT(with_rows.Decode().status().message(), HasSubstr("no batch"));
}

TEST(RankPartTest, NoLengthButItsOwnIsRead) {
  const std::string text = Bytes(Part()).text();
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_TRUE(
        absl::IsDataLoss(Bytes(text.substr(0, length)).Decode().status()))
        << length;
  }
  EXPECT_TRUE(absl::IsDataLoss(Bytes(text + "x").Decode().status()));
}

// Lengths of which the product with the size of a row would overflow.
TEST(RankPartTest, AHugeNumberOfRowsIsRefused) {
  for (const uint32_t rows : {3u, 0x20000000u, 0x80000000u, 0xffffffffu}) {
    Bytes bytes(Part());
    bytes.Put(kRowsOfTable, rows);
    EXPECT_TRUE(absl::IsDataLoss(bytes.Decode().status())) << rows;
  }
}

TEST(RankPartTest, OtherTablesAndVersionsAreNamed) {
  Bytes version(Part());
  version.Put(kVersion, 2);
  EXPECT_TRUE(absl::IsFailedPrecondition(version.Decode().status()));
  EXPECT_THAT(version.Decode().status().message(), HasSubstr("version 2"));
  Bytes tables(Part());
  tables.Put(kTables, 3);
  EXPECT_TRUE(absl::IsFailedPrecondition(tables.Decode().status()));
  Bytes dim(Part());
  dim.Put(kDimOfTable, 3);
  EXPECT_TRUE(absl::IsFailedPrecondition(dim.Decode().status()));
  EXPECT_THAT(dim.Decode().status().message(), HasSubstr("table 0 have 3"));
}

TEST(RankPartTest, FlagsThatContradictEachOtherAreRefused) {
  Bytes magic(Part());
  magic.Put(0, 1);
  EXPECT_TRUE(absl::IsDataLoss(magic.Decode().status()));
  // Unknown; rejected without a batch; tainted and not rejected; rows and no
  // batch.
  for (const uint32_t flags : {16u, 2u, 5u, 0u, 8u}) {
    Bytes bytes(Part());
    bytes.Put(kFlags, flags);
    EXPECT_TRUE(absl::IsDataLoss(bytes.Decode().status())) << flags;
  }
  Bytes examples(Part());
  examples.Put(kExamples, 0);
  EXPECT_TRUE(absl::IsDataLoss(examples.Decode().status()));
}

}  // namespace
}  // namespace shoal
