#include "partitioner/round_robin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/balance.h"
#include "partitioner/build_shard_map.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

OptimizerSpec Optimizer(OptimizerKind kind) {
  OptimizerSpec spec;
  spec.kind = kind;
  return spec;
}

// Model A as TensorFlow trained it: Adagrad for the tables, Adam for the rest.
ModelSpec ModelA() {
  const OptimizerSpec adagrad = Optimizer(OptimizerKind::kAdagrad);
  const OptimizerSpec adam = Optimizer(OptimizerKind::kAdam);
  ModelSpec model;
  model.model = "deepfm";
  TableSpec table;
  table.name = "fm";
  table.feature_size = 1'000'000;
  table.columns = {{"fm_w", 1, adagrad, {}}, {"fm_v", 16, adagrad, {}}};
  model.tables = {table};
  model.dense = {{"deep_0/weights", {624, 400}, adam, {}},
                 {"deep_0/biases", {400}, adam, {}},
                 {"deep_1/weights", {400, 400}, adam, {}},
                 {"deep_1/biases", {400}, adam, {}},
                 {"deep_2/weights", {400, 400}, adam, {}},
                 {"deep_2/biases", {400}, adam, {}},
                 {"deep_out/weights", {400, 1}, adam, {}},
                 {"deep_out/biases", {1}, adam, {}},
                 {"fm_b", {1}, adam, {}}};
  return model;
}

double Megabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

TEST(RoundRobin, PutsNearlyAllOfModelAOnOneServerOfTwo) {
  const ModelSpec model = ModelA();
  const std::vector<uint64_t> bytes = RoundRobinBytes(WholeVariables(model), 2);
  uint64_t all = 0;
  uint64_t most = 0;
  for (const uint64_t b : bytes) {
    all += b;
    most = std::max(most, b);
  }
  // TensorFlow's servers held 128.0 and 14.8 MB.
  EXPECT_NEAR(Megabytes(most), 128.0, 0.1);
  EXPECT_NEAR(Megabytes(all - most), 14.8, 0.1);

  const auto map = BuildShardMap(model, {}, 2);
  ASSERT_TRUE(map.ok());
  const BalanceReport fixed_size = PlanBalance(model, *map);
  EXPECT_EQ(fixed_size[0].bytes + fixed_size[1].bytes, all);
  EXPECT_LT(BytesSkew(fixed_size), 1.001);
}

TEST(RoundRobin, DealsWholeVariablesInTurn) {
  const std::vector<WholeVariable> variables = {
      {"a", 1}, {"b", 10}, {"c", 100}, {"d", 1000}};
  EXPECT_THAT(RoundRobinBytes(variables, 3), ElementsAre(1001u, 10u, 100u));
  EXPECT_THAT(RoundRobinBytes({}, 2), ElementsAre(0u, 0u));
}

}  // namespace
}  // namespace shoal
