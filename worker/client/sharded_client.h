#ifndef SHOAL_WORKER_CLIENT_SHARDED_CLIENT_H_
#define SHOAL_WORKER_CLIENT_SHARDED_CLIENT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "base/executor.h"
#include "core/ids.h"
#include "core/parameter_service.h"
#include "core/shard_map.h"
#include "partitioner/split.h"

namespace shoal {

// The rows of one table that a step uses. Rows and gradients lie in the order
// of split.ids, so each shard's part is a contiguous range and is read and
// written in place.
struct TableParameters {
  IdSplit split;                // distinct ids, by shard
  AlignedBuffer<float> rows;    // U × row_dim
  AlignedBuffer<float> d_rows;  // U × row_dim
};

// The parameters of one step: what was pulled for it and what it will push.
// Memory is reused.
struct StepParameters {
  std::vector<TableParameters> tables;  // of the model, in its order
  AlignedBuffer<float> dense;  // all dense variables, ShardMap's flat order
  AlignedBuffer<float> d_dense;
  std::vector<Version> pulled;  // by shard
  Colour colour = 0;            // the highest that a pull reply bore
  // The batch's loss or gradient is not sound: its pushes say so and bring
  // nothing.
  bool rejected = false;
};

struct ShardedClientOptions {
  std::string job;
  Life worker;
  ShardMap map;
  std::vector<Life> shard_lives;
  // Of each of the model's tables, which are the map's first.
  std::vector<int> row_dims;
  int64_t dense_size = 0;  // of all dense variables
  absl::Duration pull_timeout = absl::Seconds(10);
  absl::Duration push_timeout = absl::Seconds(10);
};

// All shards of a job as one: splits a pull or push by owner, asks every shard
// at once, and completes when all have answered. A batch is pulled from and
// pushed to every shard, also to one that owns none of its rows: the pull
// brings the shard's version and colour, the push leaves the mark. Where the
// map has a canary table (core/canary.h), every push brings its batch's canary.
//
// Owned by the strand `executor`: called there, completes there. May be
// destroyed while calls are in flight; their completions still run.
class ShardedClient {
 public:
  // `shards` by index, as many as map.num_shards; `executor` outlives all
  // calls.
  ShardedClient(ShardedClientOptions options,
                std::vector<std::shared_ptr<ParameterService>> shards,
                Executor* executor);

  const ShardMap& map() const { return options_.map; }
  // Where the rows of each of the model's tables lie.
  absl::Span<const TablePartition> partitions() const {
    return absl::MakeConstSpan(options_.map.tables)
        .first(options_.row_dims.size());
  }

  // Fetches the rows of each table's split.ids and all dense blocks. `step`
  // belongs to the caller and stays in place until `done` ran. The error is
  // that of the first shard that failed, and names it.
  void Pull(StepParameters* step, bool read_only,
            absl::AnyInvocable<void(absl::Status) &&> done);

  // Sends d_rows and d_dense, or that the batch is rejected; the result is the
  // verdict of shard 0 (whether the others agree is the coordinator's to see).
  // After an error some shards may have applied the batch: push it again, under
  // the same identity.
  void Push(const BatchId& batch, uint64_t lease, const StepParameters& step,
            Done<Verdict> done);

 private:
  // The canary that a push brings to every shard; lives until it is done.
  struct Canary {
    FeatureId row = 0;
    std::array<float, 2> gradients;
  };

  CallIdentity IdentityFor(int shard) const;
  void PushParts(const BatchId& batch, uint64_t lease,
                 const StepParameters& step, std::shared_ptr<Canary> canary,
                 Done<Verdict> done);
  // The shard's part of the step's gradient; `canary` may be null.
  void AddGradients(int shard, const StepParameters& step, const Canary* canary,
                    PushRequest* request) const;

  const ShardedClientOptions options_;
  const std::vector<std::shared_ptr<ParameterService>> shards_;
  Executor* const executor_;
  std::optional<uint32_t> canary_table_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_CLIENT_SHARDED_CLIENT_H_
