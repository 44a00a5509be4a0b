#include "models/logistic_regression.h"

#include <gtest/gtest.h>

#include "models/backend/create_backend.h"
#include "models/create_model.h"
#include "tests/models/sample_batch.h"

namespace shoal {
namespace {

constexpr int kBatch = 9;
constexpr int kFields = 4;
constexpr int kRows = 6;

double LogisticLoss(const SampleBatch& sample, const std::vector<double>& rows,
                    double bias) {
  double loss = 0;
  for (int b = 0; b < kBatch; ++b) {
    double z = bias;
    for (int j = b * kFields; j < (b + 1) * kFields; ++j) {
      if (sample.row_index[j] < 0) continue;
      z += rows[sample.row_index[j]] * double{sample.values[j]};
    }
    loss += CrossEntropy(z, sample.labels[b]);
  }
  return loss / kBatch;
}

class LogisticRegressionTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ModelOptions options;
    options.model = "lr";
    options.feature_size = 50;
    options.field_size = kFields;
    backend_ = *CreateBackend(GetParam());
    model_ = *CreateModel(options, backend_.get());
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Model> model_;
};

TEST_P(LogisticRegressionTest, GradientIsTheNumericOneOfTheMeanLoss) {
  SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 21);
  const double loss = sample.ForwardBackward(model_.get()) / kBatch;
  const std::vector<double> rows = ToDouble(sample.rows);
  const std::vector<double> bias = ToDouble(sample.dense);
  EXPECT_NEAR(loss, LogisticLoss(sample, rows, bias[0]), 1e-6);
  EXPECT_LT(RelativeError(sample.d_rows,
                          NumericGradient(
                              [&](const std::vector<double>& at) {
                                return LogisticLoss(sample, at, bias[0]);
                              },
                              rows)),
            1e-6);
  EXPECT_LT(RelativeError(sample.d_dense,
                          NumericGradient(
                              [&](const std::vector<double>& at) {
                                return LogisticLoss(sample, rows, at[0]);
                              },
                              bias)),
            1e-6);
}

TEST_P(LogisticRegressionTest, PredictSeesTheLogitsOfTraining) {
  SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 22);
  sample.ForwardBackward(model_.get());
  std::vector<float> logits(kBatch);
  model_->Predict(sample.input(), absl::MakeSpan(logits));
  EXPECT_EQ(logits, sample.logits);
}

INSTANTIATE_TEST_SUITE_P(Backends, LogisticRegressionTest,
                         ::testing::Values("reference", "onednn"),
                         [](const auto& info) { return info.param; });

TEST(LogisticRegressionSpecTest, HasOneWeightARowAndABias) {
  ModelOptions options;
  options.model = "lr";
  options.feature_size = 50;
  options.field_size = kFields;
  const ModelSpec spec = LogisticRegressionSpec(options);
  EXPECT_EQ(spec.tables[0].name, "lr");
  EXPECT_EQ(spec.tables[0].columns[0].variable, "lr_w");
  EXPECT_EQ(spec.tables[0].row_dim(), 1);
  EXPECT_EQ(spec.dense[0].name, "lr_b");
  EXPECT_EQ(spec.dense_size(), 1);
}

}  // namespace
}  // namespace shoal
