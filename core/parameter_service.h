#ifndef SHOAL_CORE_PARAMETER_SERVICE_H_
#define SHOAL_CORE_PARAMETER_SERVICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/histogram.h"
#include "core/done.h"
#include "core/ids.h"
#include "core/mark.h"
#include "core/pushed_batch.h"

namespace shoal {

// The worker life that calls and the shard life that is called. Every request
// names both lives. The reply must come from the same shard life: the caller
// drops a reply of any other life. The shard refuses a request whose two lives
// belong to different starts of the job.
struct CallIdentity {
  std::string job;  // the job's label (--job)
  Life worker;
  Life shard;
  MapVersion map_version = 0;
};

// Rows of one table. ids are distinct. values holds ids.size() × row_dim
// floats, row by row in the order of ids, columns one after the other.
struct TablePull {
  uint32_t table = 0;
  absl::Span<const FeatureId> ids;
  absl::Span<float> values;  // written
};

// values.size() elements of one dense block, from element `offset` on. `block`
// indexes ShardMap::blocks. A pull covers the whole block, unless the block is
// larger than a transport takes at once. Parts of one block may come from
// different versions, as rows may.
struct BlockPull {
  uint32_t block = 0;
  absl::Span<float> values;  // written
  uint64_t offset = 0;       // elements; offset + values.size() <= the block's
};

struct PullRequest {
  CallIdentity identity;
  // Evaluation and inference: an absent row's initial value is computed and
  // returned but not stored.
  bool read_only = false;
  std::vector<TablePull> tables;
  std::vector<BlockPull> blocks;
};

struct PullReply {
  // The oldest state that any value of the reply comes from.
  Version version;
  Colour colour = 0;
  // The number of steps that the shard had applied in this life when it read
  // the first value; 0 if the job has no steps (PushRequest::step).
  uint64_t step = 0;
};

// Gradients of distinct ids: the sum over the batches' occurrences of the id.
struct TablePush {
  uint32_t table = 0;
  absl::Span<const FeatureId> ids;
  absl::Span<const float> gradients;  // ids.size() × row_dim
};

struct BlockPush {
  uint32_t block = 0;
  absl::Span<const float> gradients;  // gradients of the whole block
};

// The part of the gradient of some batches that one shard owns. It may be
// empty, since every batch is pushed to every shard (the push is also the
// mark). A push of several batches is one update, by one gradient, and leaves a
// mark for each batch. If all batches are rejected, the push has no tables and
// no blocks, and applies nothing.
struct PushRequest {
  CallIdentity identity;
  PushedBatches batches;  // passes CheckPushedBatches
  Colour colour = 0;
  Version pulled;  // the version in this shard's pull reply
  // 0: the push is applied on arrival. Otherwise the step of the job that the
  // push is for, from 1: the shard parks the push until the job's step is
  // closed (core/step_messages.h). All pushes of a job do one or the other. A
  // push for a step has one batch, and its gradient is a sum over the batch's
  // examples, which the shard divides by the examples of the step.
  uint64_t step = 0;
  std::vector<TablePush> tables;
  std::vector<BlockPush> blocks;
};

struct PushReply {
  // The verdict on the gradient, from the first copy of the push. A push of one
  // batch: the batch's. A push of several batches: that of every batch that the
  // request does not call rejected; the others are kRejected. So the verdict is
  // kRejected if the request calls all batches rejected.
  Verdict verdict = Verdict::kApplied;
  // True if this copy changed nothing, since the shard had a verdict on the
  // batches already.
  bool repeat = false;
  // True if the push came too late for its step: the batch has no mark, this
  // copy changed nothing, and `verdict` means nothing. The batch will be leased
  // again.
  bool dropped = false;
  Version version;  // after this push
  Colour colour = 0;
};

struct VariableStats {
  std::string variable;
  uint64_t bytes = 0;   // bytes of weights and slots
  uint64_t rows = 0;    // rows in existence; 0 for dense variables
  Histogram staleness;  // staleness of the pushes that touched the variable
};

// Counts over the canary table (core/canary.h) of one shard. They show whether
// the shard applied each push exactly once.
struct CanaryStats {
  uint64_t rows = 0;     // batches whose push was applied
  uint64_t not_one = 0;  // rows that do not hold exactly 1
  // Smallest and largest value of all rows; both 0 if there are no rows.
  float smallest = 0;
  float largest = 0;
  // Rows that were pushed by a worker of another start of the job, without the
  // rows that were there when the shard was loaded.
  uint64_t foreign = 0;

  friend bool operator==(const CanaryStats&, const CanaryStats&) = default;
};

struct StatsRequest {
  CallIdentity identity;
};

// Statistics of one shard. `bytes`, `rows`, `digest` and `variables` are those
// of the model alone; the canary table is counted only in `canary`.
struct StatsReply {
  Version version;
  uint64_t bytes = 0;    // bytes of weights and slots, all variables
  uint64_t rows = 0;     // rows in existence, all tables
  uint64_t lookups = 0;  // ids served by pulls
  // Counts of batches: a push of n batches, which is one update, counts n
  // times.
  uint64_t pushes_applied = 0;
  uint64_t pushes_rejected = 0;
  uint64_t repeats_refused = 0;
  // Sum modulo 2^64, over every element in existence, of a hash of (variable,
  // element's index or row id, bits of the weight). Equal models have equal
  // digests, however they are sharded.
  uint64_t digest = 0;
  std::vector<VariableStats> variables;
  // Staleness of the applied pushes by worker life: count at apply minus count
  // at the pull.
  std::vector<std::pair<Life, Histogram>> staleness;
  // Applied pushes whose pull was answered by another life of this shard. They
  // are not in the histograms.
  uint64_t pulled_in_other_life = 0;
  std::optional<CanaryStats> canary;  // if the job has a canary table
};

// SEAM: one shard of the parameters. Implementations: ParameterShard in process
// (ps/shard), the gRPC client (rpc), a retrying decorator (rpc), and the faulty
// network of tests/harness.
//
// Ownership: every span belongs to the caller and stays valid and unmoved until
// `done` runs; outputs are undefined if the call failed. Spans are aligned for
// their type. Thread-safe. `done` runs exactly once, on the executor given to
// the implementation, never inside the call. A call ends after `timeout`
// (DEADLINE_EXCEEDED) at the latest; nothing touches the spans after that.
//
// Errors
//   INVALID_ARGUMENT     unknown table or block, wrong length, id out of range,
//                        repeated id or batch, no batch or too many, a
//                        rejected push with contents. The caller has a bug or
//                        is a foreign client; do not retry
//   FAILED_PRECONDITION  other job, shard life or map version, or a worker life
//                        of another start number (both are named); a push of
//                        several batches that the shard knows in part, or on
//                        which its verdicts differ (see Push)
//   OUT_OF_RANGE         a lasting limit is reached: the rows of a table
//                        (--table_row_limit), the shard's memory
//                        (--max_ps_bytes; the message names the flag) or the
//                        shard's marks; do not retry
//   RESOURCE_EXHAUSTED   a passing limit is reached: requests in flight, or
//                        memory that other requests have reserved; retry later
//   UNAVAILABLE          not reachable, or serving nothing at present; retry
//   DEADLINE_EXCEEDED    no answer in time; a push may have been applied: send
//                        the same batch again
//   ABORTED              a push for a step: the job holds before this step.
//                        Nothing of the push is kept; after the hold the same
//                        push may be sent again
//   UNAUTHENTICATED      wrong token
class ParameterService {
 public:
  virtual ~ParameterService() = default;

  // A row is never torn; rows of one pull may come from different versions.
  virtual void Pull(PullRequest request, absl::Duration timeout,
                    Done<PullReply> done) = 0;

  // Applies the push whole or not at all, and once however often it is sent. A
  // shard knows a batch if it has marked the batch or is applying it. What it
  // does with a push depends on the batches:
  //   none is known                     applies the push and marks all batches
  //   all are marked                    a repeat, answered with the first
  //                                     verdicts; changes nothing
  //   all are in one push that is       waits for its verdict, and then is a
  //   being applied                     repeat
  //   all are known in another way      UNAVAILABLE: soon all are marked
  //   some are known and others not     FAILED_PRECONDITION, for ever
  //   all are marked, but with other    FAILED_PRECONDITION, for ever
  //   verdicts than a reply can say
  // The last two cannot happen to one batch alone, and change nothing. The
  // gradient is a sum, from which the part of a known batch cannot be taken. If
  // it were applied, that batch would count twice; if it were answered as a
  // repeat, the unknown batch would be lost. Ranks that agree on a step send
  // the same list, with the same batches rejected, however often it is sent;
  // the shard marks all of it or nothing. After a failure, batches without all
  // their marks are dealt anew: a step must then hold only batches that a shard
  // knows, or only batches that it does not know.
  virtual void Push(PushRequest request, absl::Duration timeout,
                    Done<PushReply> done) = 0;

  virtual void Stats(StatsRequest request, absl::Duration timeout,
                     Done<StatsReply> done) = 0;
};

}  // namespace shoal

#endif  // SHOAL_CORE_PARAMETER_SERVICE_H_
