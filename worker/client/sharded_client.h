#ifndef SHOAL_WORKER_CLIENT_SHARDED_CLIENT_H_
#define SHOAL_WORKER_CLIENT_SHARDED_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
// of split.ids, so that each shard's part is a contiguous range, which is read
// and written in place.
struct TableParameters {
  IdSplit split;                // distinct ids, by shard
  AlignedBuffer<float> rows;    // U × row_dim
  AlignedBuffer<float> d_rows;  // U × row_dim
};

// The parameters of one step: the pulled values, and the gradients to be
// pushed. Memory is reused.
struct StepParameters {
  std::vector<TableParameters> tables;  // the model's, in its order
  AlignedBuffer<float> dense;  // all dense variables, in ShardMap's flat order
  AlignedBuffer<float> d_dense;
  std::vector<Version> pulled;  // by shard
  Colour colour = 0;            // the highest of the pull replies
  uint64_t step = 0;            // the least of the pull replies
  // True if the batch's loss or gradient is not sound. Then the batch is pushed
  // as rejected, and the gradient is not valid.
  bool rejected = false;
};

// The shards [begin, end) of a map.
struct ShardRange {
  int begin = 0;
  int end = 0;
};

struct ShardedClientOptions {
  std::string job;
  Life worker;
  ShardMap map;
  std::vector<Life> shard_lives;
  // The parameter server that each shard is called at, by its index as a member
  // of the job (core/ps_members.h), for messages. Empty: shard k is at member
  // k. The replicated shard is the worker's own.
  std::vector<int> members;
  // Row dims of the model's tables, which are the first tables of the map.
  std::vector<int> row_dims;
  int64_t dense_size = 0;  // elements of all dense variables
  absl::Duration pull_timeout = absl::Seconds(10);
  absl::Duration push_timeout = absl::Seconds(10);
};

// A client of all shards of a job: it splits a pull or push by shard, sends all
// parts at once, and completes when all shards have answered. A batch is pulled
// from and pushed to every shard, even if a shard has none of its rows: the
// pull returns the shard's version and colour, and the push leaves the mark. If
// the map has a canary table (core/canary.h), every push carries the canaries
// of its batches, except those of rejected batches.
//
// Owned by the strand `executor`: it is called there and completes there. It
// may be destroyed while calls are in flight; their completions still run.
class ShardedClient {
 public:
  // `shards` has map.num_shards entries, by index. `executor` must outlive all
  // calls.
  ShardedClient(ShardedClientOptions options,
                std::vector<std::shared_ptr<ParameterService>> shards,
                Executor* executor);

  const ShardMap& map() const { return options_.map; }
  // All shards; those that no rank has a copy of; and the replicated shard. The
  // last two are empty if there are none.
  ShardRange all_shards() const { return {0, options_.map.num_shards}; }
  ShardRange single_shards() const {
    return {0, options_.map.replicated < 0 ? options_.map.num_shards
                                           : options_.map.replicated};
  }
  ShardRange replicated_shard() const {
    return {single_shards().end, options_.map.num_shards};
  }
  Executor* executor() const { return executor_; }
  // The partitions of the model's tables.
  absl::Span<const TablePartition> partitions() const {
    return absl::MakeConstSpan(options_.map.tables)
        .first(options_.row_dims.size());
  }

  // Fetches the rows of each table's split.ids and all dense blocks. `step`
  // belongs to the caller and must stay in place until `done` has run. The
  // error is the error of the first shard that failed, and names the shard's
  // server.
  void Pull(StepParameters* step, bool read_only,
            absl::AnyInvocable<void(absl::Status) &&> done);
  // The same from these shards alone: of the others nothing is read, and their
  // entries of step->pulled are no version. REQUIRES: `shards` is not empty.
  void PullFrom(ShardRange shards, StepParameters* step, bool read_only,
                absl::AnyInvocable<void(absl::Status) &&> done);

  // Sends d_rows and d_dense, which are the gradient of the batches that are
  // not rejected, or only the list of batches if all are rejected. The result
  // is the verdict of shard 0 (PushReply::verdict); the coordinator checks that
  // the other shards agree. After an error some shards may have applied the
  // push: push it again with the same batches. REQUIRES: `batches` passes
  // CheckPushedBatches.
  void Push(absl::Span<const PushedBatch> batches, const StepParameters& step,
            Done<Verdict> done);
  // The same to these shards alone; the verdict is that of the first of them.
  // REQUIRES: as for Push, and `shards` is not empty. Tables without an entry
  // in step.tables have no gradient.
  void PushTo(ShardRange shards, absl::Span<const PushedBatch> batches,
              const StepParameters& step, Done<Verdict> done);

  // Sends one shard its part of the gradient of one batch, for step `number` of
  // the job (PushRequest::step): d_rows and d_dense are the gradient of the sum
  // over the batch's examples. An error names the shard's server.
  void PushToShard(int shard, uint64_t number, const PushedBatch& batch,
                   const StepParameters& step, Done<PushReply> done);

 private:
  // The canaries that a push carries to every shard, one for each batch that is
  // not rejected. They live until the push is done.
  struct Canaries {
    absl::InlinedVector<FeatureId, 1> rows;
    absl::InlinedVector<float, 2> gradients;  // two for each row
  };

  CallIdentity IdentityFor(int shard) const;
  // The holder of the shard, in messages: "ps 2".
  std::string NameOf(int shard) const;
  // The canaries of the batches, or null if the map has no canary table.
  absl::StatusOr<std::shared_ptr<Canaries>> CanariesOf(
      absl::Span<const PushedBatch> batches) const;
  void PushParts(ShardRange shards, absl::Span<const PushedBatch> batches,
                 const StepParameters& step,
                 std::shared_ptr<Canaries> canaries, Done<Verdict> done);
  // The shard's part of a push; `canaries` may be null.
  PushRequest PartOf(int shard, absl::Span<const PushedBatch> batches,
                     const StepParameters& step,
                     const Canaries* canaries) const;
  // Adds the shard's part of the step's gradient to the request. `canaries` may
  // be null.
  void AddGradients(int shard, const StepParameters& step,
                    const Canaries* canaries, PushRequest* request) const;

  const ShardedClientOptions options_;
  const std::vector<std::shared_ptr<ParameterService>> shards_;
  Executor* const executor_;
  std::optional<uint32_t> canary_table_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_CLIENT_SHARDED_CLIENT_H_
