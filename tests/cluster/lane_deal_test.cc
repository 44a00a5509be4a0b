#include "cluster/lane_deal.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/piece_order.h"
#include "core/ids.h"
#include "core/lease.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Steps = std::vector<std::vector<BatchId>>;  // by step, in rank order

LanePart Whole(uint32_t piece, bool last = false) {
  return {.piece = piece, .last = last};
}
LanePart ByBatch(uint32_t piece, uint32_t n, uint32_t lane, bool last = false) {
  return {.piece = piece, .stride = n, .offset = lane, .last = last};
}

// An epoch: its pieces, with their numbers of batches, and what is trained.
struct Epoch {
  PiecesToDeal pieces;
  std::vector<uint32_t> batches;  // by piece
  std::vector<PieceTrained> trained;
  std::vector<int> ranks;  // host of each

  uint32_t size() const { return static_cast<uint32_t>(batches.size()); }

  // The lease that a rank gets for its part, and the batches that the worker
  // then trains, as worker/data/piece_reader.cc finds them.
  std::vector<BatchId> BatchesOf(const LanePart& part) const {
    Lease lease;
    lease.piece.index = part.piece;
    lease.stride = part.stride;
    lease.offset = part.offset;
    lease.last_of_lane = part.last;
    lease.skip = trained[part.piece].batches;
    if (lease.skip.size() < part.skip.size()) {
      lease.skip.resize(part.skip.size());
    }
    for (size_t i = 0; i < part.skip.size(); ++i) lease.skip[i] |= part.skip[i];
    std::vector<BatchId> batches_of;
    for (uint32_t i = 0; i < batches[part.piece]; ++i) {
      if (!lease.Skips(i)) batches_of.push_back({0, part.piece, i});
    }
    return batches_of;
  }
  std::vector<BatchId> LaneOf(const LaneDeal& deal, size_t rank) const {
    std::vector<BatchId> lane;
    for (const LanePart& part : deal.lane(rank)) {
      const std::vector<BatchId> more = BatchesOf(part);
      lane.insert(lane.end(), more.begin(), more.end());
    }
    return lane;
  }
  Steps StepsOf(const LaneDeal& deal) const {
    Steps steps;
    for (size_t rank = 0; rank < deal.num_lanes(); ++rank) {
      const std::vector<BatchId> lane = LaneOf(deal, rank);
      if (steps.size() < lane.size()) steps.resize(lane.size());
      for (size_t s = 0; s < lane.size(); ++s) steps[s].push_back(lane[s]);
    }
    return steps;
  }

  void Train(const BatchId& batch) {
    std::vector<uint8_t>& bits = trained[batch.piece].batches;
    if (bits.size() <= batch.index / 8) bits.resize(batch.index / 8 + 1);
    ASSERT_EQ(bits[batch.index / 8] >> (batch.index % 8) & 1, 0)
        << ToString(batch) << " is trained twice";
    bits[batch.index / 8] |= static_cast<uint8_t>(1 << (batch.index % 8));
  }
  // A rank has read the piece to its end.
  void Learn(uint32_t piece) {
    uint32_t count = 0;
    for (const uint8_t byte : trained[piece].batches) {
      count += static_cast<uint32_t>(__builtin_popcount(byte));
    }
    trained[piece].num_batches = batches[piece];
    if (count == batches[piece]) trained[piece] = {true, {}, count};
  }
  // Ranks have trained the first `steps` steps of this deal, of which nothing
  // was trained: what they have read to the end by then. A rank knows that its
  // lane has ended once the others do a step without it.
  std::set<uint32_t> ReadToTheEnd(const LaneDeal& deal, size_t steps) const {
    std::set<uint32_t> read;
    for (size_t rank = 0; rank < deal.num_lanes(); ++rank) {
      size_t before = 0;  // batches of the lane before the end of the part
      for (const LanePart& part : deal.lane(rank)) {
        if (part.offset < batches[part.piece]) {
          before += (batches[part.piece] - part.offset - 1) / part.stride + 1;
        }
        if (before < steps) read.insert(part.piece);
      }
    }
    return read;
  }
};

class LaneDealTest : public testing::Test {
 protected:
  uint32_t Draw(uint32_t below) {
    return static_cast<uint32_t>(random_() % below);
  }
  // Pieces without files that cannot be cut, each with the same batches.
  static Epoch Even(uint32_t pieces, uint32_t ranks, uint32_t batches = 4) {
    Epoch epoch;
    epoch.pieces.order = ListedPieces(pieces);
    epoch.batches.assign(pieces, batches);
    epoch.trained.resize(pieces);
    epoch.ranks.assign(ranks, 0);
    return epoch;
  }
  // Uneven pieces, empty ones among them, and files that cannot be cut.
  Epoch Random(uint32_t pieces, uint32_t ranks) {
    Epoch epoch = Even(pieces, ranks);
    epoch.pieces.order = ShuffledPieces(random_(), 0, pieces);
    for (uint32_t& batches : epoch.batches) batches = Draw(9);
    if (Draw(2) == 0) {
      epoch.pieces.uncut.resize(pieces);
      for (uint32_t p = 0; p < pieces; ++p) {
        epoch.pieces.uncut[p] = Draw(4) == 0;
        if (epoch.pieces.uncut[p]) epoch.batches[p] *= 5;
      }
    }
    if (Draw(3) == 0) {
      for (uint32_t p = 0; p < pieces; ++p) {
        epoch.pieces.hosts.push_back(static_cast<int>(Draw(ranks)));
      }
      std::set<int> hosts(epoch.pieces.hosts.begin(), epoch.pieces.hosts.end());
      for (int& host : epoch.ranks) {
        host = epoch.pieces.hosts.empty()
                   ? 0
                   : epoch.pieces.hosts[Draw(pieces)];
      }
      size_t next = 0;
      for (const int host : hosts) epoch.ranks[next++] = host;
    }
    return epoch;
  }
  static LaneDeal OfEpoch(const Epoch& epoch) {
    return *LaneDeal::OfEpoch(epoch.pieces, epoch.ranks);
  }
  static LaneDeal Again(const Epoch& epoch) {
    return *LaneDeal::Again(epoch.pieces, epoch.trained, epoch.ranks);
  }
  static LaneDeal Resumed(const Epoch& epoch) {
    return *LaneDeal::Resumed(epoch.pieces, epoch.trained, epoch.ranks);
  }

  // Every batch that is not trained is in one lane, whose rank can read it, and
  // the last part of each lane says so.
  void ExpectEachBatchOnce(const Epoch& epoch, const LaneDeal& deal) {
    std::map<BatchId, int> lanes;
    ASSERT_EQ(deal.num_lanes(), epoch.ranks.size());
    for (size_t rank = 0; rank < deal.num_lanes(); ++rank) {
      const std::vector<LanePart>& lane = deal.lane(rank);
      for (const LanePart& part : lane) {
        EXPECT_EQ(part.last, &part == &lane.back());
        EXPECT_LT(part.offset, part.stride);
        if (epoch.pieces.hosts.empty()) continue;
        EXPECT_EQ(epoch.pieces.hosts[part.piece], epoch.ranks[rank]);
      }
      for (const BatchId& batch : epoch.LaneOf(deal, rank)) ++lanes[batch];
    }
    for (uint32_t p = 0; p < epoch.size(); ++p) {
      const PieceTrained& trained = epoch.trained[p];
      for (uint32_t i = 0; i < epoch.batches[p]; ++i) {
        const bool done = trained.complete ||
                          (i / 8 < trained.batches.size() &&
                           (trained.batches[i / 8] >> (i % 8) & 1));
        EXPECT_EQ(lanes[(BatchId{0, p, i})], done ? 0 : 1)
            << ToString(BatchId{0, p, i});
      }
    }
  }

  std::mt19937_64 random_{1};
};

TEST_F(LaneDealTest, WholeRoundsOfPiecesAndThenByBatch) {
  const LaneDeal deal = OfEpoch(Even(5, 2));
  EXPECT_THAT(deal.lane(0),
              ElementsAre(Whole(0), Whole(2), ByBatch(4, 2, 0, true)));
  EXPECT_THAT(deal.lane(1),
              ElementsAre(Whole(1), Whole(3), ByBatch(4, 2, 1, true)));
  EXPECT_THAT(OfEpoch(Even(4, 2)).lane(1),
              ElementsAre(Whole(1), Whole(3, true)));
  EXPECT_THAT(OfEpoch(Even(3, 1)).lane(0),
              ElementsAre(Whole(0), Whole(1), Whole(2, true)));
}

TEST_F(LaneDealTest, FewerPiecesThanRanksAreDealtByBatch) {
  const Epoch epoch = Even(1, 3, 4);
  const LaneDeal deal = OfEpoch(epoch);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_THAT(deal.lane(rank), ElementsAre(ByBatch(0, 3, rank, true)));
  }
  EXPECT_THAT(epoch.StepsOf(deal),
              ElementsAre(ElementsAre(BatchId{0, 0, 0}, BatchId{0, 0, 1},
                                      BatchId{0, 0, 2}),
                          ElementsAre(BatchId{0, 0, 3})));
}

TEST_F(LaneDealTest, AFileThatCannotBeCutIsDealtByBatchInItsPlace) {
  Epoch epoch = Even(4, 2);
  epoch.pieces.uncut = {false, true, false, false};
  const LaneDeal deal = OfEpoch(epoch);
  EXPECT_THAT(deal.lane(0), ElementsAre(Whole(0), ByBatch(1, 2, 0),
                                        ByBatch(3, 2, 0, true)));
  EXPECT_THAT(deal.lane(1), ElementsAre(ByBatch(1, 2, 1), Whole(2),
                                        ByBatch(3, 2, 1, true)));
}

TEST_F(LaneDealTest, AHostsPiecesGoToItsRanks) {
  Epoch epoch = Even(6, 3);
  epoch.ranks = {7, 4, 7};
  epoch.pieces.hosts = {7, 4, 4, 7, 7, 7};
  const LaneDeal deal = OfEpoch(epoch);
  EXPECT_THAT(deal.lane(0), ElementsAre(Whole(0), Whole(4, true)));
  EXPECT_THAT(deal.lane(1), ElementsAre(Whole(1), Whole(2, true)));
  EXPECT_THAT(deal.lane(2), ElementsAre(Whole(3), Whole(5, true)));

  epoch.ranks = {7, 7, 7};
  const absl::Status status =
      LaneDeal::OfEpoch(epoch.pieces, epoch.ranks).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("piece 1 can be read on host 4"));
}

TEST_F(LaneDealTest, ALaneWithoutBatchesHasOnePartThatEndsIt) {
  Epoch epoch = Even(2, 3, 2);
  epoch.trained[0] = {true, {}, 2};
  epoch.trained[1] = {false, {0b01}, 2};
  LaneDeal deal = Again(epoch);
  EXPECT_EQ(epoch.LaneOf(deal, 0).size(), 1u);
  for (size_t rank = 1; rank < 3; ++rank) {
    ASSERT_EQ(deal.lane(rank).size(), 1u);
    EXPECT_TRUE(deal.lane(rank)[0].last);
    EXPECT_THAT(epoch.LaneOf(deal, rank), IsEmpty());
  }
  EXPECT_THAT(OfEpoch(Even(0, 2)).lane(0), IsEmpty()) << "nothing is dealt";
}

TEST_F(LaneDealTest, ARankThatCanReadNothingIsRefused) {
  Epoch epoch = Even(2, 2);
  epoch.ranks = {0, 1};
  epoch.pieces.hosts = {0, 0};
  const absl::Status status =
      LaneDeal::OfEpoch(epoch.pieces, epoch.ranks).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(),
              HasSubstr("host 1, which has rank 1, has no data of its own"));
}

TEST_F(LaneDealTest, EachBatchIsInOneLane) {
  for (uint32_t ranks = 1; ranks <= 7; ++ranks) {
    for (uint32_t pieces = 0; pieces <= 40; ++pieces) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << pieces);
      const Epoch epoch = Random(pieces, ranks);
      ExpectEachBatchOnce(epoch, OfEpoch(epoch));
      if (HasFailure()) return;
    }
  }
}

TEST_F(LaneDealTest, LanesOfEvenPiecesDifferByABatchAPieceThatIsDealtByBatch) {
  for (uint32_t ranks = 1; ranks <= 7; ++ranks) {
    for (uint32_t pieces = 0; pieces <= 40; ++pieces) {
      const Epoch epoch = Even(pieces, ranks, 8);
      const LaneDeal deal = OfEpoch(epoch);
      size_t least = ~size_t{0};
      size_t most = 0;
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        least = std::min(least, epoch.LaneOf(deal, rank).size());
        most = std::max(most, epoch.LaneOf(deal, rank).size());
      }
      EXPECT_LE(most - least, pieces % ranks);
    }
  }
}

// The lanes do not depend on which rank asks when.
TEST_F(LaneDealTest, TheOrderOfRequestsChangesNothing) {
  for (int round = 0; round < 200; ++round) {
    const Epoch epoch = Random(Draw(20), 1 + Draw(5));
    const LaneDeal expected = OfEpoch(epoch);
    LaneDeal deal = OfEpoch(epoch);
    std::vector<std::vector<LanePart>> lanes(epoch.ranks.size());
    std::vector<size_t> asking(epoch.ranks.size());
    for (size_t i = 0; i < asking.size(); ++i) asking[i] = i;
    while (!asking.empty()) {
      const size_t at = Draw(static_cast<uint32_t>(asking.size()));
      const LanePart* const part = deal.Take(asking[at]);
      if (part == nullptr) {
        asking.erase(asking.begin() + static_cast<ptrdiff_t>(at));
      } else {
        lanes[asking[at]].push_back(*part);
      }
    }
    for (size_t rank = 0; rank < lanes.size(); ++rank) {
      EXPECT_EQ(lanes[rank], expected.lane(rank));
    }
  }
}

// What happened to be read before changes no deal of an epoch.
TEST_F(LaneDealTest, AnEpochsDealDependsOnNoFactOfItsRows) {
  Epoch epoch = Even(7, 3);
  const LaneDeal deal = OfEpoch(epoch);
  for (PieceTrained& piece : epoch.trained) {
    if (Draw(2) == 0) piece.num_batches = 4;
  }
  const LaneDeal resumed = Resumed(epoch);
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(resumed.lane(rank), deal.lane(rank));
  }
}

TEST_F(LaneDealTest, AResumedEpochHasTheStepsOfOneThatNeverStopped) {
  int stops = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Epoch epoch = Random(Draw(25), 1 + Draw(6));
    const LaneDeal own = OfEpoch(epoch);
    const Steps steps = epoch.StepsOf(own);
    for (size_t s = 0; s < steps.size(); ++s, ++stops) {
      Epoch stopped = epoch;
      for (const uint32_t piece : epoch.ReadToTheEnd(own, s)) {
        stopped.Learn(piece);
      }
      const LaneDeal resumed = Resumed(stopped);
      const Steps rest(steps.begin() + static_cast<ptrdiff_t>(s), steps.end());
      ASSERT_EQ(stopped.StepsOf(resumed), rest) << "after step " << s;
      ExpectEachBatchOnce(stopped, resumed);
      for (const BatchId& batch : steps[s]) epoch.Train(batch);
    }
  }
  EXPECT_GT(stops, 1000);
}

TEST_F(LaneDealTest, OtherRanksGetANewDealOfWhatIsLeft) {
  int changed = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Epoch epoch = Random(Draw(25), 1 + Draw(6));
    const LaneDeal own = OfEpoch(epoch);
    const Steps steps = epoch.StepsOf(own);
    const uint32_t stop = Draw(static_cast<uint32_t>(steps.size() + 1));
    for (uint32_t s = 0; s < stop; ++s) {
      for (const BatchId& batch : steps[s]) epoch.Train(batch);
    }
    for (const uint32_t piece : epoch.ReadToTheEnd(own, stop)) {
      epoch.Learn(piece);
    }
    const std::vector<int> before = epoch.ranks;
    epoch.ranks.push_back(before[Draw(static_cast<uint32_t>(before.size()))]);
    if (Draw(2) == 0 && before.size() > 1 && epoch.pieces.hosts.empty()) {
      epoch.ranks.resize(before.size() - 1);
    }
    const LaneDeal resumed = Resumed(epoch);
    ExpectEachBatchOnce(epoch, resumed);
    const Steps rest(steps.begin() + stop, steps.end());
    changed += epoch.StepsOf(resumed) != rest;
  }
  EXPECT_GT(changed, 150);
}

// A dropped batch leaves a hole in its lane.
TEST_F(LaneDealTest, AnEpochWithDroppedBatchesIsDealtAnew) {
  Epoch epoch = Even(4, 2, 3);
  epoch.Train({0, 0, 0});
  epoch.Train({0, 1, 0});
  EXPECT_EQ(Resumed(epoch).lane(0), OfEpoch(epoch).lane(0));
  epoch.Train({0, 0, 2});
  epoch.Train({0, 1, 1});
  const LaneDeal deal = Resumed(epoch);
  EXPECT_THAT(deal.lane(0), ElementsAre(Whole(2), Whole(0, true)));
  ExpectEachBatchOnce(epoch, deal);
}

// Steps drop batches of random ranks, or always of the slowest, until the lanes
// have ended; what is left is dealt again until nothing is.
TEST_F(LaneDealTest, DroppedBatchesAreDealtAgainUntilEachIsTrained) {
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Epoch epoch = Random(Draw(25), 1 + Draw(6));
    const auto ranks = static_cast<uint32_t>(epoch.ranks.size());
    const bool same = Draw(2) == 0;
    size_t total = 0;
    for (const uint32_t batches : epoch.batches) total += batches;
    size_t trained = 0;
    LaneDeal deal = OfEpoch(epoch);
    for (int deals = 0; trained < total; ++deals) {
      ASSERT_LT(deals, 200) << "no end";
      ExpectEachBatchOnce(epoch, deal);
      for (const std::vector<BatchId>& step : epoch.StepsOf(deal)) {
        const auto size = static_cast<uint32_t>(step.size());
        const uint32_t late = same ? size - 1 : Draw(2 * ranks);
        for (uint32_t i = 0; i < size; ++i) {
          if (i == late && size > 1) continue;
          epoch.Train(step[i]);
          ++trained;
        }
      }
      for (uint32_t p = 0; p < epoch.size(); ++p) {
        if (!epoch.trained[p].complete) epoch.Learn(p);
      }
      deal = Again(epoch);
    }
    for (size_t rank = 0; rank < ranks; ++rank) {
      EXPECT_THAT(deal.lane(rank), IsEmpty()) << "all is trained";
    }
  }
}

TEST_F(LaneDealTest, WhatIsLeftOfAReadPieceGoesToTheLanesInTurn) {
  Epoch epoch = Even(2, 2, 8);
  // Of piece 0 the odd batches are left, of piece 1 one batch.
  epoch.pieces.uncut = {true, true};
  epoch.trained[0] = {false, {0b01010101}, 8};
  epoch.trained[1] = {false, {0b11111011}, 8};
  const LaneDeal deal = Again(epoch);
  EXPECT_THAT(epoch.LaneOf(deal, 0),
              ElementsAre(BatchId{0, 0, 1}, BatchId{0, 0, 5}, BatchId{0, 1, 2}))
      << "by index they would all be in lane 1";
  EXPECT_THAT(epoch.LaneOf(deal, 1),
              ElementsAre(BatchId{0, 0, 3}, BatchId{0, 0, 7}));
  ASSERT_EQ(deal.lane(1).size(), 1u) << "lane 1 has no batch of piece 1";
}

TEST_F(LaneDealTest, PiecesWithMoreLeftAreDealtFirst) {
  Epoch epoch = Even(4, 2, 8);
  epoch.trained[0] = {false, {0b111}, {}};
  epoch.trained[2] = {true, {}, 8};
  epoch.trained[3] = {false, {0b1}, {}};
  const LaneDeal deal = Again(epoch);
  EXPECT_THAT(deal.lane(0), ElementsAre(Whole(1), ByBatch(0, 2, 0, true)));
  EXPECT_THAT(deal.lane(1), ElementsAre(Whole(3), ByBatch(0, 2, 1, true)));
}

}  // namespace
}  // namespace shoal
