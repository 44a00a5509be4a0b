#include "models/factorization_machine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "models/backend/create_backend.h"
#include "models/create_model.h"
#include "tests/models/sample_batch.h"

namespace shoal {
namespace {

constexpr int kBatch = 9;
constexpr int kFields = 4;
constexpr int kRows = 6;

ModelOptions Options(const std::string& model) {
  ModelOptions options;
  options.model = model;
  options.feature_size = 50;
  options.field_size = kFields;
  options.embedding_size = 3;
  return options;
}

// The loss in double, divided by the sample's divisor; the second order as a
// sum over pairs. dim: K.
double Loss(const SampleBatch& sample, int dim, const std::vector<double>& rows,
            double bias) {
  double loss = 0;
  for (int b = 0; b < kBatch; ++b) {
    double z = bias;
    for (int j = b * kFields; j < (b + 1) * kFields; ++j) {
      if (sample.row_index[j] < 0) continue;
      const double* row = &rows[sample.row_index[j] * (1 + dim)];
      z += row[0] * double{sample.values[j]};
      for (int i = b * kFields; i < j; ++i) {
        if (sample.row_index[i] < 0) continue;
        const double* other = &rows[sample.row_index[i] * (1 + dim)];
        for (int k = 1; k <= dim; ++k) {
          z += row[k] * other[k] * double{sample.values[i]} *
               double{sample.values[j]};
        }
      }
    }
    loss += CrossEntropy(z, sample.labels[b]);
  }
  return loss / sample.input().loss_divisor;
}

class FactorizationMachineTest
    : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    backend_ = *CreateBackend(std::get<0>(GetParam()));
    model_ = *CreateModel(Options(std::get<1>(GetParam())), backend_.get());
    dim_ = model_->spec().tables[0].row_dim() - 1;
  }

  void ExpectGradientIsNumeric(double divisor) {
    SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 21);
    sample.loss_divisor = divisor;
    const double loss_sum = sample.ForwardBackward(model_.get());
    const std::vector<double> rows = ToDouble(sample.rows);
    const std::vector<double> bias = ToDouble(sample.dense);
    EXPECT_NEAR(loss_sum, divisor * Loss(sample, dim_, rows, bias[0]),
                kBatch * 1e-6);
    const auto of_rows = [&](const std::vector<double>& at) {
      return Loss(sample, dim_, at, bias[0]);
    };
    const auto of_bias = [&](const std::vector<double>& at) {
      return Loss(sample, dim_, rows, at[0]);
    };
    EXPECT_LT(RelativeError(sample.d_rows, NumericGradient(of_rows, rows)),
              1e-6);
    EXPECT_LT(RelativeError(sample.d_dense, NumericGradient(of_bias, bias)),
              1e-6);
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Model> model_;
  int dim_ = 0;
};

TEST_P(FactorizationMachineTest, GradientIsTheNumericOneOfTheMeanLoss) {
  ExpectGradientIsNumeric(kBatch);
}

TEST_P(FactorizationMachineTest, GradientIsTheNumericOneForAnyDivisor) {
  for (const double divisor : {1.0, 0.3, 1000.0}) {
    ExpectGradientIsNumeric(divisor);
  }
}

TEST_P(FactorizationMachineTest, PredictSeesTheLogitsOfTraining) {
  SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 22);
  sample.ForwardBackward(model_.get());
  std::vector<float> logits(kBatch);
  model_->Predict(sample.input(), absl::MakeSpan(logits));
  EXPECT_EQ(logits, sample.logits);
}

INSTANTIATE_TEST_SUITE_P(Backends, FactorizationMachineTest,
                         ::testing::Combine(::testing::Values("reference",
                                                              "onednn"),
                                            ::testing::Values("fm", "lr")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param);
                         });

TEST(LogisticRegressionSpecTest, HasOneWeightARowAndABias) {
  const ModelSpec spec = LogisticRegressionSpec(Options("lr"));
  EXPECT_EQ(spec.tables[0].name, "lr");
  EXPECT_EQ(spec.tables[0].columns[0].variable, "lr_w");
  EXPECT_EQ(spec.tables[0].row_dim(), 1);
  EXPECT_EQ(spec.dense[0].name, "lr_b");
  EXPECT_EQ(spec.dense_size(), 1);
}

TEST(FactorizationMachineSpecTest, HasTheTableOfDeepFmAndABias) {
  const ModelSpec fm = *MakeModelSpec(Options("fm"));
  const ModelSpec deepfm = *MakeModelSpec(Options("deepfm"));
  ASSERT_EQ(fm.tables[0].columns.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const ColumnSpec& column = fm.tables[0].columns[i];
    const ColumnSpec& deep = deepfm.tables[0].columns[i];
    EXPECT_EQ(column.variable, deep.variable);
    EXPECT_EQ(column.dim, deep.dim);
    EXPECT_EQ(column.initializer.scale, deep.initializer.scale);
  }
  EXPECT_EQ(fm.dense.size(), 1u);
  EXPECT_EQ(fm.dense[0].name, "fm_b");
}

}  // namespace
}  // namespace shoal
