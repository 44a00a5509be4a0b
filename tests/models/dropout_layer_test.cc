#include "models/layers/dropout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "models/backend/reference_backend.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

constexpr BatchId kBatchId{.epoch = 1, .piece = 2, .index = 3};

std::vector<uint8_t> Mask(uint64_t seed, const BatchId& batch, int layer,
                          int first_position, int examples, int units,
                          float keep = 0.5f) {
  std::vector<uint8_t> mask(examples * units, 9);
  DropoutMask(seed, batch, layer, keep, first_position, units,
              absl::MakeSpan(mask));
  return mask;
}

TEST(DropoutMaskTest, HasTheBitsThatItHadInEveryVersion) {
  EXPECT_THAT(Mask(1, kBatchId, 0, 0, 2, 10),
              ::testing::ElementsAre(1, 1, 0, 0, 0, 0, 1, 0, 1, 1,  //
                                     0, 0, 0, 0, 1, 0, 0, 1, 1, 0));
}

TEST(DropoutMaskTest, PartOfABatchHasTheRowsOfTheWhole) {
  const int units = 13;
  const auto whole = Mask(7, kBatchId, 2, 0, 10, units);
  const auto part = Mask(7, kBatchId, 2, 4, 3, units);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 4 * units));
}

TEST(DropoutMaskTest, EveryPartOfItsNameChangesIt) {
  const auto mask = Mask(7, kBatchId, 2, 0, 4, 32);
  EXPECT_NE(mask, Mask(8, kBatchId, 2, 0, 4, 32));
  EXPECT_NE(mask, Mask(7, {2, 2, 3}, 2, 0, 4, 32));
  EXPECT_NE(mask, Mask(7, {1, 3, 3}, 2, 0, 4, 32));
  EXPECT_NE(mask, Mask(7, {1, 2, 4}, 2, 0, 4, 32));
  EXPECT_NE(mask, Mask(7, kBatchId, 3, 0, 4, 32));
  EXPECT_NE(mask, Mask(7, kBatchId, 2, 1, 4, 32));
}

TEST(DropoutMaskTest, KeepsTheShareThatItIsTold) {
  for (const float keep : {0.1f, 0.5f, 0.9f}) {
    const auto mask = Mask(3, kBatchId, 0, 0, 1000, 101, keep);
    const double share =
        std::accumulate(mask.begin(), mask.end(), 0.0) / mask.size();
    EXPECT_NEAR(share, keep, 0.006);  // four deviations
  }
}

TEST(DropoutLayerTest, BothPassesZeroDroppedUnitsAndScaleKeptOnes) {
  ReferenceBackend backend;
  DropoutLayer layer(/*seed=*/5, /*layer=*/1, /*keep=*/0.25f, &backend);
  const auto x = RandomVector(1, 6 * 11);
  auto y = x;
  layer.Forward(kBatchId, /*first_position=*/0, 11, absl::MakeSpan(y));
  auto d = x;
  layer.Backward(absl::MakeSpan(d));
  const auto mask = Mask(5, kBatchId, 1, 0, 6, 11, 0.25f);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(y[i], mask[i] ? 4 * x[i] : 0);
    EXPECT_EQ(d[i], mask[i] ? 4 * x[i] : 0);
  }
}

TEST(DropoutLayerTest, KeepOneChangesNothing) {
  ReferenceBackend backend;
  DropoutLayer layer(5, 1, 1.0f, &backend);
  const auto x = RandomVector(1, 30);
  auto y = x;
  layer.Forward(kBatchId, /*first_position=*/0, 10, absl::MakeSpan(y));
  layer.Backward(absl::MakeSpan(y));
  EXPECT_EQ(y, x);
}

}  // namespace
}  // namespace shoal
