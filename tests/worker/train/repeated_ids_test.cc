// An id that occurs again in a batch: the worker finds the distinct ids and
// sums their gradients, and the shards see one gradient an id. So repeated ids
// equal the summed gradient, for every optimizer.

#include <cstdint>
#include <string>
#include <vector>

#include "core/unique_ids.h"
#include "gtest/gtest.h"
#include "models/backend/reference_backend.h"
#include "models/layers/fm.h"
#include "ps/optimizer/optimizer_step.h"
#include "tests/ps/shard_set.h"
#include "worker/train/train_step.h"

namespace shoal {
namespace {

// One row a number, from 0.
ModelSpec OneWeightAnId(const OptimizerSpec& optimizer) {
  ModelSpec model;
  model.model = "test";
  model.tables = {{"ids", 4, {{"w", 1, optimizer, {}}}}};
  return model;
}

// A batch of one example with these ids, whose values are 1.
void PrepareBatch(const ShardSet& shards, const std::vector<FeatureId>& ids,
                  TrainStep* step) {
  step->batch.examples.labels = {1};
  step->batch.examples.offsets = {0, static_cast<uint32_t>(ids.size())};
  step->batch.examples.ids = ids;
  step->batch.examples.values.assign(ids.size(), 1);
  UniqueIds unique;
  PrepareStep({shards.map().tables[0]}, static_cast<int>(ids.size()), &unique,
              step);
}

// Pushes a batch in which every occurrence has the gradient `d_logit` for w,
// that of the linear part at the value 1; where the rows have vectors too, each
// occurrence has its own of d_embeddings (ids × dim), what comes back through a
// network above.
void PushBatch(ShardSet* shards, uint32_t index,
               const std::vector<FeatureId>& ids, float d_logit,
               const std::vector<float>& d_embeddings = {}) {
  TrainStep step;
  PrepareBatch(*shards, ids, &step);
  const std::vector<FeatureId>& distinct = step.parameters.tables[0].split.ids;
  const std::vector<float> rows = shards->Rows(distinct);
  std::vector<float> d_rows(rows.size());
  ReferenceBackend backend;
  FmLayer linear(&backend);
  const int fields = static_cast<int>(ids.size());
  const int dim = static_cast<int>(d_embeddings.size()) / fields;
  const FmInput input = {
      1, fields, dim, step.row_index[0].span(), step.values.span(), rows};
  float logit = 0;
  linear.Forward(input, /*keep_embeddings=*/false, absl::MakeSpan(&logit, 1));
  linear.Backward(input, {d_logit}, d_embeddings, /*accumulate=*/false,
                  absl::MakeSpan(d_rows));
  BatchGradient gradient;
  gradient.batch = {0, 0, index};
  for (size_t i = 0; i < distinct.size(); ++i) {
    const auto row = d_rows.begin() + i * (1 + dim);
    gradient.rows[distinct[i]] = {row, row + 1 + dim};
  }
  for (int s = 0; s < shards->num_shards(); ++s) {
    ASSERT_TRUE(shards->Push(s, gradient).ok());
  }
}

// The rows as the batch's occurrences see them.
std::vector<float> LookUp(ShardSet* shards, const std::vector<FeatureId>& ids) {
  TrainStep step;
  PrepareBatch(*shards, ids, &step);
  const std::vector<float> rows =
      shards->Rows(step.parameters.tables[0].split.ids);
  std::vector<float> found;
  for (const int32_t row : step.row_index[0].span()) found.push_back(rows[row]);
  return found;
}

// Monolith's distributed_ps_test.py: two servers, SGD at rate 1, a loss of
// twice the values.
TEST(RepeatedIds, MatchMonolith) {
  OptimizerSpec sgd;
  sgd.kind = OptimizerKind::kSgd;
  sgd.learning_rate = 1;
  ShardSet shards(OneWeightAnId(sgd), PartitionKind::kMod, 2);
  PushBatch(&shards, 0, {0, 3, 0, 1}, 2);
  EXPECT_EQ(LookUp(&shards, {0, 3, 0, 1}),
            (std::vector<float>{-4, -2, -4, -2}));
}

class RepeatedIdsTest : public testing::TestWithParam<OptimizerKind> {};

TEST_P(RepeatedIdsTest, EqualTheSummedGradient) {
  OptimizerSpec spec;
  spec.kind = GetParam();
  spec.learning_rate = 0.5f;
  spec.l2 = 0.25f;
  ShardSet shards(OneWeightAnId(spec), PartitionKind::kMod, 2);
  float w = 0;  // of id 2, by the kernel
  std::vector<float> slots(spec.slot_floats(1));
  InitialiseSlots(spec, absl::MakeSpan(slots));
  for (uint32_t t = 1; t <= 3; ++t) {
    PushBatch(&shards, t, {2, 1, 2, 3, 2}, 0.75f);
    OptimizerStep(spec, t).Apply({3 * 0.75f}, absl::MakeSpan(&w, 1),
                                 absl::MakeSpan(slots));
    EXPECT_EQ(shards.Rows({2})[0], w) << "push " << t;
  }
  EXPECT_NE(w, 0);
}

// Vectors of three: where row-wise Adagrad is not Adagrad.
TEST_P(RepeatedIdsTest, EqualTheSummedGradientOfVectors) {
  OptimizerSpec spec;
  spec.kind = GetParam();
  spec.learning_rate = 0.5f;
  spec.l2 = 0.25f;
  ModelSpec model = OneWeightAnId(spec);
  model.tables[0].columns.push_back({"v", 3, spec, {}});
  ShardSet shards(model, PartitionKind::kMod, 2);
  const std::vector<float> d_embeddings = {1,    -2, 3, 9, 9, 9, 2, 1,
                                           0.5f, 8,  8, 8, 0, 4, -1};
  const std::vector<float> sum = {3, 3, 2.5f};  // over those of id 2
  std::vector<float> v(3);
  std::vector<float> slots(spec.slot_floats(3));
  InitialiseSlots(spec, absl::MakeSpan(slots));
  for (uint32_t t = 1; t <= 3; ++t) {
    PushBatch(&shards, t, {2, 1, 2, 3, 2}, 0, d_embeddings);
    OptimizerStep(spec, t).Apply(sum, absl::MakeSpan(v), absl::MakeSpan(slots));
    const std::vector<float> row = shards.Rows({2});
    EXPECT_EQ(std::vector<float>(row.begin() + 1, row.end()), v)
        << "push " << t;
  }
  EXPECT_NE(v, std::vector<float>(3));
}

INSTANTIATE_TEST_SUITE_P(
    AllKinds, RepeatedIdsTest,
    testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdagrad,
                    OptimizerKind::kRowwiseAdagrad, OptimizerKind::kAdam,
                    OptimizerKind::kFtrl),
    [](const auto& info) { return std::string(OptimizerName(info.param)); });

}  // namespace
}  // namespace shoal
