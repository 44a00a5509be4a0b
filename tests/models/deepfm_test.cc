#include "models/deepfm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "models/backend/create_backend.h"
#include "models/create_model.h"
#include "models/layers/dropout.h"
#include "tests/models/sample_batch.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

constexpr int kBatch = 7;
constexpr int kFields = 5;
constexpr int kDim = 3;
constexpr int kRows = 9;

ModelOptions SmallOptions() {
  return {.model = "deepfm",
          .feature_size = 100,
          .field_size = kFields,
          .embedding_size = kDim,
          .deep_layers = {6, 4}};
}

// The formula of DeepFM, once more and in double: the loss of the batch over
// the sample's divisor.
double DeepFmLoss(const ModelOptions& options, const SampleBatch& sample,
                  const std::vector<double>& rows,
                  const std::vector<double>& dense, bool dropout,
                  std::vector<double>* logits = nullptr) {
  double loss = 0;
  if (logits != nullptr) logits->clear();
  for (int b = 0; b < kBatch; ++b) {
    double z = dense.back();
    std::vector<double> x(kFields * kDim, 0.0);
    for (int j = 0; j < kFields; ++j) {
      const int row = sample.row_index[b * kFields + j];
      if (row < 0) continue;
      const double value = sample.values[b * kFields + j];
      z += rows[row * (1 + kDim)] * value;
      for (int k = 0; k < kDim; ++k) {
        x[j * kDim + k] = rows[row * (1 + kDim) + 1 + k] * value;
      }
    }
    for (int k = 0; k < kDim; ++k) {
      double sum = 0;
      double squares = 0;
      for (int j = 0; j < kFields; ++j) {
        sum += x[j * kDim + k];
        squares += x[j * kDim + k] * x[j * kDim + k];
      }
      z += 0.5 * (sum * sum - squares);
    }
    size_t at = 0;
    std::vector<int> layers = options.deep_layers;
    layers.push_back(1);
    for (size_t l = 0; l < layers.size(); ++l) {
      const int units = layers[l];
      const bool last = l + 1 == layers.size();
      std::vector<double> y(units);
      for (int u = 0; u < units; ++u) {
        y[u] = dense[at + x.size() * units + u];
        for (size_t i = 0; i < x.size(); ++i) {
          y[u] += x[i] * dense[at + i * units + u];
        }
        if (!last) y[u] = std::max(y[u], 0.0);
      }
      if (!last && dropout) {
        const float keep = options.dropout_keep[l];
        std::vector<uint8_t> mask(units);
        DropoutMask(options.seed, sample.batch, static_cast<int>(l), keep, b,
                    units, absl::MakeSpan(mask));
        for (int u = 0; u < units; ++u) y[u] *= mask[u] / double{keep};
      }
      at += (x.size() + 1) * units;
      x = y;
    }
    z += x[0];
    if (logits != nullptr) logits->push_back(z);
    loss += CrossEntropy(z, sample.labels[b]);
  }
  return loss / sample.input().loss_divisor;
}

struct Case {
  const char* backend;
  FirstLayer first_layer;
};

class DeepFmTest : public ::testing::TestWithParam<Case> {
 protected:
  void Create(ModelOptions options) {
    options.first_layer = GetParam().first_layer;
    backend_ = *CreateBackend(GetParam().backend);
    auto model = CreateModel(options, backend_.get());
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  void ExpectGradientIsNumeric(const ModelOptions& options, bool dropout,
                               double divisor = kBatch) {
    SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 11);
    sample.loss_divisor = divisor;
    const double loss_sum = sample.ForwardBackward(model_.get());
    const std::vector<double> rows = ToDouble(sample.rows);
    const std::vector<double> dense = ToDouble(sample.dense);
    EXPECT_NEAR(loss_sum,
                divisor * DeepFmLoss(options, sample, rows, dense, dropout),
                kBatch * 1e-6);
    // Float32 arithmetic of a few dozen terms, against double.
    EXPECT_LT(RelativeError(sample.d_rows,
                            NumericGradient(
                                [&](const std::vector<double>& at) {
                                  return DeepFmLoss(options, sample, at, dense,
                                                    dropout);
                                },
                                rows)),
              2e-6);
    EXPECT_LT(RelativeError(sample.d_dense,
                            NumericGradient(
                                [&](const std::vector<double>& at) {
                                  return DeepFmLoss(options, sample, rows, at,
                                                    dropout);
                                },
                                dense)),
              2e-6);
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Model> model_;
};

TEST_P(DeepFmTest, GradientIsTheNumericOneOfTheMeanLoss) {
  const ModelOptions options = SmallOptions();
  Create(options);
  ExpectGradientIsNumeric(options, /*dropout=*/false);
}

TEST_P(DeepFmTest, GradientIsTheNumericOneWithDropout) {
  ModelOptions options = SmallOptions();
  options.dropout_keep = {0.5, 0.75};
  Create(options);
  ExpectGradientIsNumeric(options, /*dropout=*/true);
}

TEST_P(DeepFmTest, GradientIsTheNumericOneForAnyDivisorOfTheLoss) {
  const ModelOptions options = SmallOptions();
  Create(options);
  for (const double divisor : {1.0, 0.3, 1000.0}) {
    ExpectGradientIsNumeric(options, /*dropout=*/false, divisor);
  }
}

TEST_P(DeepFmTest, PredictIsTheFormulaAndIgnoresDropout) {
  ModelOptions options = SmallOptions();
  options.dropout_keep = {0.5, 0.75};
  Create(options);
  const SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 12);
  std::vector<float> logits(kBatch);
  model_->Predict(sample.input(), absl::MakeSpan(logits));
  std::vector<double> expected;
  DeepFmLoss(options, sample, ToDouble(sample.rows), ToDouble(sample.dense),
             /*dropout=*/false, &expected);
  EXPECT_LT(RelativeError(logits, expected), 1e-6);
}

TEST_P(DeepFmTest, TrainingWithoutDropoutSeesTheLogitsOfPredict) {
  Create(SmallOptions());
  SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 13);
  std::vector<float> logits(kBatch);
  model_->Predict(sample.input(), absl::MakeSpan(logits));
  sample.ForwardBackward(model_.get());
  EXPECT_EQ(logits, sample.logits);
}

TEST_P(DeepFmTest, AnotherObjectYieldsTheSameBits) {
  ModelOptions options = SmallOptions();
  options.dropout_keep = {0.5, 0.75};
  Create(options);
  SampleBatch first(model_->spec(), kBatch, kFields, kRows, 14);
  const double first_loss = first.ForwardBackward(model_.get());
  const auto model = std::move(model_);
  const auto backend = std::move(backend_);

  Create(options);
  // Scratch memory of a larger batch must not show through.
  SampleBatch larger(model_->spec(), 4 * kBatch, kFields, kRows, 15);
  larger.ForwardBackward(model_.get());
  SampleBatch again(model_->spec(), kBatch, kFields, kRows, 14);
  EXPECT_EQ(again.ForwardBackward(model_.get()), first_loss);
  EXPECT_EQ(again.logits, first.logits);
  EXPECT_EQ(again.d_rows, first.d_rows);
  EXPECT_EQ(again.d_dense, first.d_dense);
}

TEST_P(DeepFmTest, DropoutDependsOnTheBatchId) {
  ModelOptions options = SmallOptions();
  options.dropout_keep = {0.5, 0.5};
  Create(options);
  SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 16);
  sample.ForwardBackward(model_.get());
  SampleBatch other(model_->spec(), kBatch, kFields, kRows, 16);
  other.batch.index += 1;
  other.ForwardBackward(model_.get());
  EXPECT_NE(sample.logits, other.logits);
}

TEST_P(DeepFmTest, PaddedValuesAreNotLookedAt) {
  Create(SmallOptions());
  SampleBatch sample(model_->spec(), kBatch, kFields, kRows, 17);
  SampleBatch other(model_->spec(), kBatch, kFields, kRows, 17);
  int padded = 0;
  for (size_t i = 0; i < other.values.size(); ++i) {
    if (other.row_index[i] >= 0) continue;
    other.values[i] = 1e30f;
    ++padded;
  }
  ASSERT_GT(padded, 0);
  sample.ForwardBackward(model_.get());
  other.ForwardBackward(model_.get());
  EXPECT_EQ(sample.logits, other.logits);
  EXPECT_EQ(sample.d_rows, other.d_rows);
  EXPECT_EQ(sample.d_dense, other.d_dense);
}

TEST_P(DeepFmTest, OneExampleOfPaddingAloneTrainsTheDenseVariables) {
  Create(SmallOptions());
  SampleBatch sample(model_->spec(), 1, kFields, kRows, 18);
  std::fill(sample.row_index.begin(), sample.row_index.end(), -1);
  sample.ForwardBackward(model_.get());
  for (const float d : sample.d_rows) EXPECT_EQ(d, 0);
  EXPECT_NE(sample.d_dense.back(), 0);
}

// The model computes a large batch in parts.
TEST_P(DeepFmTest, ALargeBatchIsTheMeanOfItsExamples) {
  Create(SmallOptions());
  const int kLarge = 2 * DeepFmFirstLayerOptions(SmallOptions()).Stretch() + 5;
  constexpr int kPieces = 41;  // each small enough to be computed at once
  SampleBatch whole(model_->spec(), kLarge, kFields, kRows, 20);
  const double loss_sum = whole.ForwardBackward(model_.get());
  double expected_loss = 0;
  std::vector<double> d_rows(whole.d_rows.size());
  std::vector<double> d_dense(whole.d_dense.size());
  for (int piece = 0; piece < kPieces; ++piece) {
    const int first = piece * kLarge / kPieces;
    const int count = (piece + 1) * kLarge / kPieces - first;
    SampleBatch part = whole;
    part.batch_size = count;
    auto cut = [](auto& all, int begin, int size) {
      all = {all.begin() + begin, all.begin() + begin + size};
    };
    cut(part.row_index, first * kFields, count * kFields);
    cut(part.values, first * kFields, count * kFields);
    cut(part.labels, first, count);
    part.logits.resize(count);
    expected_loss += part.ForwardBackward(model_.get());
    const double share = 1.0 * count / kLarge;
    for (size_t i = 0; i < d_rows.size(); ++i) {
      d_rows[i] += share * part.d_rows[i];
    }
    for (size_t i = 0; i < d_dense.size(); ++i) {
      d_dense[i] += share * part.d_dense[i];
    }
    const std::vector<float> logits(whole.logits.begin() + first,
                                    whole.logits.begin() + first + count);
    EXPECT_LT(RelativeError(part.logits, ToDouble(logits)), 1e-6);
  }
  EXPECT_NEAR(loss_sum, expected_loss, 1e-6 * expected_loss);
  EXPECT_LT(RelativeError(whole.d_rows, d_rows), 5e-6);
  EXPECT_LT(RelativeError(whole.d_dense, d_dense), 5e-6);
}

TEST_P(DeepFmTest, NoTwoPositionsOfALargeBatchShareTheirDropout) {
  ModelOptions options = SmallOptions();
  options.deep_layers = {64, 64};
  options.dropout_keep = {0.5, 0.5};
  Create(options);
  SampleBatch sample(model_->spec(), 1025, kFields, kRows, 21);
  for (int b = 1; b < sample.batch_size; ++b) {
    std::copy_n(sample.row_index.begin(), kFields,
                sample.row_index.begin() + b * kFields);
    std::copy_n(sample.values.begin(), kFields,
                sample.values.begin() + b * kFields);
  }
  sample.ForwardBackward(model_.get());
  std::sort(sample.logits.begin(), sample.logits.end());
  const auto distinct = std::unique(sample.logits.begin(), sample.logits.end());
  // Two masks may give one logit by chance; parts with the same masks would
  // halve the number.
  EXPECT_GT(distinct - sample.logits.begin(), 1000);
}

TEST_P(DeepFmTest, PlainSgdLowersTheLossOnAToySet) {
  Create(SmallOptions());
  SampleBatch sample(model_->spec(), 64, kFields, kRows, 19);
  for (float& w : sample.rows) w *= 0.1f;
  // Something that can be learnt: whether field 0 has one of the first rows.
  for (int b = 0; b < sample.batch_size; ++b) {
    sample.values[b * kFields] = 1;
    sample.labels[b] = sample.row_index[b * kFields] < kRows / 2;
  }
  const double before = sample.ForwardBackward(model_.get());
  double after = before;
  for (int step = 0; step < 300; ++step) {
    after = sample.ForwardBackward(model_.get());
    for (size_t i = 0; i < sample.rows.size(); ++i) {
      sample.rows[i] -= 0.2f * sample.d_rows[i];
    }
    for (size_t i = 0; i < sample.dense.size(); ++i) {
      sample.dense[i] -= 0.2f * sample.d_dense[i];
    }
  }
  EXPECT_LT(after, 0.1 * before);
}

INSTANTIATE_TEST_SUITE_P(
    Backends, DeepFmTest,
    ::testing::Values(Case{"reference", FirstLayer::kDense},
                      Case{"reference", FirstLayer::kDistinct},
                      Case{"onednn", FirstLayer::kDense},
                      Case{"onednn", FirstLayer::kDistinct}),
    [](const auto& info) {
      return absl::StrCat(
          info.param.backend, "_",
          info.param.first_layer == FirstLayer::kDense ? "dense" : "distinct");
    });

// A batch of two stretches: in one of them rows repeat, in the other none does.
class DeepFmFirstLayer : public ::testing::Test {
 protected:
  DeepFmFirstLayer() {
    options_.embedding_size = 24;
    options_.deep_layers = {64, 8};
    stretch_ = DeepFmFirstLayerOptions(options_).Stretch();
  }

  SampleBatch Sample(const ModelSpec& spec, bool repeats_first) const {
    // By the seed: no unit lies so near to 0 that rounding switches it.
    SampleBatch sample(spec, 2 * stretch_, kFields, 9 + stretch_ * kFields, 23);
    for (int i = 0; i < 2 * stretch_ * kFields; ++i) {
      const int of_stretch = i % (stretch_ * kFields);
      const bool repeats = (i == of_stretch) == repeats_first;
      sample.row_index[i] = repeats ? i % 9 : 9 + of_stretch;
    }
    return sample;
  }

  // After a step with other weights, of which nothing may be left.
  SampleBatch SecondStep(FirstLayer first_layer, bool repeats_first) {
    options_.first_layer = first_layer;
    const auto backend = *CreateBackend("onednn");
    const auto model = *CreateModel(options_, backend.get());
    SampleBatch sample = Sample(model->spec(), repeats_first);
    const std::vector<float> dense = sample.dense;
    for (float& w : sample.dense) w += 0.1f;
    sample.ForwardBackward(model.get());
    sample.dense = dense;
    sample.ForwardBackward(model.get());
    return sample;
  }

  ModelOptions options_ = SmallOptions();
  int stretch_;
};

TEST_F(DeepFmFirstLayer, AutoChoosesForEachStretchAndTheSumIsTheSame) {
  for (const bool repeats_first : {true, false}) {
    const SampleBatch dense = SecondStep(FirstLayer::kDense, repeats_first);
    const SampleBatch chosen = SecondStep(FirstLayer::kAuto, repeats_first);
    const auto half = [&](const SampleBatch& sample, bool second) {
      const auto begin = sample.logits.begin() + (second ? stretch_ : 0);
      return std::vector<float>(begin, begin + stretch_);
    };
    // Where no row repeats it is the dense layer, to the bit; elsewhere
    // another.
    EXPECT_EQ(half(dense, repeats_first), half(chosen, repeats_first));
    EXPECT_NE(half(dense, !repeats_first), half(chosen, !repeats_first));
    EXPECT_LT(RelativeError(chosen.logits, ToDouble(dense.logits)), 2e-6);
    EXPECT_LT(RelativeError(chosen.d_rows, ToDouble(dense.d_rows)), 5e-6);
    EXPECT_LT(RelativeError(chosen.d_dense, ToDouble(dense.d_dense)), 5e-6);
  }
}

TEST_F(DeepFmFirstLayer, AStepIsThatOfAModelThatNeverSawOtherWeights) {
  for (const FirstLayer first_layer :
       {FirstLayer::kDense, FirstLayer::kDistinct, FirstLayer::kAuto}) {
    const SampleBatch second = SecondStep(first_layer, true);
    const auto backend = *CreateBackend("onednn");
    const auto model = *CreateModel(options_, backend.get());
    SampleBatch fresh = Sample(model->spec(), true);
    fresh.ForwardBackward(model.get());
    EXPECT_EQ(second.logits, fresh.logits);
    EXPECT_EQ(second.d_rows, fresh.d_rows);
    EXPECT_EQ(second.d_dense, fresh.d_dense);
  }
}

TEST_F(DeepFmFirstLayer, DropoutOfALargeBatchIsTheSameInBothWays) {
  options_.dropout_keep = {0.5, 0.75};
  const SampleBatch dense = SecondStep(FirstLayer::kDense, true);
  const SampleBatch distinct = SecondStep(FirstLayer::kDistinct, true);
  EXPECT_LT(RelativeError(distinct.logits, ToDouble(dense.logits)), 2e-6);
  EXPECT_LT(RelativeError(distinct.d_rows, ToDouble(dense.d_rows)), 5e-6);
  EXPECT_LT(RelativeError(distinct.d_dense, ToDouble(dense.d_dense)), 5e-6);
}

// What a sample of three models took on a core (docs/planning.md).
TEST_F(DeepFmFirstLayer, TheWorkExplainsWhatModelsTook) {
  options_.field_size = 39;
  const auto work = [this](int dim, std::vector<int> layers, double samples,
                           double ids) {
    options_.embedding_size = dim;
    options_.deep_layers = std::move(layers);
    return DeepFmWork(options_).In(samples, ids);
  };
  const double a = work(16, {400, 400, 400}, 1024, 8987);
  EXPECT_NEAR(work(32, {256, 128, 64}, 1024, 8987) / a, 10.8 / 24.7, .02);
  EXPECT_NEAR(work(8, {512, 256}, 2048, 15296) / a, 15.1 / 24.7, .03);
}

TEST_F(DeepFmFirstLayer, WithoutRepeatsTheWorkIsThatOfTheProducts) {
  options_.field_size = 39;
  options_.embedding_size = 16;
  options_.deep_layers = {400, 400, 400};
  constexpr double kProducts = 6 * (624 * 400 + 2 * 400 * 400 + 400);
  EXPECT_EQ(DeepFmWork(options_).In(1024, 39 * 1024), kProducts);
  EXPECT_LT(DeepFmWork(options_).In(1024, 39), .8 * kProducts);
  options_.first_layer = FirstLayer::kDense;
  EXPECT_EQ(DeepFmWork(options_).In(1024, 39), kProducts);
  options_.first_layer = FirstLayer::kDistinct;
  EXPECT_GT(DeepFmWork(options_).In(1024, 39 * 1024), kProducts);
}

TEST_F(DeepFmFirstLayer, StretchesOfWideModelsAreShorter) {
  EXPECT_EQ(stretch_, 2048);
  options_.field_size = 200;
  options_.deep_layers = {400};
  EmbeddingDenseOptions layer = DeepFmFirstLayerOptions(options_);
  EXPECT_EQ(layer.Stretch(), (128 << 20) / (4 * 200 * 424));
  EXPECT_GT(layer.MostPairs(256), 0);
  layer.field_size = 65535;
  EXPECT_EQ(layer.Stretch(), kDeepFmPartMax);
  EXPECT_LT(layer.MostPairs(256), 0);
  layer.form = FirstLayer::kDistinct;
  EXPECT_EQ(layer.MostPairs(256), 256 * 65535);
}

TEST(DeepFmSpecTest, NamesShapesAndInitialValuesAreTheReferenceScripts) {
  ModelOptions options;
  options.feature_size = 117581;
  options.field_size = 39;
  options.embedding_size = 32;
  options.deep_layers = {128, 64, 32};
  options.table_optimizer.l2 = 1e-4f;
  const ModelSpec spec = DeepFmSpec(options);
  ASSERT_EQ(spec.tables.size(), 1u);
  EXPECT_EQ(spec.tables[0].name, "fm");
  ASSERT_EQ(spec.tables[0].columns.size(), 2u);
  const ColumnSpec& w = spec.tables[0].columns[0];
  const ColumnSpec& v = spec.tables[0].columns[1];
  EXPECT_EQ(w.variable, "fm_w");
  EXPECT_EQ(w.dim, 1);
  EXPECT_EQ(w.optimizer.l2, 1e-4f);
  EXPECT_EQ(w.initializer.kind, InitializerKind::kTruncatedNormal);
  EXPECT_NEAR(w.initializer.scale, std::sqrt(1.0 / 117581) / 0.8796256610342398,
              1e-9);
  EXPECT_EQ(v.variable, "fm_v");
  EXPECT_EQ(v.dim, 32);
  EXPECT_NEAR(v.initializer.scale,
              std::sqrt(2.0 / (117581 + 32)) / 0.8796256610342398, 1e-9);

  std::vector<std::string> names;
  for (const DenseSpec& variable : spec.dense) names.push_back(variable.name);
  EXPECT_THAT(names,
              ElementsAre("deep_0/weights", "deep_0/biases", "deep_1/weights",
                          "deep_1/biases", "deep_2/weights", "deep_2/biases",
                          "deep_out/weights", "deep_out/biases", "fm_b"));
  EXPECT_THAT(spec.dense[0].shape, ElementsAre(1248, 128));
  EXPECT_EQ(spec.dense[0].initializer.kind, InitializerKind::kUniform);
  EXPECT_NEAR(spec.dense[0].initializer.scale, std::sqrt(6.0 / (1248 + 128)),
              1e-8);
  EXPECT_THAT(spec.dense[1].shape, ElementsAre(128));
  EXPECT_EQ(spec.dense[1].initializer.kind, InitializerKind::kZeros);
  EXPECT_THAT(spec.dense[6].shape, ElementsAre(32, 1));
  // The count that the reference script's notebook prints.
  EXPECT_EQ(spec.dense_size() + 117581 * spec.tables[0].row_dim(), 4050415);
}

}  // namespace
}  // namespace shoal
