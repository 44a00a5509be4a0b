// What every model makes of ModelInput::loss_divisor. The finite differences of
// another divisor are in the models' own tests.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "tests/models/model_cases.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

class LossDivisorTest : public ::testing::TestWithParam<ModelCase> {
 protected:
  LossDivisorTest()
      : backend_(GetParam().backend->create()),
        model_(GetParam().Create(backend_.get())) {}

  bool divides() const { return GetParam().kind->name != "linear_probe"; }

  struct Result {
    SampleBatch batch;
    double loss_sum;
  };

  // The same batch after a step with this divisor.
  Result Step(int batch_size, double divisor) {
    SampleBatch batch = SampleFor(*model_, batch_size, 41);
    batch.loss_divisor = divisor;
    const double loss_sum = batch.ForwardBackward(model_.get());
    return {std::move(batch), loss_sum};
  }

  const std::unique_ptr<Backend> backend_;
  const std::unique_ptr<Model> model_;
};

std::vector<float> Divided(std::vector<float> values, float divisor) {
  for (float& value : values) value /= divisor;
  return values;
}

// A factor that is a power of two changes no digit, so the order of all other
// operations would show.
TEST_P(LossDivisorTest, TheMeanIsTheSumDividedBitForBitIfBIsAPowerOfTwo) {
  for (const int batch_size : {1, 64, 1024}) {
    const Result sum = Step(batch_size, 1);
    const Result mean = Step(batch_size, batch_size);
    const float divisor = divides() ? batch_size : 1;
    EXPECT_EQ(mean.batch.d_rows, Divided(sum.batch.d_rows, divisor));
    EXPECT_EQ(mean.batch.d_dense, Divided(sum.batch.d_dense, divisor));
    EXPECT_EQ(mean.batch.logits, sum.batch.logits);
    EXPECT_EQ(mean.loss_sum, sum.loss_sum);
  }
}

TEST_P(LossDivisorTest, TheMeanIsTheSumDividedWithinRoundingForAnyB) {
  for (const int batch_size : {7, 100, 777}) {
    const SampleBatch sum = Step(batch_size, 1).batch;
    const SampleBatch mean = Step(batch_size, batch_size).batch;
    const double divisor = divides() ? batch_size : 1;
    const auto divided = [&](const std::vector<float>& values) {
      std::vector<double> quotients = ToDouble(values);
      for (double& value : quotients) value /= divisor;
      return quotients;
    };
    EXPECT_LT(RelativeError(mean.d_rows, divided(sum.d_rows)), 2e-6);
    EXPECT_LT(RelativeError(mean.d_dense, divided(sum.d_dense)), 2e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LossDivisorTest,
                         ::testing::ValuesIn(ModelCases()),
                         [](const auto& info) { return info.param.Name(); });

}  // namespace
}  // namespace shoal
