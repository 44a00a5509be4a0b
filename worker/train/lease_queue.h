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

// A lease of which batches are read, or on their way.
struct OpenLease {
  enum class State {
    kReady,    // to be read further
    kReading,  // a batch is on its way
    kRead,     // to its end
    kFailed,   // and not to be read any further
  };

  Lease lease;
  // The hold of the worker (StepPipeline::hold) in which the lease came, and
  // for which it need not wait; 0: none.
  uint64_t hold = 0;
  std::unique_ptr<BatchSource> source;  // nullptr once it is read
  std::optional<ScoreSender> scores;    // of an evaluation
  uint64_t examples = 0;                // of the piece, once it is read
  State state = State::kReady;
  int batches_ahead = 0;  // read and not yet computed
  int batches_out = 0;    // read and not yet ended

  bool evaluates() const { return lease.purpose != LeasePurpose::kTrain; }
};

// The leases of one worker life, one after the other (those of a hold first),
// and what the coordinator hears of them: asks for a lease whenever the last
// one is read, delivers its batches in order, and reports each piece that was
// read, each lease that is done and each that failed. Says of each training
// lease when its last batch is computed. Owned by the strand.
class LeaseQueue {
 public:
  using OpenSource =
      absl::AnyInvocable<absl::StatusOr<std::unique_ptr<BatchSource>>(
          const Lease&)>;
  using Send = absl::AnyInvocable<void(ProcessMessage)>;
  // A batch of the lease, or nothing where its end or an error was met.
  using Taker = absl::AnyInvocable<void(std::shared_ptr<OpenLease>,
                                        std::optional<Batch>)>;

  // All batches of a training lease that were read are computed, and no other
  // comes. Called once a lease, before its LeaseDone.
  using LastComputed = absl::AnyInvocable<void(const Lease&)>;

  // `open_source` is called on the strand. It and the strand outlive the queue.
  LeaseQueue(ScoreSenderOptions scores, OpenSource* open_source,
             Executor* strand, Send send, LastComputed last_computed)
      : scores_(scores),
        open_source_(open_source),
        strand_(strand),
        send_(std::move(send)),
        last_computed_(std::move(last_computed)) {}

  // Asks for a lease, unless one was asked for that has not come.
  void Request();
  // A lease that comes in a hold goes before the others, and was not asked for.
  void Add(Lease lease, uint64_t hold = 0);
  // The lease that is to be read next, or nullptr.
  const OpenLease* next() const {
    return leases_.empty() ? nullptr : leases_.front().get();
  }

  // Reads a batch of next() for `take`, which runs later, on the strand; does
  // nothing where one is being read, or where there is no lease. `take` keeps
  // the queue alive until it has run or is dropped.
  void ReadNext(Taker take);

  // Takes the scores (B × C) of a batch of an evaluation; sends what is due.
  void AddScores(OpenLease* lease, uint32_t batch,
                 absl::Span<const float> logits,
                 absl::Span<const uint8_t> labels);

  // A batch of this lease that was taken is computed.
  void OnComputed(OpenLease* lease);
  // A batch that was taken is through. Gives back its memory, and ends its
  // lease with the last of them.
  void EndBatch(std::shared_ptr<OpenLease> lease, Batch batch);

  // Delivers no further batch and asks for no further lease.
  void Stop() { stopped_ = true; }
  // The life is over: lets go of what is being read, and sends nothing more.
  void Abandon();

  // What the coordinator is to hear, in order with what the queue says.
  void Tell(ProcessMessage message) { send_(std::move(message)); }

 private:
  void OnRead(const std::shared_ptr<OpenLease>& lease,
              absl::StatusOr<std::optional<Batch>> read, Taker take);
  void StopReading(const std::shared_ptr<OpenLease>& lease);
  void EndComputingIfDone(OpenLease* lease);
  void EndLeaseIfDone(OpenLease* lease);

  const ScoreSenderOptions scores_;
  OpenSource* const open_source_;
  Executor* const strand_;
  Send send_;
  LastComputed last_computed_;
  bool requested_ = false;
  bool stopped_ = false;
  std::deque<std::shared_ptr<OpenLease>> leases_;  // not read to their ends
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_LEASE_QUEUE_H_
