#include "models/layers/sigmoid_cross_entropy.h"

#include <gtest/gtest.h>

#include "models/backend/create_backend.h"
#include "tests/models/sample_batch.h"

namespace shoal {
namespace {

class SigmoidCrossEntropyTest : public ::testing::TestWithParam<const char*> {
 protected:
  SigmoidCrossEntropyTest()
      : backend_(*CreateBackend(GetParam())), loss_(backend_.get()) {}

  std::unique_ptr<Backend> backend_;
  SigmoidCrossEntropy loss_;
};

TEST_P(SigmoidCrossEntropyTest, IsTheDefinitionAndItsNumericGradient) {
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

TEST_P(SigmoidCrossEntropyTest, StaysFiniteFarOut) {
  const std::vector<float> logits = {1000, -1000, 1000, -1000};
  const std::vector<uint8_t> labels = {1, 1, 0, 0};
  EXPECT_DOUBLE_EQ(loss_.Forward(logits, labels), 2000);
  const auto d = loss_.Backward(logits, labels, /*batch_size=*/4);
  EXPECT_EQ(d[0], 0);
  EXPECT_EQ(d[1], -0.25f);
  EXPECT_EQ(d[2], 0.25f);
  EXPECT_EQ(d[3], 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, SigmoidCrossEntropyTest,
                         ::testing::Values("reference", "onednn"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace shoal
