#include "models/linear_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/backend/reference_backend.h"
#include "models/create_model.h"
#include "tests/models/sample_batch.h"

namespace shoal {
namespace {

constexpr int kFields = 6;
constexpr int kDim = 3;
constexpr int kRows = 5;
constexpr float kRate = 0.125f;

class LinearProbeTest : public ::testing::Test {
 protected:
  LinearProbeTest() {
    ModelOptions options;
    options.model = "linear_probe";
    options.feature_size = 100;
    options.field_size = kFields;
    options.embedding_size = kDim;
    options.dense_optimizer.kind = OptimizerKind::kSgd;
    options.dense_optimizer.learning_rate = kRate;
    options.table_optimizer = options.dense_optimizer;
    model_ = *CreateModel(options, &backend_);
  }

  ReferenceBackend backend_;
  std::unique_ptr<Model> model_;
};

TEST_F(LinearProbeTest, GradientIsTheSumOfWholeUnitsInAnInt64Shadow) {
  SampleBatch sample(model_->spec(), 200, kFields, kRows, 31);
  sample.ForwardBackward(model_.get());
  std::vector<int64_t> rows(kRows * kDim, 0);
  std::vector<int64_t> dense(64 * 8 + 1, 0);
  for (int b = 0; b < 200; ++b) {
    for (int j = 0; j < kFields; ++j) {
      const int at = b * kFields + j;
      if (sample.row_index[at] < 0) continue;
      for (int k = 0; k < kDim; ++k) {
        rows[sample.row_index[at] * kDim + k] +=
            ProbeRowUnits(sample.labels[b], sample.values[at], j, k);
      }
    }
    const ModelInput input = sample.input();
    const uint64_t hash = ProbeExampleHash(
        sample.labels[b],
        input.tables[0].row_index.subspan(b * kFields, kFields),
        input.values.subspan(b * kFields, kFields));
    for (size_t i = 0; i < dense.size(); ++i) {
      dense[i] += ProbeDenseUnits(hash, i);
    }
  }
  ASSERT_EQ(sample.d_rows.size(), rows.size());
  ASSERT_EQ(sample.d_dense.size(), dense.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(sample.d_rows[i] * 64, rows[i]);
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    EXPECT_EQ(sample.d_dense[i] * 64, dense[i]);
  }
}

TEST_F(LinearProbeTest, GradientDoesNotDependOnTheWeights) {
  SampleBatch sample(model_->spec(), 50, kFields, kRows, 32);
  SampleBatch other(model_->spec(), 50, kFields, kRows, 32);
  for (float& w : other.rows) w += 3;
  for (float& w : other.dense) w -= 2;
  sample.ForwardBackward(model_.get());
  other.ForwardBackward(model_.get());
  EXPECT_NE(sample.logits, other.logits);
  EXPECT_EQ(sample.d_rows, other.d_rows);
  EXPECT_EQ(sample.d_dense, other.d_dense);
}

TEST_F(LinearProbeTest, AnyOrderOfUpdatesEndsInTheSameBits) {
  std::vector<SampleBatch> batches;
  for (int i = 0; i < 40; ++i) {
    batches.emplace_back(model_->spec(), 30 + i, kFields, kRows, 100 + i);
    batches.back().ForwardBackward(model_.get());
  }
  auto train = [&] {
    std::vector<float> weights(kRows * kDim + 64 * 8 + 1, 0.0f);
    for (const SampleBatch& batch : batches) {
      for (size_t i = 0; i < batch.d_rows.size(); ++i) {
        weights[i] -= kRate * batch.d_rows[i];
      }
      for (size_t i = 0; i < batch.d_dense.size(); ++i) {
        weights[kRows * kDim + i] -= kRate * batch.d_dense[i];
      }
    }
    return weights;
  };
  const std::vector<float> forward = train();
  std::reverse(batches.begin(), batches.end());
  EXPECT_EQ(train(), forward);
  std::rotate(batches.begin(), batches.begin() + 7, batches.end());
  EXPECT_EQ(train(), forward);
  // A batch left out must show.
  batches.pop_back();
  EXPECT_NE(train(), forward);
}

TEST_F(LinearProbeTest, UnitsAreBoundedAndDependOnAllTheirArguments) {
  std::set<int> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(ProbeRowUnits(i % 2, 0.001f * i, i % 7, i % 5));
    seen.insert(ProbeDenseUnits(12345, i));
  }
  EXPECT_EQ(*seen.begin(), -4);
  EXPECT_EQ(*seen.rbegin(), 4);

  auto differs = [](auto one, auto other) {
    for (int i = 0; i < 20; ++i) {
      if (one(i) != other(i)) return true;
    }
    return false;
  };
  EXPECT_TRUE(differs([](int i) { return ProbeRowUnits(0, 1.5f, i, 0); },
                      [](int i) { return ProbeRowUnits(1, 1.5f, i, 0); }));
  EXPECT_TRUE(differs([](int i) { return ProbeRowUnits(0, 1.5f, i, 0); },
                      [](int i) { return ProbeRowUnits(0, 2.5f, i, 0); }));
  EXPECT_TRUE(differs([](int i) { return ProbeRowUnits(0, 1.5f, i, 0); },
                      [](int i) { return ProbeRowUnits(0, 1.5f, i, 1); }));
}

TEST_F(LinearProbeTest, LogitsSumTheFirstColumnAndTheBias) {
  SampleBatch sample(model_->spec(), 20, kFields, kRows, 33);
  sample.ForwardBackward(model_.get());
  for (int b = 0; b < 20; ++b) {
    double z = sample.dense.back();
    for (int j = b * kFields; j < (b + 1) * kFields; ++j) {
      if (sample.row_index[j] < 0) continue;
      z += double{sample.rows[sample.row_index[j] * kDim]} * sample.values[j];
    }
    EXPECT_NEAR(sample.logits[b], z, 1e-5);
  }
}

}  // namespace
}  // namespace shoal
