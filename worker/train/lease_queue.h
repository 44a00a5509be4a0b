#ifndef SHOAL_WORKER_TRAIN_LEASE_QUEUE_H_
#define SHOAL_WORKER_TRAIN_LEASE_QUEUE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "core/lease.h"
#include "core/session_messages.h"
#include "worker/data/batch_source.h"
#include "worker/train/score_sender.h"

namespace shoal {

// A lease that has batches to read, or batches that have not ended.
struct OpenLease {
  enum class State {
    kReady,    // has more to read
    kReading,  // a batch is being read
    kRead,     // read to its end
    kDone,     // the coordinator was told so
    kFailed,   // an error ended the reading
  };

  Lease lease;
  // The worker's hold (StepPipeline::hold) during which the lease came. The
  // lease's batches do not wait for the end of this hold. 0 if there was no
  // hold.
  uint64_t hold = 0;
  std::unique_ptr<BatchSource> source;  // nullptr when it is read
  std::optional<ScoreSender> scores;    // only for an evaluation
  uint64_t examples = 0;                // in the piece, once it is read
  State state = State::kReady;
  int batches_ahead = 0;  // read and not yet computed
  int batches_out = 0;    // read and not yet ended
  bool computed = false;  // all batches are computed, and no other follows
  bool asked_next = false;  // for the lease after this one

  bool evaluates() const { return lease.purpose != LeasePurpose::kTrain; }
};

// The leases of one worker life. The queue reads them one after another, leases
// of a hold first, and delivers their batches in order. It requests a new lease
// when all batches of the last one are in memory (BatchSource::all_read), or
// have been taken: a piece has its first batch only when a window of its rows
// is parsed, which then happens while the last batches of the piece before are
// trained. It reports to the coordinator each piece that was read,
// each lease that is done and each lease that failed. It calls LastComputed
// when the last batch of a training lease is computed. A lease without batches
// (Lease::empty) is done with the leases before it, and its piece is neither
// read nor reported. Owned by the strand.
class LeaseQueue {
 public:
  using OpenSource =
      absl::AnyInvocable<absl::StatusOr<std::unique_ptr<BatchSource>>(
          const Lease&)>;
  using Send = absl::AnyInvocable<void(ProcessMessage)>;
  // Takes a batch of the lease, or nullopt at the lease's end or after an
  // error.
  using Taker = absl::AnyInvocable<void(std::shared_ptr<OpenLease>,
                                        std::optional<Batch>)>;

  // Called once for each training lease, before its LeaseDone, when all batches
  // that were read are computed and no other follows. The calls for leases that
  // did not come during a hold are in the order of the leases, also if a lease
  // has no batch.
  using LastComputed = absl::AnyInvocable<void(const Lease&)>;

  // `open_source` is called on the strand. `open_source` and `strand` must
  // outlive the queue.
  LeaseQueue(ScoreSenderOptions scores, OpenSource* open_source,
             Executor* strand, Send send, LastComputed last_computed)
      : scores_(scores),
        open_source_(open_source),
        strand_(strand),
        send_(std::move(send)),
        last_computed_(std::move(last_computed)) {}

  // Requests a lease, unless a requested lease has not come yet.
  void Request();
  // Adds a lease. If `hold` is not 0, the lease came during a hold: it goes
  // before the others, and does not count as the requested lease.
  void Add(Lease lease, uint64_t hold = 0);
  // The lease to read next, or nullptr.
  const OpenLease* next() const {
    return leases_.empty() ? nullptr : leases_.front().get();
  }

  // Reads a batch of next() for `take`, which runs later, on the strand. Does
  // nothing if a batch is being read, or if there is no lease. `take` must keep
  // the queue alive until `take` has run or is dropped.
  void ReadNext(Taker take);

  // Takes the scores (B × C) of a batch of an evaluation, and sends the
  // messages that are due.
  void AddScores(OpenLease* lease, uint32_t batch,
                 absl::Span<const float> logits,
                 absl::Span<const uint8_t> labels);

  // Tells the queue that a batch of this lease is computed.
  void OnComputed(OpenLease* lease);
  // Tells the queue that a batch has ended. Reuses the batch's memory, and ends
  // the lease with its last batch.
  void EndBatch(std::shared_ptr<OpenLease> lease, Batch batch);

  // After this call the queue delivers no batch and requests no lease.
  void Stop() { stopped_ = true; }
  // Ends the life: drops the batches that are being read, and sends nothing
  // more.
  void Abandon();

  // Sends `message` to the coordinator, in order with the queue's own messages.
  void Tell(ProcessMessage message) { send_(std::move(message)); }

 private:
  void OnRead(const std::shared_ptr<OpenLease>& lease,
              absl::StatusOr<std::optional<Batch>> read, Taker take);
  void StopReading(const std::shared_ptr<OpenLease>& lease);
  // Requests the lease after this one, once.
  void RequestAfter(OpenLease* lease);
  void EndComputingIfDone(OpenLease* lease);
  // Calls LastComputed for all leases whose turn it is.
  void TellComputed();
  void EndLeaseIfDone(OpenLease* lease);

  const ScoreSenderOptions scores_;
  OpenSource* const open_source_;
  Executor* const strand_;
  Send send_;
  LastComputed last_computed_;
  bool requested_ = false;
  bool stopped_ = false;
  std::deque<std::shared_ptr<OpenLease>> leases_;  // leases that are not read
                                                   // to their ends
  // Training leases that did not come during a hold, until LastComputed.
  std::deque<std::shared_ptr<OpenLease>> uncomputed_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_LEASE_QUEUE_H_
