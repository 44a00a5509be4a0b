#ifndef SHOAL_TESTS_PS_SHARD_SET_H_
#define SHOAL_TESTS_PS_SHARD_SET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/thread_executor.h"
#include "checkpoint/manifest.h"
#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "core/shard_map.h"
#include "partitioner/build_shard_map.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// One batch's gradient: rows of table 0 by id, and the flat dense vector.
struct BatchGradient {
  BatchId batch;
  PushedBatches more;  // the other batches, if it is the sum of several
  std::map<FeatureId, std::vector<float>> rows;
  std::vector<float> dense;
};

// A whole model over n in-process shards that serve for ever. Thread-safe.
class ShardSet {
 public:
  ShardSet(const ModelSpec& model, PartitionKind kind, int num_shards,
           uint64_t max_bytes = 0, Replicate replicate = Replicate::kNothing);

  // The same, loaded from a checkpoint; an error is a failure of the test.
  ShardSet(const ModelSpec& model, PartitionKind kind, int num_shards,
           const LoadShardOptions& load,
           Replicate replicate = Replicate::kNothing);

  // Saves every shard, and the manifest, which makes it a checkpoint.
  Manifest Save(const FileSystem& files, const std::string& directory,
                uint64_t attempt = 1);

  int num_shards() const { return static_cast<int>(shards_.size()); }
  ParameterShard& shard(int s) { return *shards_[s]; }
  const ShardMap& map() const { return map_; }
  CallIdentity Identity(int s) const;

  // Pushes shard s's part of the batch and waits.
  absl::StatusOr<PushReply> Push(int s, const BatchGradient& gradient,
                                 uint64_t lease = 1,
                                 absl::Duration timeout = absl::Seconds(30));
  // Creates the rows of table 0, each on its shard, in this order.
  void Touch(const std::vector<FeatureId>& ids);
  // Weights of rows of table 0 as training sees them, ids.size() × row_dim.
  std::vector<float> Rows(const std::vector<FeatureId>& ids);
  // All dense variables, as BatchGradient::dense.
  std::vector<float> Dense();
  StatsReply Stats(int s);
  // The model's: the sum of the shards'.
  uint64_t Digest();

 private:
  ParameterShardOptions OptionsOf(int s, uint64_t max_bytes) const;
  // Pulls from shard s and waits.
  void Pull(int s, PullRequest request);

  RealClock clock_;
  ThreadExecutor executor_{{.name = "test", .threads = 2}, &clock_};
  ModelSpec model_;
  ShardMap map_;
  std::vector<std::unique_ptr<ParameterShard>> shards_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_PS_SHARD_SET_H_
