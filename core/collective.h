#ifndef SHOAL_CORE_COLLECTIVE_H_
#define SHOAL_CORE_COLLECTIVE_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/done.h"
#include "core/gathered_parts.h"

namespace shoal {

// What names an operation. All ranks give the same tag to the same operation.
struct CollectiveTag {
  uint64_t step = 0;   // the job's step
  uint32_t index = 0;  // of the operation in its step
  // For people, such as "dense/2". Errors name it. At most 128 bytes count.
  std::string name;
};

// The success of an operation; its results are in the caller's memory.
struct CollectiveReply {};

// SEAM: operations that all ranks of one generation of a job take part in. One
// object is one rank's end. Implementations: LocalCollective for ranks of one
// process (worker/collective), and TcpRing (rpc). Which rank this is of how
// many, the generation and the order of additions are options of the
// implementation.
//
//   collective.AllReduce({.step = s, .index = 0, .name = "dense/0"},
//                        absl::MakeSpan(gradient), absl::Seconds(10),
//                        [](absl::StatusOr<CollectiveReply> reply) { … });
//
// Order: every rank makes the same calls in the same order. The n-th call of
// one rank belongs to the n-th call of every other rank, and calls complete in
// their order. Any number of calls may be queued; the limit of an
// implementation is at least 4,096.
//
// Ownership: every span, and `parts`, belongs to the caller and stays valid and
// unmoved until `done` runs; outputs are undefined if the call failed. A rank's
// calls in flight do not share memory that one of them writes. Thread-safe, but
// calls of several threads have no order of their own. `done` runs exactly
// once, on the executor given to the implementation, never inside the call.
// A call ends after `timeout` (DEADLINE_EXCEEDED) at the latest, unless that is
// infinite; nothing touches the spans after that. Destroying the object ends
// calls that are still queued (CANCELLED).
//
// Agreement: what the ranks say about an operation is compared (tag, kind, type
// of the elements, length, root, generation). Where two ranks differ, the
// operation fails on every rank, and the next operation works.
//
// Errors
//   FAILED_PRECONDITION  two ranks do not agree on the operation; the message
//                        has what each of them says. Only this operation fails
//   INVALID_ARGUMENT     the root is not a rank. Only this operation fails
//   OUT_OF_RANGE         a part of an AllGather is larger than the
//                        implementation's limit; the rank is named. Only this
//                        operation fails
//   RESOURCE_EXHAUSTED   too many calls are queued. This call is no operation,
//                        so the ranks are no longer in step: end the job
//   DEADLINE_EXCEEDED    no result in time; the message names the rank that is
//                        waited for. All other operations end with UNAVAILABLE,
//                        on all ranks, and so do all later ones: ranks that
//                        have parts of an operation cannot go on together. Make
//                        a collective of the next generation
//   UNAVAILABLE          a rank is lost, has left or gave up an operation; it
//                        is named. This is so for all later operations too
//   ABORTED              the ranks could not be connected with each other. The
//                        message names the addresses. So do all later
//                        operations
//   CANCELLED            this object was destroyed
class Collective {
 public:
  virtual ~Collective() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Sums `values` over the ranks, element by element, in place. All ranks get
  // the same bits, in every repeat, which depend on the implementation's
  // Reduction (core/reduction.h). All ranks have the same length, which may be
  // 0.
  virtual void AllReduce(CollectiveTag tag, absl::Span<float> values,
                         absl::Duration timeout,
                         Done<CollectiveReply> done) = 0;

  // Brings the `bytes` of every rank to every rank. Lengths are arbitrary and
  // may differ. `parts` is written.
  virtual void AllGather(CollectiveTag tag, absl::Span<const char> bytes,
                         GatheredParts* parts, absl::Duration timeout,
                         Done<CollectiveReply> done) = 0;

  // Copies the `bytes` of rank `root` to every rank. All ranks have the same
  // length, which may be 0.
  virtual void Broadcast(CollectiveTag tag, int root, absl::Span<char> bytes,
                         absl::Duration timeout,
                         Done<CollectiveReply> done) = 0;
};

}  // namespace shoal

#endif  // SHOAL_CORE_COLLECTIVE_H_
