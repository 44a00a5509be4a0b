#include "worker/train/gradient_check.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/sound_gradient.h"
#include "gtest/gtest.h"
#include "models/backend/create_backend.h"
#include "models/create_model.h"
#include "partitioner/split.h"
#include "tests/models/numeric.h"
#include "worker/train/train_step.h"

namespace shoal {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int kDim = 3;

// Rows 9, 2, 5 and four dense values, split over `shards`.
StepParameters Parameters(int shards) {
  StepParameters p;
  const std::vector<FeatureId> ids = {9, 2, 5};
  TableParameters& table = p.tables.emplace_back();
  SplitIds({PartitionKind::kMod, 10, shards}, ids, &table.split);
  table.d_rows.ResizeDiscard(ids.size() * kDim);
  for (size_t i = 0; i < ids.size(); ++i) {
    for (int d = 0; d < kDim; ++d) {
      table.d_rows.data()[i * kDim + d] =
          0.1f * static_cast<float>(table.split.ids[i]) + static_cast<float>(d);
    }
  }
  p.d_dense.ResizeDiscard(4);
  for (int i = 0; i < 4; ++i) p.d_dense.data()[i] = 1.5f - i;
  return p;
}

std::vector<float> Copy(const AlignedBuffer<float>& buffer) {
  return {buffer.span().begin(), buffer.span().end()};
}

TEST(GradientNorm, IsTheRootOfTheSumOfAllSquares) {
  const StepParameters p = Parameters(1);
  double squares = 0;
  for (const float g : p.tables[0].d_rows.span()) squares += double{g} * g;
  for (const float g : p.d_dense.span()) squares += double{g} * g;
  EXPECT_NEAR(GradientNorm(p), std::sqrt(squares), 1e-12);
}

TEST(GradientNorm, SquaresNeitherOverflowNorVanish) {
  StepParameters p = Parameters(1);
  for (const float size : {3e38f, 1e-38f}) {
    for (float& g : p.tables[0].d_rows.span()) g = size;
    for (float& g : p.d_dense.span()) g = size;
    EXPECT_NEAR(GradientNorm(p) / (double{size} * std::sqrt(13.0)), 1, 1e-12);
  }
}

TEST(GradientNorm, IsZeroOfNothing) {
  StepParameters p;
  EXPECT_EQ(GradientNorm(p), 0);
}

TEST(CheckGradient, ClipsToTheNormAndKeepsTheDirection) {
  const StepParameters whole = Parameters(2);
  const double norm = GradientNorm(whole);
  StepParameters p = Parameters(2);
  CheckGradient(1.0, norm / 4, &p);
  EXPECT_FALSE(p.rejected);
  EXPECT_NEAR(GradientNorm(p), norm / 4, 1e-6 * norm);
  const std::vector<float> rows = Copy(p.tables[0].d_rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_FLOAT_EQ(rows[i], whole.tables[0].d_rows.span()[i] / 4);
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(p.d_dense.span()[i], whole.d_dense.span()[i] / 4);
  }
}

TEST(CheckGradient, LeavesWhatIsShortEnoughAndClipsNothingAtZero) {
  const StepParameters whole = Parameters(1);
  for (const double clip : {0.0, GradientNorm(whole), 1e30}) {
    StepParameters p = Parameters(1);
    CheckGradient(1.0, clip, &p);
    EXPECT_EQ(Copy(p.tables[0].d_rows), Copy(whole.tables[0].d_rows)) << clip;
    EXPECT_EQ(Copy(p.d_dense), Copy(whole.d_dense)) << clip;
  }
}

TEST(CheckGradient, RejectsWhatIsNotSoundAndNothingElse) {
  for (const double clip : {0.0, 1.0}) {
    StepParameters p = Parameters(1);
    CheckGradient(NAN, clip, &p);
    EXPECT_TRUE(p.rejected);
    CheckGradient(1.0, clip, &p);
    EXPECT_FALSE(p.rejected) << "the verdict of the batch before";
    p.tables[0].d_rows.data()[8] = -kInf;
    CheckGradient(1.0, clip, &p);
    EXPECT_TRUE(p.rejected);
    p = Parameters(1);
    p.d_dense.data()[0] = NAN;
    CheckGradient(1.0, clip, &p);
    EXPECT_TRUE(p.rejected);
    p = Parameters(1);
    p.d_dense.data()[0] = -kLargestGradient;
    CheckGradient(1.0, clip, &p);
    EXPECT_FALSE(p.rejected);
    p = Parameters(1);
    p.tables[0].d_rows.data()[0] = -1.001f * kLargestGradient;
    CheckGradient(1.0, clip, &p);
    EXPECT_TRUE(p.rejected);
  }
}

// One random batch of DeepFM, computed for a number of shards.
class ShardedGradient {
 public:
  explicit ShardedGradient(PartitionKind kind, int shards) {
    ModelOptions options;
    options.feature_size = 1000;
    options.field_size = 8;
    options.embedding_size = 5;
    options.deep_layers = {7};
    const auto backend = *CreateBackend("reference");
    const auto model = *CreateModel(options, backend.get());
    ExampleBatch& examples = step_.batch.examples;
    const auto draws = RandomVector(3, 64 * 8);
    for (int b = 0; b < 64; ++b) {
      examples.labels.push_back(b % 3 == 0);
      for (int j = 0; j < 8; ++j) {
        const float u = draws[b * 8 + j];
        examples.ids.push_back(static_cast<FeatureId>(999 * u * u));
        examples.values.push_back(u);
      }
      examples.offsets.push_back(examples.ids.size());
    }
    UniqueIds unique;
    PrepareStep({TablePartition{kind, 1000, shards}}, 8, &unique, &step_);
    StepParameters& p = step_.parameters;
    TableParameters& table = p.tables[0];
    table.rows.ResizeDiscard(table.split.ids.size() * 6);
    for (size_t i = 0; i < table.split.ids.size(); ++i) {
      const auto row = RandomVector(100 + table.split.ids[i], 6);
      std::copy(row.begin(), row.end(), table.rows.data() + i * 6);
    }
    const auto dense = RandomVector(4, model->spec().dense_size());
    p.dense.ResizeDiscard(dense.size());
    std::copy(dense.begin(), dense.end(), p.dense.data());
    ComputeStep(8, model.get(), &step_);
  }

  StepParameters& parameters() { return step_.parameters; }

 private:
  TrainStep step_;
};

TEST(GradientNorm, HasTheSameBitsOverAnyNumberOfShards) {
  const double norm =
      GradientNorm(ShardedGradient(PartitionKind::kMod, 1).parameters());
  EXPECT_GT(norm, 0);
  for (const PartitionKind kind :
       {PartitionKind::kMod, PartitionKind::kFixedSize}) {
    for (const int shards : {2, 3, 7, 100}) {
      ShardedGradient sharded(kind, shards);
      EXPECT_EQ(GradientNorm(sharded.parameters()), norm) << shards;
    }
  }
}

}  // namespace
}  // namespace shoal
