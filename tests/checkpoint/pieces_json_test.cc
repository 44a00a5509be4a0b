#include "checkpoint/pieces_json.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(PiecesJsonTest, PiecesAreReadAsTheyAreWritten) {
  EXPECT_THAT(
      ReadPieces("[[0, 0, 72], [4294967295, 72, 18446744073709551615, 5, 1, "
                 "4294967295]]"),
      Optional(ElementsAre(SavedPiece{0, 0, 72, {}},
                           SavedPiece{UINT32_MAX, 72, UINT64_MAX,
                                      SavedPieceFacts{5, 1, UINT32_MAX, {}}})));
}

TEST(PiecesJsonTest, WhatIsLaidOutOtherwiseIsLeftToTheGeneralReader) {
  for (const char* text : {"",
                           "[",
                           "[]",
                           "[[]]",
                           "[[1, 2]]",
                           "[[1, 2, 3, 4]]",
                           "[[1, 2, 3, 4, 5, 6, 7]]",
                           "[[1,2,3]]",
                           "[[1, 2, 3],[1, 2, 3]]",
                           "[[1, 2, 3], ]",
                           "[[1, 2, 3]",
                           "[[1, 2, 3]] ",
                           "[[1, 2, -3]]",
                           "[[1, 2, 3.0]]",
                           "[[1, 2, 03]]",
                           "[[1, 2, ]]",
                           "[[1, 2, x]]",
                           "[[4294967296, 2, 3]]",
                           "[[1, 2, 3, 4, 5, 4294967296]]",
                           "[[1, 2, 18446744073709551616]]",
                           "[[1, 2, 99999999999999999999]]"}) {
    EXPECT_EQ(ReadPieces(text), std::nullopt) << text;
  }
}

TEST(PiecesJsonTest, TheyAreFoundOnceOrNotAtAll) {
  EXPECT_EQ(FindPieces("{\"pieces\": [[1, 2, 3], [4]], \"x\": [[1]]}"),
            "[[1, 2, 3], [4]]");
  EXPECT_EQ(FindPieces("{\"pieces\": []}"), std::nullopt);
  EXPECT_EQ(FindPieces("{\"pieces\": [[1, 2, 3], "), std::nullopt);
  EXPECT_EQ(FindPieces("{\"pieces\": [[1]], \"pieces\": [[1]]}"), std::nullopt);
}

}  // namespace
}  // namespace shoal
