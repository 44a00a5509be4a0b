#include "worker/train/train_step.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/binary_objective.h"

namespace shoal {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int kFields = 3;

// Adds up what it is given: logit = sum of row * value; each gradient of a row
// is the number of times that the row occurs.
class SumModel final : public Model {
 public:
  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return kBinaryObjective; }
  void Predict(const ModelInput& input, absl::Span<float> logits) override {
    for (int i = 0; i < input.batch_size; ++i) {
      logits[i] = 0;
      for (int f = 0; f < input.field_size; ++f) {
        const int cell = i * input.field_size + f;
        const TableInput& table = input.tables[0];
        if (table.row_index[cell] >= 0) {
          logits[i] += table.rows[table.row_index[cell]] * input.values[cell];
        }
      }
    }
  }
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override {
    Predict(input, output->logits);
    const absl::Span<float> d_rows = output->d_rows[0];
    std::fill(d_rows.begin(), d_rows.end(), 0.0f);
    std::fill(output->d_dense.begin(), output->d_dense.end(), 7.0f);
    for (const int32_t row : input.tables[0].row_index) {
      if (row >= 0) ++d_rows[row];
    }
    output->loss_sum = input.labels[0];
  }

 private:
  ModelSpec spec_;
};

// Two examples: {8: 2, 0: 1, 8: 3} and, shorter than the rest, {4: 1}.
class TrainStepTest : public testing::Test {
 protected:
  TrainStepTest() {
    step_.batch.examples = {
        .labels = {1, 0},
        .offsets = {0, 3, 4},
        .ids = {8, 0, 8, 4},
        .values = {2, 1, 3, 1},
    };
    PrepareStep({partition_}, kFields, &unique_, &step_);
    table().rows.ResizeDiscard(3);  // of one float
    for (size_t i = 0; i < 3; ++i) {
      table().rows.data()[i] = static_cast<float>(table().split.ids[i]);
    }
    step_.parameters.dense.ResizeDiscard(2);
    std::fill_n(step_.parameters.dense.data(), 2, 0.0f);
  }

  TableParameters& table() { return step_.parameters.tables[0]; }

  const TablePartition partition_ = {PartitionKind::kFixedSize, 9, 2};
  UniqueIds unique_;
  TrainStep step_;
  SumModel model_;
};

TEST_F(TrainStepTest, EachIdIsPulledOnceAndEachCellFindsItsRow) {
  const IdSplit& split = table().split;
  EXPECT_THAT(split.ids, ElementsAre(0, 4, 8)) << "shard 0 has 5 of 9 rows";
  EXPECT_THAT(split.begin, ElementsAre(0, 2, 3));
  EXPECT_THAT(step_.row_index[0].span(), ElementsAre(2, 0, 2, 1, -1, -1));
  EXPECT_THAT(step_.values.span(), ElementsAre(2, 1, 3, 1, 0, 0));
}

TEST_F(TrainStepTest, FeaturesThatNameTheirFieldsAreAtTheirPlaces) {
  step_.batch.examples.fields = {2, 1, 0, 1};
  PrepareStep({partition_}, kFields, &unique_, &step_);
  EXPECT_THAT(step_.row_index[0].span(), ElementsAre(2, 0, 2, -1, 1, -1));
  EXPECT_THAT(step_.values.span(), ElementsAre(3, 1, 2, 0, 1, 0));
}

TEST_F(TrainStepTest, ComputeFillsGradientsOfDistinctRows) {
  ComputeStep(kFields, &model_, &step_);
  EXPECT_THAT(step_.logits.span(), ElementsAre(8 * 2 + 8 * 3, 4));
  EXPECT_THAT(table().d_rows.span(), ElementsAre(1, 1, 2));
  EXPECT_THAT(step_.parameters.d_dense.span(), Each(7));
  EXPECT_EQ(step_.loss_sum, 1);
}

TEST_F(TrainStepTest, PredictFillsLogitsAlone) {
  PredictStep(kFields, &model_, &step_);
  EXPECT_THAT(step_.logits.span(), ElementsAre(40, 4));
  EXPECT_EQ(table().d_rows.size(), 0u);
}

TEST_F(TrainStepTest, AStepIsUsedAgainForASmallerBatch) {
  step_.batch.examples = {
      .labels = {0}, .offsets = {0, 1}, .ids = {4}, .values = {5}};
  PrepareStep({partition_}, kFields, &unique_, &step_);
  EXPECT_THAT(table().split.ids, ElementsAre(4));
  EXPECT_THAT(step_.row_index[0].span(), ElementsAre(0, -1, -1));
  EXPECT_THAT(step_.values.span(), ElementsAre(5, 0, 0));
}

TEST_F(TrainStepTest, EachTableHasTheRowsByItsOwnPartition) {
  PrepareStep({partition_, {PartitionKind::kMod, 9, 3}}, kFields, &unique_,
              &step_);
  ASSERT_EQ(step_.parameters.tables.size(), 2u);
  EXPECT_THAT(step_.parameters.tables[0].split.ids, ElementsAre(0, 4, 8));
  EXPECT_THAT(step_.row_index[0].span(), ElementsAre(2, 0, 2, 1, -1, -1));
  EXPECT_THAT(step_.parameters.tables[1].split.ids, ElementsAre(0, 4, 8));
  EXPECT_THAT(step_.parameters.tables[1].split.begin, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(step_.row_index[1].span(), ElementsAre(2, 0, 2, 1, -1, -1));
}

// Gradients of the dense variables alone.
class DenseModel final : public Model {
 public:
  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return kBinaryObjective; }
  void Predict(const ModelInput& input, absl::Span<float> logits) override {
    EXPECT_TRUE(input.tables.empty());
    std::fill(logits.begin(), logits.end(), input.dense[0]);
  }
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override {
    EXPECT_TRUE(output->d_rows.empty());
    Predict(input, output->logits);
    std::fill(output->d_dense.begin(), output->d_dense.end(), 7.0f);
  }

 private:
  ModelSpec spec_;
};

TEST_F(TrainStepTest, AModelMayHaveNoTable) {
  DenseModel model;
  PrepareStep({}, kFields, &unique_, &step_);
  EXPECT_TRUE(step_.parameters.tables.empty());
  ComputeStep(kFields, &model, &step_);
  EXPECT_THAT(step_.parameters.d_dense.span(), Each(7));
  EXPECT_THAT(step_.values.span(), ElementsAre(2, 1, 3, 1, 0, 0));
}

}  // namespace
}  // namespace shoal
