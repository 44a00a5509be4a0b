#ifndef SHOAL_TESTS_GOLDEN_GOLDEN_TRAINER_H_
#define SHOAL_TESTS_GOLDEN_GOLDEN_TRAINER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/backend/backend.h"
#include "models/model.h"
#include "models/model_options.h"
#include "ps/shard/parameter_shard.h"
#include "tests/golden/golden_file.h"
#include "tests/harness/simulated_executor.h"
#include "worker/client/sharded_client.h"
#include "worker/train/train_step.h"

namespace shoal {

// Trains what a golden file says with the parts of a real job: PrepareStep,
// ShardedClient, ComputeStep and CheckGradient on one side, n ParameterShards
// in this process on the other. Owned by one thread.
class GoldenTrainer {
 public:
  GoldenTrainer(const GoldenFile& file, const std::string& backend,
                FirstLayer first_layer, int num_shards);

  const ModelSpec& spec() const { return model_->spec(); }

  // A variable's values by name: of a table its column's, row by row.
  using Values = std::map<std::string, std::vector<float>>;

  // Pulls all dense variables and these rows, creating none.
  Values Pull(const std::vector<FeatureId>& ids);

  // Up to the push of step `step`, from 1. Returns the batch's mean loss.
  double Compute(int step);
  // After it: what will be pushed, rows by ascending id.
  Values Gradients() const;
  // And then pushes it.
  void Push();

 private:
  void Run(const bool& done);
  // Adds `floats` (ids × row_dim), sorted by id, to the columns of `out`.
  void SplitColumns(const std::vector<FeatureId>& ids,
                    absl::Span<const float> floats, Values* out) const;
  void SplitDense(absl::Span<const float> flat, Values* out) const;

  const GoldenFile& file_;
  const ModelOptions options_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Model> model_;
  Simulator simulator_;
  SimulatedExecutor executor_{&simulator_};
  std::vector<std::shared_ptr<ParameterService>> shards_;
  std::unique_ptr<ShardedClient> client_;
  UniqueIds unique_;
  TrainStep step_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_GOLDEN_GOLDEN_TRAINER_H_
