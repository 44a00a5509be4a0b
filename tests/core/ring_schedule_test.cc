#include "core/ring_schedule.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

// The order in which the ranks' values were added to an element: a list of
// ranks. A value that replaces another brings its list.
using Order = std::vector<int>;

struct Ring {
  Reduction reduction;
  int size;
  uint64_t length;
  uint64_t chunk;
};

// Plays the schedules of all ranks against each other. Fails the test if the
// ranks block each other, or if two ends of a link do not agree. Returns the
// order of the additions for each rank and element.
std::vector<std::vector<Order>> Play(const Ring& ring) {
  const int n = ring.size;
  std::vector<std::vector<Order>> values(n);
  std::vector<RingSchedule> schedules;
  for (int r = 0; r < n; ++r) {
    values[r].assign(ring.length, Order{r});
    schedules.emplace_back(ring.reduction, n, r, ring.length, ring.chunk);
  }
  std::vector<uint64_t> sent(n), received(n);
  bool moved = true;
  while (moved) {
    moved = false;
    for (int r = 0; r < n; ++r) {
      const int next = (r + 1) % n;
      if (sent[r] == schedules[r].sends()) continue;
      if (schedules[r].Needs(sent[r]) > received[r]) continue;
      const RingTransfer transfer = schedules[r].Send(sent[r]);
      EXPECT_EQ(transfer, schedules[next].Receive(received[next]));
      EXPECT_LE(transfer.begin + transfer.length, ring.length);
      EXPECT_LE(transfer.length, ring.chunk);
      for (uint64_t e = transfer.begin;
           e < transfer.begin + transfer.length; ++e) {
        Order come = values[r][e];
        if (transfer.reduce) {
          come.insert(come.end(), values[next][e].begin(),
                      values[next][e].end());
        }
        values[next][e] = come;
      }
      ++sent[r];
      ++received[next];
      moved = true;
    }
  }
  for (int r = 0; r < n; ++r) {
    EXPECT_EQ(sent[r], schedules[r].sends()) << "rank " << r << " is blocked";
    EXPECT_EQ(received[r], schedules[r].receives());
  }
  return values;
}

uint64_t BytesSent(const Ring& ring, int rank) {
  const RingSchedule schedule(ring.reduction, ring.size, rank, ring.length,
                              ring.chunk);
  uint64_t elements = 0;
  for (uint64_t i = 0; i < schedule.sends(); ++i) {
    elements += schedule.Send(i).length;
  }
  return elements * sizeof(float);
}

std::vector<Ring> SmallRings(Reduction reduction) {
  std::vector<Ring> rings;
  for (int n = 1; n <= 7; ++n) {
    const uint64_t ranks = static_cast<uint64_t>(n);
    for (const uint64_t length :
         {uint64_t{0}, uint64_t{1}, ranks - 1, ranks, ranks + 1, uint64_t{2},
          uint64_t{31}, uint64_t{101}, uint64_t{128}}) {
      for (const uint64_t chunk : {1, 5, 1000}) {
        rings.push_back({reduction, n, length, chunk});
      }
    }
  }
  return rings;
}

std::string NameOf(const Ring& ring) {
  return absl::StrCat(ring.size, " ranks, ", ring.length, " elements, chunk ",
                      ring.chunk);
}

TEST(RingScheduleTest, RankOrderAddsInTheOrderOfTheRanksEverywhere) {
  for (const Ring& ring : SmallRings(Reduction::kRankOrder)) {
    SCOPED_TRACE(NameOf(ring));
    Order expected;
    for (int r = 0; r < ring.size; ++r) expected.push_back(r);
    for (const std::vector<Order>& rank : Play(ring)) {
      for (const Order& order : rank) EXPECT_EQ(order, expected);
    }
  }
}

TEST(RingScheduleTest, FastAddsEachSegmentFromItsOwnRankOn) {
  for (const Ring& ring : SmallRings(Reduction::kFast)) {
    SCOPED_TRACE(NameOf(ring));
    const std::vector<std::vector<Order>> values = Play(ring);
    uint64_t covered = 0;
    for (const SummedRange& range :
         SumOrder(Reduction::kFast, ring.size, ring.length)) {
      EXPECT_EQ(range.begin, covered);
      covered += range.length;
      Order expected;
      for (int i = 0; i < ring.size; ++i) {
        expected.push_back((range.first + i) % ring.size);
      }
      for (const std::vector<Order>& rank : values) {
        for (uint64_t e = range.begin; e < covered; ++e) {
          EXPECT_EQ(rank[e], expected) << "element " << e;
        }
      }
    }
    EXPECT_EQ(covered, ring.length);
  }
}

TEST(RingScheduleTest, SumOrderOfRankOrderIsOneRangeFromRankZero) {
  const std::vector<SummedRange> order =
      SumOrder(Reduction::kRankOrder, 5, 17);
  ASSERT_EQ(order.size(), 1u);
  EXPECT_EQ(order[0].begin, 0u);
  EXPECT_EQ(order[0].length, 17u);
  EXPECT_EQ(order[0].first, 0);
}

TEST(RingScheduleTest, AFastRankSendsTwoTimesAllButItsShareOfTheBytes) {
  for (int n = 2; n <= 7; ++n) {
    const uint64_t ranks = static_cast<uint64_t>(n);
    const Ring whole = {Reduction::kFast, n, 840 * ranks, 64};
    const Ring uneven = {Reduction::kFast, n, 840 * ranks + n / 2, 64};
    for (int r = 0; r < n; ++r) {
      // 2 (N - 1) / N of D = 4 x 840 N bytes.
      EXPECT_EQ(BytesSent(whole, r), 2 * (ranks - 1) * 840 * sizeof(float));
      EXPECT_LE(BytesSent(uneven, r), 2 * (ranks - 1) * 841 * sizeof(float));
    }
  }
}

TEST(RingScheduleTest, ARankOrderRankSendsAtMostHalfMore) {
  for (int n = 2; n <= 7; ++n) {
    const uint64_t length = 840 * static_cast<uint64_t>(n);
    uint64_t most = 0;
    for (int r = 0; r < n; ++r) {
      const Ring ring = {Reduction::kRankOrder, n, length, 64};
      most = std::max(most, BytesSent(ring, r));
    }
    const uint64_t fast = BytesSent({Reduction::kFast, n, length, 64}, 0);
    EXPECT_LE(2 * most, 3 * fast) << n;
    EXPECT_EQ(most, (n == 2 ? 1 : 2) * length * sizeof(float)) << n;
  }
}

// A range is written only after the rank has sent the same range for the last
// time before it: a rank that is late with its sends would otherwise send what
// came.
TEST(RingScheduleTest, NothingIsOverwrittenBeforeItWasSent) {
  for (const Reduction reduction : {Reduction::kFast, Reduction::kRankOrder}) {
    for (int n = 2; n <= 7; ++n) {
      const uint64_t length = 61;
      for (int r = 0; r < n; ++r) {
        const RingSchedule mine(reduction, n, r, length, 4);
        // A receive can come once the rank before may send it, which needs
        // receives of that rank, and so on back to sends of this rank: walk
        // back over the ring.
        for (uint64_t i = 0; i < mine.receives(); ++i) {
          int rank = r;
          uint64_t receive = i;
          uint64_t own_sends = 0;
          while (true) {
            rank = (rank + n - 1) % n;
            const RingSchedule before(reduction, n, rank, length, 4);
            if (rank == r) {
              own_sends = receive + 1;
              break;
            }
            const uint64_t needs = before.Needs(receive);
            if (needs == 0) break;
            receive = needs - 1;
          }
          const RingTransfer come = mine.Receive(i);
          if (come.reduce || come.length == 0) continue;
          bool sent = false;
          bool there = false;
          for (uint64_t s = 0; s < mine.sends(); ++s) {
            const RingTransfer send = mine.Send(s);
            if (!send.reduce || send.length == 0) continue;
            if (send.begin != come.begin) continue;
            there = true;
            sent |= s < own_sends;
          }
          EXPECT_TRUE(sent || !there)
              << n << " ranks, rank " << r << ", receive " << i;
        }
      }
    }
  }
}

TEST(RingScheduleTest, LengthsBeyondTwoToThe31Elements) {
  const uint64_t length = (uint64_t{1} << 31) + 3;
  for (const Reduction reduction : {Reduction::kFast, Reduction::kRankOrder}) {
    for (const int n : {2, 3, 7}) {
      std::vector<RingSchedule> schedules;
      for (int r = 0; r < n; ++r) {
        schedules.emplace_back(reduction, n, r, length, 1 << 16);
      }
      for (int r = 0; r < n; ++r) {
        uint64_t elements = 0;
        uint64_t furthest = 0;
        for (uint64_t i = 0; i < schedules[r].sends(); ++i) {
          const RingTransfer transfer = schedules[r].Send(i);
          elements += transfer.length;
          furthest = std::max(furthest, transfer.begin + transfer.length);
          ASSERT_LE(transfer.begin + transfer.length, length);
          ASSERT_LE(schedules[r].Needs(i), schedules[r].receives());
        }
        if (reduction == Reduction::kFast) {
          const uint64_t share = length / static_cast<uint64_t>(n);
          EXPECT_GE(elements, 2 * (n - 1) * share);
          EXPECT_LE(elements, 2 * (n - 1) * (share + 1));
        } else {
          EXPECT_LE(elements, 2 * length);
        }
        EXPECT_EQ(furthest, length) << n << " ranks, rank " << r;
      }
    }
  }
}

}  // namespace
}  // namespace shoal
