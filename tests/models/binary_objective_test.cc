#include "models/binary_objective.h"

#include <gtest/gtest.h>

#include "models/backend/create_backend.h"
#include "models/layers/loss.h"
#include "tests/models/sample_batch.h"

namespace shoal {
namespace {

class BinaryObjectiveTest : public ::testing::TestWithParam<const char*> {
 protected:
  BinaryObjectiveTest()
      : backend_(*CreateBackend(GetParam())),
        loss_(&kBinaryObjective, backend_.get()) {}

  std::unique_ptr<Backend> backend_;
  LossLayer loss_;
};

TEST_P(BinaryObjectiveTest, IsTheDefinitionAndItsNumericGradient) {
  const auto logits = RandomVector(51, 33, 4);
  std::vector<uint8_t> labels;
  for (int i = 0; i < 33; ++i) labels.push_back(i % 3 == 0);
  auto mean = [&](const std::vector<double>& z) {
    double sum = 0;
    for (size_t i = 0; i < z.size(); ++i) sum += CrossEntropy(z[i], labels[i]);
    return sum / static_cast<double>(z.size());
  };
  EXPECT_NEAR(loss_.Forward(logits, labels) / 33, mean(ToDouble(logits)),
              1e-12);
  EXPECT_LT(RelativeError(loss_.Backward(logits, labels, 33),
                          NumericGradient(mean, ToDouble(logits))),
            1e-6);
}

TEST_P(BinaryObjectiveTest, TheLossOfTrainingIsTheLoglossOfItsMetrics) {
  const auto logits = RandomVector(7, 100, 9);
  std::vector<uint8_t> labels;
  for (int i = 0; i < 100; ++i) labels.push_back(i % 4 == 1);
  ScoreSums sums;
  kBinaryObjective.metrics().Sum(logits, labels, &sums);
  EXPECT_NEAR(kBinaryObjective.Loss(logits, labels, backend_.get()), sums.loss,
              1e-9 * sums.loss);
}

TEST_P(BinaryObjectiveTest, StaysFiniteFarOut) {
  const std::vector<float> logits = {1000, -1000, 1000, -1000};
  const std::vector<uint8_t> labels = {1, 1, 0, 0};
  EXPECT_DOUBLE_EQ(loss_.Forward(logits, labels), 2000);
  const auto d = loss_.Backward(logits, labels, /*divisor=*/4);
  EXPECT_EQ(d[0], 0);
  EXPECT_EQ(d[1], -0.25f);
  EXPECT_EQ(d[2], 0.25f);
  EXPECT_EQ(d[3], 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, BinaryObjectiveTest,
                         ::testing::Values("reference", "onednn"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace shoal
