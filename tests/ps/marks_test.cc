#include "ps/shard/marks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "base/stable_hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using Admission = Marks::Admission;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr BatchId kBatch = {1, 2, 70};

// Begins and finishes a batch that must be new.
void Apply(Marks* marks, const BatchId& batch, uint64_t lease,
           Verdict verdict = Verdict::kApplied) {
  const auto admitted = marks->Begin(batch, lease, 0);
  ASSERT_TRUE(admitted.ok()) << admitted.status();
  ASSERT_EQ(admitted->admission, Admission::kApply);
  EXPECT_THAT(marks->Finish(batch, verdict), IsEmpty());
}

TEST(Marks, EveryCopyAfterTheFirstIsARepeatWithItsVerdict) {
  for (const Verdict verdict : {Verdict::kApplied, Verdict::kRejected}) {
    Marks marks(MarksOptions{});
    EXPECT_EQ(*marks.Repeat(kBatch, 1), std::nullopt);
    Apply(&marks, kBatch, 1, verdict);
    EXPECT_EQ(*marks.Repeat(kBatch, 1), verdict);
    const auto again = marks.Begin(kBatch, 1, 0);
    EXPECT_EQ(again->admission, Admission::kRepeat);
    EXPECT_EQ(again->verdict, verdict);
    EXPECT_EQ(marks.repeats_refused(), 2);
    EXPECT_EQ(marks.applied(), verdict == Verdict::kApplied ? 1 : 0);
    EXPECT_EQ(marks.rejected(), verdict == Verdict::kRejected ? 1 : 0);
  }
}

TEST(Marks, NeighbouringBatchesAreOthers) {
  Marks marks(MarksOptions{});
  Apply(&marks, kBatch, 1);
  for (const BatchId other :
       {BatchId{1, 2, 71}, BatchId{1, 2, 69}, BatchId{1, 2, 70 + 64},
        BatchId{1, 2, 6}, BatchId{1, 3, 70}, BatchId{2, 2, 70}}) {
    Apply(&marks, other, 1);
  }
  EXPECT_EQ(marks.applied(), 7);
  EXPECT_EQ(marks.repeats_refused(), 0);
}

TEST(Marks, CopiesOfABatchBeingAppliedWaitForItsVerdict) {
  Marks marks(MarksOptions{});
  EXPECT_EQ(marks.Begin(kBatch, 1, 10)->admission, Admission::kApply);
  EXPECT_EQ(marks.Begin(kBatch, 2, 11)->admission, Admission::kWait);
  EXPECT_EQ(marks.Begin(kBatch, 1, 12)->admission, Admission::kWait);
  EXPECT_EQ(marks.repeats_refused(), 0);
  EXPECT_THAT(marks.Finish(kBatch, Verdict::kRejected), ElementsAre(11, 12));
  EXPECT_EQ(marks.repeats_refused(), 2);
  EXPECT_EQ(marks.rejected(), 1);
  EXPECT_EQ(*marks.Repeat(kBatch, 3), Verdict::kRejected);
}

TEST(Marks, TakeReturnsEachMarkOnceAndInOrder) {
  Marks marks(MarksOptions{});
  Apply(&marks, {0, 0, 1}, 5);
  Apply(&marks, {0, 0, 0}, 5, Verdict::kRejected);
  MarkDelta delta = marks.Take();
  ASSERT_EQ(delta.marks.size(), 2);
  EXPECT_EQ(delta.marks[0].batch, (BatchId{0, 0, 1}));
  EXPECT_EQ(delta.marks[0].verdict, Verdict::kApplied);
  EXPECT_EQ(delta.marks[0].lease, 5);
  EXPECT_EQ(delta.marks[1].batch, (BatchId{0, 0, 0}));
  EXPECT_EQ(delta.marks[1].verdict, Verdict::kRejected);
  EXPECT_THAT(marks.Take().marks, IsEmpty());
}

// The coordinator counts batches whose parts came from two passes: it has to
// hear of another lease's copy, once, and not of a mere retry.
TEST(Marks, ACopyOfAnotherPassIsReportedOnce) {
  Marks marks(MarksOptions{});
  Apply(&marks, kBatch, 1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(marks.Repeat(kBatch, 1).ok());
    ASSERT_TRUE(marks.Repeat(kBatch, 2).ok());
  }
  const MarkDelta delta = marks.Take();
  ASSERT_EQ(delta.marks.size(), 2);
  EXPECT_FALSE(delta.marks[0].repeat);
  EXPECT_TRUE(delta.marks[1].repeat);
  EXPECT_EQ(delta.marks[1].lease, 2);
  EXPECT_EQ(delta.repeats_refused, 6);
}

TEST(Marks, PassesOfOneChunkAreToldApartByBatch) {
  Marks marks(MarksOptions{});
  Apply(&marks, {0, 0, 0}, 1);
  Apply(&marks, {0, 0, 1}, 2);
  marks.Take();
  ASSERT_TRUE(marks.Repeat({0, 0, 0}, 2).ok());  // made batch 1, not this one
  EXPECT_EQ(marks.Take().marks.size(), 1);
}

TEST(Marks, EachLimitRefusesAndChangesNothing) {
  MarksOptions options;
  options.chunks_max = 2;
  options.waiting_max = 1;
  Marks marks(options);
  Apply(&marks, {0, 0, 0}, 1);
  ASSERT_TRUE(marks.Begin({0, 1, 0}, 1, 0).ok());
  EXPECT_EQ(marks.Begin({0, 2, 0}, 1, 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  Apply(&marks, {0, 0, 63}, 1);  // in a chunk that is there
  EXPECT_EQ(marks.Begin({0, 1, 0}, 1, 1)->admission, Admission::kWait);
  EXPECT_EQ(marks.Begin({0, 1, 0}, 1, 2).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(marks.Finish({0, 1, 0}, Verdict::kApplied), ElementsAre(1));
  EXPECT_EQ(marks.applied(), 3);
  EXPECT_EQ(marks.Begin({0, 2, 0}, 1, 0).status().code(),
            absl::StatusCode::kOutOfRange)
      << "marks that are kept stay";

  options = MarksOptions{};
  options.pending_max = 2;
  Marks full(options);
  Apply(&full, {0, 0, 0}, 1);
  Apply(&full, {0, 0, 1}, 1);
  EXPECT_EQ(full.Begin({0, 0, 2}, 1, 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(full.Repeat({0, 0, 0}, 1).status().code(),
            absl::StatusCode::kResourceExhausted);
  full.Take();
  Apply(&full, {0, 0, 2}, 1);
}

// Against a plain map, over random traffic with up to three copies at once.
TEST(Marks, AgreesWithAPlainMapOverRandomTraffic) {
  std::mt19937_64 random(7);
  Marks marks(MarksOptions{});
  std::map<BatchId, Verdict> marked;
  std::map<BatchId, std::vector<uint64_t>> applying;
  uint64_t repeats = 0;
  for (uint64_t ticket = 0; ticket < 20000; ++ticket) {
    const BatchId batch = {static_cast<uint32_t>(random() % 2),
                           static_cast<uint32_t>(random() % 3),
                           static_cast<uint32_t>(random() % 300)};
    if (random() % 2 == 0 && applying.contains(batch)) {
      const Verdict verdict =
          random() % 10 == 0 ? Verdict::kRejected : Verdict::kApplied;
      EXPECT_EQ(marks.Finish(batch, verdict), applying[batch]);
      repeats += applying[batch].size();
      applying.erase(batch);
      marked[batch] = verdict;
      continue;
    }
    const auto admitted = marks.Begin(batch, random() % 4, ticket);
    ASSERT_TRUE(admitted.ok());
    if (marked.contains(batch)) {
      ++repeats;
      ASSERT_EQ(admitted->admission, Admission::kRepeat);
      ASSERT_EQ(admitted->verdict, marked[batch]);
    } else if (applying.contains(batch)) {
      ASSERT_EQ(admitted->admission, Admission::kWait);
      applying[batch].push_back(ticket);
    } else {
      ASSERT_EQ(admitted->admission, Admission::kApply);
      applying[batch] = {};
    }
  }
  EXPECT_EQ(marks.repeats_refused(), repeats);
  EXPECT_EQ(marks.applied() + marks.rejected(), marked.size());
  const MarkDelta delta = marks.Take();
  EXPECT_EQ(std::count_if(delta.marks.begin(), delta.marks.end(),
                          [](const Mark& m) { return !m.repeat; }),
            marked.size());
}

TEST(Marks, ASetIsKeptAsRunsAndRestored) {
  Marks marks(MarksOptions{});
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    const BatchId batch = {static_cast<uint32_t>(random() % 2),
                           static_cast<uint32_t>(random() % 2),
                           static_cast<uint32_t>(random() % 700)};
    if (marks.Repeat(batch, 1)->has_value()) continue;
    Apply(&marks, batch, 1,
          batch.index % 10 == 3 ? Verdict::kRejected : Verdict::kApplied);
  }
  const std::vector<MarkRun> runs = marks.Runs();
  uint64_t batches = 0;
  for (const MarkRun& run : runs) batches += run.end - run.begin;
  EXPECT_EQ(batches, marks.applied() + marks.rejected());
  Marks restored(MarksOptions{});
  ASSERT_TRUE(restored.Restore(runs).ok());
  EXPECT_EQ(restored.Runs(), runs);
  EXPECT_EQ(restored.Totals(), marks.Totals());
  EXPECT_THAT(restored.Take().marks, IsEmpty());
  for (const MarkRun& run : runs) {
    for (uint64_t index = run.begin; index < run.end; ++index) {
      const BatchId batch = {run.epoch, run.piece,
                             static_cast<uint32_t>(index)};
      // The pass that made the mark is not known: a copy is told of once.
      EXPECT_EQ(*restored.Repeat(batch, 1), run.verdict);
      EXPECT_EQ(*restored.Repeat(batch, 1), run.verdict);
    }
  }
  EXPECT_EQ(restored.Take().marks.size(), batches);
}

TEST(Marks, TotalsTellSetsApartWhateverTheirOrder) {
  Marks a(MarksOptions{});
  Marks b(MarksOptions{});
  Apply(&a, {0, 0, 1}, 1);
  Apply(&a, {0, 1, 0}, 1);
  Apply(&b, {0, 1, 0}, 7);
  EXPECT_NE(a.Totals(), b.Totals());
  Apply(&b, {0, 0, 1}, 8);
  EXPECT_EQ(a.Totals(), b.Totals());
  Apply(&a, {0, 0, 2}, 1);
  Apply(&b, {0, 0, 2}, 1, Verdict::kRejected);
  EXPECT_NE(a.Totals().digest, b.Totals().digest);
}

TEST(Marks, RunsOutOfOrderOrOfNoVerdictAreRefused) {
  const MarkRun run = {1, 2, 10, 20, Verdict::kApplied};
  const std::vector<std::vector<MarkRun>> cases = {
      {{1, 2, 10, 10, Verdict::kApplied}},
      {{1, 2, 10, (uint64_t{1} << 32) + 1, Verdict::kApplied}},
      {{1, 2, 10, 20, static_cast<Verdict>(0)}},
      {run, run},
      {run, {1, 2, 20, 30, Verdict::kApplied}},
      {run, {1, 2, 19, 30, Verdict::kRejected}},
      {run, {1, 1, 0, 1, Verdict::kApplied}},
      {run, {0, 9, 0, 1, Verdict::kApplied}},
  };
  for (const std::vector<MarkRun>& runs : cases) {
    EXPECT_EQ(Marks(MarksOptions{}).Restore(runs).code(),
              absl::StatusCode::kInvalidArgument);
  }
  const std::vector<MarkRun> fine = {run, {1, 2, 20, 30, Verdict::kRejected}};
  EXPECT_TRUE(Marks(MarksOptions{}).Restore(fine).ok());
  MarksOptions small;
  small.chunks_max = 1;
  EXPECT_TRUE(Marks(small).Restore(fine).ok());
  EXPECT_EQ(Marks(small).Restore({{{1, 2, 10, 200, Verdict::kApplied}}}).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(MarksRunsTest, AreTheMarksInOrderWhateverTheirPattern) {
  uint64_t draw = 1;
  for (int round = 0; round < 50; ++round) {
    std::vector<Marks::Bits> bits;
    std::vector<MarkRun> expected;  // a run a mark
    for (uint32_t c = 0; c < 6; ++c) {
      // Words of long runs, of single marks, and of all or none.
      draw = StableHash(draw);
      const uint64_t some = draw & StableHash(draw + 1);
      const uint64_t word = round % 3 == 0   ? some
                            : round % 3 == 1 ? ~uint64_t{0} << (draw % 64)
                            : draw % 2 == 0  ? ~uint64_t{0}
                                             : 0;
      const uint64_t rejected =
          word & StableHash(draw + 2) & (round % 2 == 0 ? ~uint64_t{0} : 0);
      bits.insert(bits.begin(),
                  {{0, c / 4, c % 4}, word & ~rejected, rejected});
      for (uint64_t i = 0; i < 64; ++i) {
        if ((word >> i & 1) == 0) continue;
        const uint64_t index = uint64_t{c % 4} * 64 + i;
        expected.push_back(
            {0, c / 4, index, index + 1,
             rejected >> i & 1 ? Verdict::kRejected : Verdict::kApplied});
      }
    }
    std::vector<MarkRun> singles;
    for (const MarkRun& run : Marks::RunsOf(bits)) {
      if (!singles.empty() && singles.back().piece == run.piece &&
          singles.back().end == run.begin) {
        EXPECT_NE(singles.back().verdict, run.verdict) << "two runs for one";
      }
      for (uint64_t at = run.begin; at < run.end; ++at) {
        singles.push_back({run.epoch, run.piece, at, at + 1, run.verdict});
      }
    }
    EXPECT_EQ(singles, expected) << round;
  }
}

}  // namespace
}  // namespace shoal
