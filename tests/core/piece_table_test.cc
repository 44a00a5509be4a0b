#include "core/piece_table.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PieceTableTest, ACompressedFileIsNeverCut) {
  const std::vector<Piece> pieces =
      BuildPieceTable({{"a", 1000}, {"b", 1000, 0, true}, {"c", 1000}}, 250)
          .value();
  ASSERT_EQ(pieces.size(), 9u);
  EXPECT_EQ(pieces[4].source, 1u);
  EXPECT_EQ(pieces[4].begin, 0u);
  EXPECT_EQ(pieces[4].end, 1000u);
}

TEST(PieceTableTest, DefaultSizeIsAThirtySecondWithinBounds) {
  EXPECT_EQ(DefaultPieceBytes(0), 64u << 10);
  EXPECT_EQ(DefaultPieceBytes(2991089), 93471u);
  EXPECT_EQ(DefaultPieceBytes(uint64_t{1} << 40), 64u << 20);
}

TEST(PieceTableTest, LargeBatchesMakeLargePieces) {
  const uint64_t total = 40'000'000;
  const uint64_t usual = DefaultPieceBytes(total);
  EXPECT_EQ(PieceBytesForBatches(total, 1024, 0), usual) << "not known";
  EXPECT_EQ(PieceBytesForBatches(total, 1000, usual / 1000), usual);
  EXPECT_EQ(PieceBytesForBatches(total, 1000, usual / 1000 + 1),
            16 * 1000 * (usual / 1000 + 1));
  // Any number that a worker can send.
  EXPECT_EQ(PieceBytesForBatches(total, 1 << 20, 0xffffffff),
            uint64_t{16} * (1 << 20) * 0xffffffff);
}

TEST(PieceTableTest, PiecesCoverEveryByteOnceInOrder) {
  const std::vector<SourceInfo> sources = {
      {"a", 1}, {"b", 1000003}, {"c", 0}, {"d", 65536}, {"e", 65537}};
  for (const uint64_t piece_bytes : {1u, 1000u, 65536u, 5000000u}) {
    const std::vector<Piece> pieces =
        BuildPieceTable(sources, piece_bytes).value();
    std::vector<uint64_t> covered(sources.size(), 0);
    uint32_t source = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      ASSERT_EQ(pieces[i].index, i);
      ASSERT_GE(pieces[i].source, source);
      source = pieces[i].source;
      ASSERT_EQ(pieces[i].begin, covered[source]);
      ASSERT_GT(pieces[i].end, pieces[i].begin);
      ASSERT_LE(pieces[i].end - pieces[i].begin, piece_bytes);
      covered[source] = pieces[i].end;
    }
    for (size_t s = 0; s < sources.size(); ++s) {
      EXPECT_EQ(covered[s], sources[s].size);
    }
  }
}

TEST(PieceTableTest, ZeroKeepsFilesWholeAndEmptyFilesHaveNoPiece) {
  const std::vector<Piece> pieces =
      BuildPieceTable({{"a", 0}, {"b", uint64_t{1} << 40}, {"c", 3}}, 0)
          .value();
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].source, 1u);
  EXPECT_EQ(pieces[0].end, uint64_t{1} << 40);
  EXPECT_EQ(pieces[1].source, 2u);
  EXPECT_EQ(pieces[1].index, 1u);
  EXPECT_THAT(BuildPieceTable({}).value(), IsEmpty());
}

TEST(PieceTableTest, PiecesOfAFileAreOfOneSize) {
  const std::vector<Piece> pieces = BuildPieceTable({{"a", 2991089}}).value();
  ASSERT_EQ(pieces.size(), 33u) << "93,471 bytes at most, the last not tiny";
  for (const Piece& piece : pieces) {
    EXPECT_NEAR(piece.end - piece.begin, 2991089 / 33, 1);
  }
}

TEST(PieceTableTest, RefusesTooManyPieces) {
  const auto pieces = BuildPieceTable({{"a", uint64_t{1} << 40}}, 1);
  ASSERT_EQ(pieces.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(pieces.status().message()),
              HasSubstr("--piece_bytes"));
}

TEST(PieceTableTest, RefusesSizesThatOverflow) {
  const uint64_t huge = std::numeric_limits<uint64_t>::max();
  EXPECT_FALSE(BuildPieceTable({{"a", huge}, {"b", 1}}).ok());
  EXPECT_FALSE(BuildPieceTable({{"a", huge}}).ok());
  EXPECT_EQ(BuildPieceTable({{"a", huge}}, 0).value().size(), 1u);
}

}  // namespace
}  // namespace shoal
