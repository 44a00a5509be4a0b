#include "ps/shard/marks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
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

PushedBatches One(const BatchId& batch, uint64_t lease = 0) {
  return {{.id = batch, .lease = lease}};
}

// Batches of piece (0, 0) by their indexes.
PushedBatches List(const std::vector<uint32_t>& indexes, uint64_t lease = 1) {
  PushedBatches batches;
  for (const uint32_t index : indexes) {
    batches.push_back({.id = {0, 0, index}, .lease = lease});
  }
  return batches;
}

// Begins and finishes a push that must be new.
void Apply(Marks* marks, const PushedBatches& batches,
           Verdict verdict = Verdict::kApplied) {
  const auto admitted = marks->Begin(batches, 0);
  ASSERT_TRUE(admitted.ok()) << admitted.status();
  ASSERT_EQ(admitted->admission, Admission::kApply);
  EXPECT_THAT(marks->Finish(batches, verdict), IsEmpty());
}
void Apply(Marks* marks, const BatchId& batch, uint64_t lease,
           Verdict verdict = Verdict::kApplied) {
  Apply(marks, One(batch, lease), verdict);
}

std::vector<uint64_t> Tickets(const std::vector<Marks::Answer>& answers) {
  std::vector<uint64_t> tickets;
  for (const Marks::Answer& answer : answers) tickets.push_back(answer.ticket);
  return tickets;
}

TEST(Marks, EveryCopyAfterTheFirstIsARepeatWithItsVerdict) {
  for (const Verdict verdict : {Verdict::kApplied, Verdict::kRejected}) {
    Marks marks(MarksOptions{});
    EXPECT_EQ(*marks.Repeat(One(kBatch, 1)), std::nullopt);
    Apply(&marks, kBatch, 1, verdict);
    EXPECT_EQ(*marks.Repeat(One(kBatch, 1)), verdict);
    const auto again = marks.Begin(One(kBatch, 1), 0);
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
  EXPECT_EQ(marks.Begin(One(kBatch, 1), 10)->admission, Admission::kApply);
  EXPECT_EQ(marks.Begin(One(kBatch, 2), 11)->admission, Admission::kWait);
  EXPECT_EQ(marks.Begin(One(kBatch, 1), 12)->admission, Admission::kWait);
  EXPECT_EQ(marks.repeats_refused(), 0);
  EXPECT_THAT(Tickets(marks.Finish(One(kBatch, 1), Verdict::kRejected)),
              ElementsAre(11, 12));
  EXPECT_EQ(marks.repeats_refused(), 2);
  EXPECT_EQ(marks.rejected(), 1);
  EXPECT_EQ(*marks.Repeat(One(kBatch, 3)), Verdict::kRejected);
}

// A copy of what the shard has is answered under any lease.
TEST(Marks, NothingNewIsAdmittedUnderALeaseThatIsRefused) {
  Marks marks(MarksOptions{});
  Apply(&marks, {0, 0, 1}, 3);
  ASSERT_TRUE(marks.Begin(One({0, 0, 2}, 3), 0).ok());
  marks.RefuseLeases(4);
  EXPECT_FALSE(marks.idle());
  for (const uint64_t lease : {3, 4}) {
    EXPECT_EQ(marks.Begin(One({0, 0, 1}, lease), 1)->admission,
              Admission::kRepeat);
    EXPECT_EQ(marks.Begin(One({0, 0, 2}, lease), 1)->admission,
              Admission::kWait);
    const auto refused = marks.Begin(One({0, 0, 3}, lease), 1);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(marks.Finish(One({0, 0, 2}, 3), Verdict::kApplied).size(), 2u);
  EXPECT_TRUE(marks.idle());
  Apply(&marks, {0, 0, 3}, 5);
  marks.RefuseLeases(2);
  EXPECT_FALSE(marks.Begin(One({0, 0, 4}, 4), 1).ok()) << "it never falls";
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
    ASSERT_TRUE(marks.Repeat(One(kBatch, 1)).ok());
    ASSERT_TRUE(marks.Repeat(One(kBatch, 2)).ok());
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
  // The pass made batch 1, not this one.
  ASSERT_TRUE(marks.Repeat(One({0, 0, 0}, 2)).ok());
  EXPECT_EQ(marks.Take().marks.size(), 1);
}

TEST(Marks, EachLimitRefusesAndChangesNothing) {
  MarksOptions options;
  options.chunks_max = 2;
  options.waiting_max = 1;
  Marks marks(options);
  Apply(&marks, {0, 0, 0}, 1);
  ASSERT_TRUE(marks.Begin(One({0, 1, 0}, 1), 0).ok());
  EXPECT_EQ(marks.Begin(One({0, 2, 0}, 1), 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  Apply(&marks, {0, 0, 63}, 1);  // in a chunk that is there
  EXPECT_EQ(marks.Begin(One({0, 1, 0}, 1), 1)->admission, Admission::kWait);
  EXPECT_EQ(marks.Begin(One({0, 1, 0}, 1), 2).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Tickets(marks.Finish(One({0, 1, 0}, 1), Verdict::kApplied)),
              ElementsAre(1));
  EXPECT_EQ(marks.applied(), 3);
  EXPECT_EQ(marks.Begin(One({0, 2, 0}, 1), 0).status().code(),
            absl::StatusCode::kOutOfRange)
      << "marks that are kept stay";

  options = MarksOptions{};
  options.pending_max = 2;
  Marks full(options);
  Apply(&full, {0, 0, 0}, 1);
  Apply(&full, {0, 0, 1}, 1);
  EXPECT_EQ(full.Begin(One({0, 0, 2}, 1), 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(full.Repeat(One({0, 0, 0}, 1)).status().code(),
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
  std::map<BatchId, uint64_t> leases;
  uint64_t repeats = 0;
  for (uint64_t ticket = 0; ticket < 20000; ++ticket) {
    const BatchId batch = {static_cast<uint32_t>(random() % 2),
                           static_cast<uint32_t>(random() % 3),
                           static_cast<uint32_t>(random() % 300)};
    if (random() % 2 == 0 && applying.contains(batch)) {
      const Verdict verdict =
          random() % 10 == 0 ? Verdict::kRejected : Verdict::kApplied;
      EXPECT_EQ(Tickets(marks.Finish(One(batch, leases[batch]), verdict)),
                applying[batch]);
      repeats += applying[batch].size();
      applying.erase(batch);
      marked[batch] = verdict;
      continue;
    }
    const uint64_t lease = random() % 4;
    const auto admitted = marks.Begin(One(batch, lease), ticket);
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
      leases[batch] = lease;
    }
  }
  EXPECT_EQ(marks.repeats_refused(), repeats);
  EXPECT_EQ(marks.applied() + marks.rejected(), marked.size());
  const MarkDelta delta = marks.Take();
  EXPECT_EQ(std::count_if(delta.marks.begin(), delta.marks.end(),
                          [](const Mark& m) { return !m.repeat; }),
            marked.size());
}

// ---- Pushes of several batches ----------------------------------------------

TEST(MarksOfLists, AListIsMarkedWholeAndItsCopyIsARepeatInAnyOrder) {
  Marks marks(MarksOptions{});
  PushedBatches list = List({3, 70, 1});
  list[1].lease = 9;
  Apply(&marks, list);
  EXPECT_EQ(marks.applied(), 3);
  const MarkDelta delta = marks.Take();
  ASSERT_EQ(delta.marks.size(), 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(delta.marks[i].batch, list[i].id);
    EXPECT_EQ(delta.marks[i].lease, list[i].lease);
    EXPECT_EQ(delta.marks[i].verdict, Verdict::kApplied);
    EXPECT_FALSE(delta.marks[i].repeat);
  }
  const auto copy = marks.Begin(List({1, 3, 70}), 5);
  EXPECT_EQ(copy->admission, Admission::kRepeat);
  EXPECT_EQ(copy->verdict, Verdict::kApplied);
  EXPECT_EQ(marks.repeats_refused(), 3) << "counts batches";
  for (const uint32_t index : {1, 3, 70}) {
    EXPECT_EQ(*marks.Repeat(List({index})), Verdict::kApplied) << index;
  }
  EXPECT_EQ(marks.applied(), 3);
  // Of batch 70 alone the copies came from another pass.
  const MarkDelta repeats = marks.Take();
  ASSERT_EQ(repeats.marks.size(), 1);
  EXPECT_EQ(repeats.marks[0].batch.index, 70);
}

TEST(MarksOfLists, ARejectedBatchIsMarkedSoWhileTheOthersAreApplied) {
  Marks marks(MarksOptions{});
  PushedBatches list = List({0, 1, 2});
  list[0].rejected = true;
  Apply(&marks, list);
  EXPECT_EQ(marks.applied(), 2);
  EXPECT_EQ(marks.rejected(), 1);
  const auto copy = marks.Begin(list, 5);
  EXPECT_EQ(copy->admission, Admission::kRepeat);
  EXPECT_EQ(copy->verdict, Verdict::kApplied) << "that of the gradient";
  EXPECT_EQ(*marks.Repeat(List({0})), Verdict::kRejected);
  EXPECT_EQ(*marks.Repeat(List({1})), Verdict::kApplied);
  EXPECT_EQ(*marks.Repeat(List({2})), Verdict::kApplied);
}

TEST(MarksOfLists, AGradientThatIsNotSoundRejectsEveryBatchOfTheList) {
  Marks marks(MarksOptions{});
  PushedBatches list = List({0, 1, 2});
  list[1].rejected = true;
  Apply(&marks, list, Verdict::kRejected);
  EXPECT_EQ(marks.rejected(), 3);
  EXPECT_EQ(*marks.Repeat(list), Verdict::kRejected);
  for (PushedBatch& batch : list) batch.rejected = true;
  EXPECT_EQ(*marks.Repeat(list), Verdict::kRejected);
}

TEST(MarksOfLists, AListThatIsKnownInPartIsRefusedAndChangesNothing) {
  Marks marks(MarksOptions{});
  Apply(&marks, List({1}));
  const PushedBatches applying = List({5});
  ASSERT_EQ(marks.Begin(applying, 0)->admission, Admission::kApply);
  marks.Take();
  for (const PushedBatches& list :
       {List({1, 2}), List({2, 1}), List({5, 6}), List({6, 5}),
        List({1, 2, 5})}) {
    EXPECT_EQ(marks.Begin(list, 7).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << ToString(list);
  }
  EXPECT_EQ(marks.Repeat(List({2, 1})).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(*marks.Repeat(List({5, 6})), std::nullopt) << "none is marked";
  EXPECT_THAT(marks.Finish(applying, Verdict::kApplied), IsEmpty());
  EXPECT_EQ(marks.repeats_refused(), 0);
  EXPECT_EQ(marks.applied(), 2);
  EXPECT_EQ(marks.Take().marks.size(), 1);
  Apply(&marks, List({2, 6}));
}

TEST(MarksOfLists, AListWhoseMarksHaveOtherVerdictsIsRefused) {
  Marks marks(MarksOptions{});
  Apply(&marks, List({1}));
  Apply(&marks, List({2}), Verdict::kRejected);
  PushedBatches list = List({1, 2});
  EXPECT_EQ(marks.Begin(list, 0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  list[0].rejected = true;
  EXPECT_EQ(marks.Begin(list, 0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  list[1].rejected = true;
  EXPECT_EQ(marks.Begin(list, 0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(marks.repeats_refused(), 0);
  list[0].rejected = false;  // as a list that was pushed as one
  EXPECT_EQ(*marks.Repeat(list), Verdict::kApplied);
  std::swap(list[0], list[1]);
  EXPECT_EQ(*marks.Repeat(list), Verdict::kApplied);
  EXPECT_EQ(marks.repeats_refused(), 4);
  // The first verdict on one batch stands, whatever its copy says.
  list = List({1});
  list[0].rejected = true;
  EXPECT_EQ(*marks.Repeat(list), Verdict::kApplied);
}

TEST(MarksOfLists, ACopyOfAListBeingAppliedWaitsForItsOwnVerdict) {
  Marks marks(MarksOptions{});
  PushedBatches list = List({1, 2, 3});
  list[1].rejected = true;
  ASSERT_EQ(marks.Begin(list, 10)->admission, Admission::kApply);
  EXPECT_EQ(marks.Begin(list, 11)->admission, Admission::kWait);
  PushedBatches turned(list.rbegin(), list.rend());
  EXPECT_EQ(marks.Begin(turned, 12)->admission, Admission::kWait);
  // Lists that hold some of the batches and no other.
  EXPECT_EQ(marks.Begin(List({3, 1}), 13)->admission, Admission::kWait);
  EXPECT_EQ(marks.Begin(List({2}), 14)->admission, Admission::kWait);
  EXPECT_EQ(marks.Begin(List({1, 2, 3}), 15)->admission, Admission::kWait);
  const std::vector<Marks::Answer> answers =
      marks.Finish(list, Verdict::kApplied);
  ASSERT_THAT(Tickets(answers), ElementsAre(11, 12, 13, 14, 15));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(*answers[i].verdict, Verdict::kApplied) << i;
  }
  EXPECT_EQ(*answers[3].verdict, Verdict::kRejected);
  EXPECT_EQ(answers[4].verdict.status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "the copy brings a gradient of batch 2";
  EXPECT_EQ(marks.repeats_refused(), 3 + 3 + 2 + 1);
}

TEST(MarksOfLists, AListThatSeveralPushesHaveIsSentAgain) {
  Marks marks(MarksOptions{});
  for (const uint32_t index : {1, 2}) {
    ASSERT_EQ(marks.Begin(List({index}), index)->admission, Admission::kApply);
  }
  for (const uint32_t index : {1, 2}) {
    EXPECT_EQ(marks.Begin(List({1, 2}), 7).status().code(),
              absl::StatusCode::kUnavailable);
    EXPECT_THAT(marks.Finish(List({index}), Verdict::kApplied), IsEmpty());
  }
  EXPECT_EQ(marks.Begin(List({1, 2}), 7)->admission, Admission::kRepeat);
}

TEST(MarksOfLists, EachLimitRefusesTheWholeList) {
  MarksOptions options;
  options.chunks_max = 2;
  options.waiting_max = 2;
  Marks marks(options);
  EXPECT_EQ(marks.Begin(List({0, 64, 128}), 0).status().code(),
            absl::StatusCode::kOutOfRange);
  const PushedBatches list = List({0, 1, 2});
  Apply(&marks, list);  // all in one chunk
  const PushedBatches other = List({64, 65, 66});
  ASSERT_EQ(marks.Begin(other, 0)->admission, Admission::kApply);
  EXPECT_EQ(marks.Begin(other, 1).status().code(),
            absl::StatusCode::kResourceExhausted)
      << "three wait";
  EXPECT_EQ(marks.Begin(List({64, 65}), 1)->admission, Admission::kWait);
  EXPECT_THAT(Tickets(marks.Finish(other, Verdict::kApplied)), ElementsAre(1));
  EXPECT_EQ(marks.Begin(List({3, 128}), 0).status().code(),
            absl::StatusCode::kOutOfRange);
  Apply(&marks, List({3, 67}));

  options = MarksOptions{};
  options.pending_max = 3;
  Marks full(options);
  EXPECT_EQ(full.Begin(List({0, 1, 2, 3}), 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  Apply(&full, List({0, 1}));
  EXPECT_EQ(full.Begin(List({2, 3}), 0).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(full.Repeat(List({0, 1})).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(full.repeats_refused(), 0);
  full.Take();
  Apply(&full, List({2, 3}));
}

// Against plain maps, over lists of up to three of ten batches.
TEST(MarksOfLists, AgreeWithPlainMapsOverRandomLists) {
  std::mt19937_64 random(11);
  int outcomes[5] = {};
  for (int round = 0; round < 300; ++round) {
    Marks marks(MarksOptions{});
    std::map<uint32_t, Verdict> marked;
    std::map<uint32_t, uint64_t> applying;  // batch to ticket
    std::map<uint64_t, PushedBatches> pushes;
    for (uint64_t ticket = 1; ticket < 40; ++ticket) {
      if (random() % 3 == 0 && !pushes.empty()) {
        const auto [number, list] = *pushes.begin();
        marks.Finish(list, Verdict::kApplied);
        for (const PushedBatch& batch : list) {
          marked[batch.id.index] =
              batch.rejected ? Verdict::kRejected : Verdict::kApplied;
          applying.erase(batch.id.index);
        }
        pushes.erase(number);
        continue;
      }
      PushedBatches list;
      const uint32_t step = 1 + random() % 3;
      for (uint32_t at = random() % 10; at < 10; at += step) {
        list.push_back({.id = {0, 0, at}, .rejected = random() % 8 == 0});
        if (list.size() == 3) break;
      }
      const size_t n = list.size();
      size_t is_marked = 0, is_applying = 0, by_first = 0;
      bool agree = true;
      std::set<Verdict> verdicts;  // on the batches that the list has as sound
      for (const PushedBatch& batch : list) {
        const uint32_t index = batch.id.index;
        is_marked += marked.contains(index);
        is_applying += applying.contains(index);
        const auto first = applying.find(list[0].id.index);
        by_first += first != applying.end() && applying.contains(index) &&
                    applying[index] == first->second;
        if (!marked.contains(index)) continue;
        if (!batch.rejected) verdicts.insert(marked[index]);
        agree &= !batch.rejected || marked[index] == Verdict::kRejected;
      }
      agree = n == 1 || (agree && verdicts.size() <= 1);
      const auto admitted = marks.Begin(list, ticket);
      if (is_marked + is_applying == 0) {
        ++outcomes[0];
        ASSERT_EQ(admitted->admission, Admission::kApply);
        for (const PushedBatch& batch : list) applying[batch.id.index] = ticket;
        pushes[ticket] = list;
      } else if (is_marked + is_applying < n || (is_marked == n && !agree)) {
        ++outcomes[1];
        ASSERT_EQ(admitted.status().code(),
                  absl::StatusCode::kFailedPrecondition);
      } else if (is_marked == n) {
        ++outcomes[2];
        ASSERT_EQ(admitted->admission, Admission::kRepeat);
        if (n == 1) verdicts = {marked[list[0].id.index]};
        ASSERT_EQ(admitted->verdict, verdicts.empty() ? Verdict::kRejected
                                                      : *verdicts.begin());
      } else if (by_first == n) {
        ++outcomes[3];
        ASSERT_EQ(admitted->admission, Admission::kWait);
      } else {
        ++outcomes[4];
        ASSERT_EQ(admitted.status().code(), absl::StatusCode::kUnavailable);
      }
    }
    ASSERT_EQ(marks.applied() + marks.rejected(), marked.size());
  }
  for (const int count : outcomes) EXPECT_GT(count, 50) << "rarely tried";
}

TEST(Marks, ASetIsKeptAsRunsAndRestored) {
  Marks marks(MarksOptions{});
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    const BatchId batch = {static_cast<uint32_t>(random() % 2),
                           static_cast<uint32_t>(random() % 2),
                           static_cast<uint32_t>(random() % 700)};
    if (marks.Repeat(One(batch, 1))->has_value()) continue;
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
      EXPECT_EQ(*restored.Repeat(One(batch, 1)), run.verdict);
      EXPECT_EQ(*restored.Repeat(One(batch, 1)), run.verdict);
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
