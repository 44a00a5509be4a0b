#ifndef SHOAL_WORKER_TRAIN_RING_ROUND_H_
#define SHOAL_WORKER_TRAIN_RING_ROUND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/collective.h"
#include "core/done.h"
#include "core/gathered_parts.h"
#include "core/model_spec.h"
#include "core/pushed_batch.h"
#include "core/row_merge.h"
#include "models/model.h"
#include "worker/client/sharded_client.h"
#include "worker/train/gradient_buckets.h"
#include "worker/train/rank_part.h"
#include "worker/train/step_memory.h"

namespace shoal {

struct RingRoundOptions {
  ModelSpec model;  // the model's variables, without the canaries
  // Bytes of the dense gradient that are summed at once. Larger: fewer
  // operations, and less of the sum is done beside the backward pass.
  uint64_t bucket_bytes = 512 << 10;
  // The longest time of one operation, in which the rank also waits for ranks
  // that are slower. Infinite: only the job's progress deadline judges that.
  absl::Duration timeout = absl::InfiniteDuration();
  // A rank for people, in errors: "worker 2".
  std::function<std::string(int rank)> name;
};

// "rank 2" if there is no other name.
std::string NameOfRank(const RingRoundOptions& options, int rank);

// What all ranks know after a round. It is the same on every rank.
struct RingOutcome {
  // True: the round is a step of the job, because each rank brought a batch or
  // has ended its lane. False: a rank could do neither; nothing comes of the
  // round, and ranks that brought a batch bring it again.
  bool step = false;
  // True if every rank has ended its lane: the epoch has no further step.
  bool lanes_ended = false;
  // The highest number of a Hold that a rank has told; 0: none. All ranks that
  // know no Resume for it stop after this round.
  uint64_t hold = 0;
  // The batches of the step in the order of the ranks, which pass
  // CheckPushedBatches, and its gradient, unless all of them are rejected; null
  // if no rank brought a batch. Its memory is that of the round after the next
  // one: it is valid until the Begin after the next.
  std::shared_ptr<StepMemory> made;
};

// One rank's side of the rounds of `--mode=ring`. In a round the ranks sum
// their dense gradients, bucket by bucket (AllReduce), and then tell each other
// their parts (one AllGather of rank_part.h): what all must agree on, and the
// gradients of the rows. From this every rank makes the same gradient of the
// step, by the arithmetic of core/gradient_sum.h: the rows of the ranks merged
// in rank order, and one division by the examples of the batches that are not
// rejected. With Reduction::kRankOrder its bits are those of a serial loop over
// the ranks.
//
//   round->Begin();
//   output.on_final = [&](DenseRange r) { round->OnFinal(r, d_dense); };
//   model->ForwardBackward(input, &output);      // optional: sums meanwhile
//   round->End(part, d_dense, [&](absl::StatusOr<RingOutcome> outcome) {
//     if (outcome->made != nullptr) Push(*outcome->made);
//   });
//
// A rank without a batch, or with a rejected one, adds kAddsNothing. If a
// batch turns out to be rejected when part of its gradient is summed already,
// its rank says so in its part (RankPart::tainted), and all ranks sum the dense
// gradients again without it.
//
// The operations of round r have step r in their tags, and all ranks make the
// same ones in the same order: one for each bucket, one for the parts, in a
// round that sums again one for each bucket, and one if the step is confirmed
// (Confirm). So all ranks must do the same rounds.
//
// The variables of RingRoundOptions::model are those that the ranks share. In
// `--mode=hybrid` they are the dense ones alone: the model has no tables, and
// the parts no rows.
//
// Errors of End: those of the Collective; DATA_LOSS and FAILED_PRECONDITION of
// DecodeRankPart, which name the rank; FAILED_PRECONDITION if two ranks bring
// the same batch. UNAVAILABLE is a lost rank; all others end the job.
//
// Owned by one strand, which is the Collective's executor. Held by shared_ptr:
// operations in flight keep the memory that they write.
class RingRound : public std::enable_shared_from_this<RingRound> {
 public:
  // The executor of `collective` is the strand.
  RingRound(RingRoundOptions options, std::unique_ptr<Collective> collective);

  // Begins the next round, which writes into the memory of the step of the
  // round before the last one (RingOutcome::made). The last one has shown that
  // all ranks have that step, since a rank begins a round only when its replica
  // has the steps before. REQUIRES: no round is between Begin and the `done` of
  // End.
  void Begin();
  // Elements of the rank's dense gradient are final: sums all buckets that are.
  // `d_dense` is the whole gradient, and is read during the call.
  void OnFinal(DenseRange range, absl::Span<const float> d_dense);
  // Sums the other buckets and tells `part`; its `tainted` is set here. The
  // memory of `part.tables` is read during the call; `d_dense`, the gradient of
  // part.batch or empty without one, until `done` has run. `done` runs on the
  // strand, never inside the call.
  void End(RankPart part, absl::Span<const float> d_dense,
           Done<RingOutcome> done);

  // Runs `done` on the strand, never inside the call, when all ranks have
  // called this after the same round. Errors: those of the Collective.
  // REQUIRES: `done` of End has run with a step.
  void Confirm(absl::AnyInvocable<void(absl::Status) &&> done);

  // Leaves the ranks: the operations in flight end, and `done` of the round is
  // dropped. Only the other ranks' rounds fail. No call follows. From then on
  // no memory of a step is written.
  void Cancel();

  // The number of the present or last round, from 1; 0: none yet.
  uint64_t round() const { return round_; }
  size_t buckets() const { return buckets_.buckets().size(); }
  // The ranks' collective; null after Cancel.
  Collective* collective() { return collective_.get(); }

 private:
  // Adds `own`, or nothing if it is empty, to the sum of a bucket.
  void Sum(size_t bucket, absl::Span<const float> own);
  void OnSummed(const absl::Status& status);
  void OnGathered(const absl::Status& status);
  // Reads the parts of all ranks, and works out the outcome.
  absl::Status ReadParts();
  // Makes the gradient of the step, and ends the round.
  void Complete();
  void Merge(uint64_t examples);

  const RingRoundOptions options_;
  std::unique_ptr<Collective> collective_;  // null after Cancel
  std::vector<int> row_dims_;  // of the tables
  FinalBuckets buckets_;
  // The present round.
  uint64_t round_ = 0;   // its number, from 1
  uint32_t index_ = 0;   // of its next operation
  size_t summing_ = 0;   // sums in flight
  bool again_ = false;   // the dense gradients are summed again
  absl::Status status_;  // the first error
  absl::Span<const float> own_;  // what this rank adds; empty: nothing
  AlignedBuffer<char> sent_;     // this rank's part
  GatheredParts received_;
  GatheredParts confirmed_;
  std::vector<RankPart> parts_;  // by rank; they refer to received_
  RingOutcome outcome_;
  Done<RingOutcome> done_;
  std::vector<RowMerge> merges_;  // by table
  // Of the rounds with odd and even numbers; the one of the present round.
  std::shared_ptr<StepMemory> memory_[2];
  std::shared_ptr<StepMemory> made_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_RING_ROUND_H_
