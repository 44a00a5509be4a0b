#ifndef SHOAL_CORE_RING_SCHEDULE_H_
#define SHOAL_CORE_RING_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "core/reduction.h"

namespace shoal {

// A range of elements that rank r sends to rank r + 1.
struct RingTransfer {
  uint64_t begin = 0;   // elements
  uint64_t length = 0;  // elements; 0: nothing is sent
  // True: the receiver adds its own values to those that come. False: the
  // values that come replace the receiver's.
  bool reduce = false;

  friend bool operator==(const RingTransfer&, const RingTransfer&) = default;
};

// Who sends which elements when in an AllReduce over a ring of ranks, where
// each rank r sends to rank r + 1 (modulo the size) and to no other rank. The
// schedule is a function of its arguments: both ends of a link compute it, so
// nothing of it is sent.
//
//   RingSchedule schedule(Reduction::kFast, /*size=*/4, /*rank=*/1, n, chunk);
//   for (uint64_t i = 0; i < schedule.sends(); ++i) {
//     // wait until the first schedule.Needs(i) receives are complete
//     Send(schedule.Send(i));
//   }
//
// kFast: N - 1 phases of reduce-scatter, then N - 1 phases of allgather
// (Patarasuk and Yuan 2009). In phase t of the first part rank r sends segment
// r - t, in phase q of the second part segment r + 1 - q, all modulo N.
// kRankOrder: partial sums go 0, 1, ..., N - 1; the sums then go N - 1, 0, 1,
// ..., N - 2. In both, a segment is cut into chunks, so that a rank passes on a
// chunk while the next chunk arrives.
//
// Transfers of one link are sent in their order. A range is received only after
// the same range was sent for the last time before it, so one array is enough.
class RingSchedule {
 public:
  // `length` and `chunk` are numbers of elements. REQUIRES: size > 0, 0 <= rank
  // < size, chunk > 0.
  RingSchedule(Reduction reduction, int size, int rank, uint64_t length,
               uint64_t chunk);

  // The number of transfers to the next rank, and from the rank before.
  uint64_t sends() const { return SendsOf(rank_); }
  uint64_t receives() const { return SendsOf(Before(rank_)); }

  // REQUIRES: i < sends().
  RingTransfer Send(uint64_t i) const { return SendOf(rank_, i); }
  // REQUIRES: i < receives().
  RingTransfer Receive(uint64_t i) const { return SendOf(Before(rank_), i); }

  // The number of receives that are complete before send i may begin. Grows
  // with i. REQUIRES: i < sends().
  uint64_t Needs(uint64_t i) const;

 private:
  int Before(int rank) const { return rank == 0 ? size_ - 1 : rank - 1; }
  uint64_t SendsOf(int rank) const;
  RingTransfer SendOf(int rank, uint64_t i) const;

  const Reduction reduction_;
  const int size_;
  const int rank_;
  const uint64_t length_;
  const uint64_t chunk_;
  uint64_t chunks_;  // of a segment; of all elements with kRankOrder
};

// Elements whose values are added in the order of the ranks first, first + 1,
// ..., first + N - 1, all modulo N.
struct SummedRange {
  uint64_t begin = 0;
  uint64_t length = 0;
  int first = 0;
};

// The order of the additions of an AllReduce of `length` elements, for
// implementations that do not send: ranges that cover all elements, in order.
// REQUIRES: size > 0.
std::vector<SummedRange> SumOrder(Reduction reduction, int size,
                                  uint64_t length);

}  // namespace shoal

#endif  // SHOAL_CORE_RING_SCHEDULE_H_
