// The contract of ParameterService::Push on lists of batches, part of the suite
// of parameter_service_conformance.h.
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/conformance/completion.h"
#include "tests/conformance/parameter_service_conformance.h"

namespace shoal {
namespace {

using testing::Each;

constexpr absl::Duration kTimeout = absl::Seconds(30);

}  // namespace

TEST_P(ParameterServiceConformance, APushOfAnyListIsOneUpdateAndMarksEach) {
  const std::vector<FeatureId> ids = {3};
  const std::vector<float> gradients = {1, 2, 3, 4};
  const std::vector<float> bias = {1, 1, 1, 1};
  const auto before = Pull({3});
  ASSERT_TRUE(before.ok()) << before.status();
  uint32_t batches = 0;
  uint32_t updates = 0;
  for (const uint32_t n : {1, 2, 40}) {
    PushRequest request = NewPush(100 * n, n);
    for (uint32_t i = 0; i < n; ++i) {
      request.batches[i].lease = 5 + i;
      request.batches[i].examples = 1000 + i;
    }
    request.tables = {{0, ids, gradients}};
    request.blocks = {{2, bias}};
    batches += n;
    ++updates;
    for (const bool repeat : {false, true}) {
      const auto pushed = Push(request);
      ASSERT_TRUE(pushed.ok()) << n << ": " << pushed.status();
      EXPECT_EQ(pushed->verdict, Verdict::kApplied);
      EXPECT_EQ(pushed->repeat, repeat);
      EXPECT_EQ(pushed->version.count, updates);
    }
    const MarkDelta delta = harness_->shard().TakeMarks();
    ASSERT_EQ(delta.marks.size(), n);
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(delta.marks[i].batch, (BatchId{0, 0, 100 * n + i}));
      EXPECT_EQ(delta.marks[i].lease, 5 + i);
      EXPECT_EQ(delta.marks[i].verdict, Verdict::kApplied);
      const auto alone = Push(NewPush(100 * n + i));
      ASSERT_TRUE(alone.ok()) << alone.status();
      EXPECT_TRUE(alone->repeat) << "each batch of " << n << " is marked";
    }
    harness_->shard().TakeMarks();
  }
  const auto after = Pull({3});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->rows[0], before->rows[0] - 3 * 0.5f * gradients[0]);
  EXPECT_THAT(after->bias, Each(-3)) << "an update is not one for each batch";
  const auto stats = Stats();
  EXPECT_EQ(stats->version.count, 3);
  EXPECT_EQ(stats->pushes_applied, batches);
  EXPECT_EQ(stats->repeats_refused, 2 * batches);
  EXPECT_EQ(stats->staleness[0].second.count(), 3);
}

TEST_P(ParameterServiceConformance, RejectedBatchesOfAListAreMarkedSo) {
  const std::vector<float> bias = {1, 1, 1, 1};
  for (const uint32_t n : {2, 40}) {
    PushRequest request = NewPush(100 * n, n);
    request.batches[0].rejected = true;
    request.batches[n - 1].rejected = true;
    const bool all = n == 2;
    if (!all) request.blocks = {{2, bias}};
    const Verdict verdict = all ? Verdict::kRejected : Verdict::kApplied;
    for (const bool repeat : {false, true}) {
      const auto pushed = Push(request);
      ASSERT_TRUE(pushed.ok()) << pushed.status();
      EXPECT_EQ(pushed->verdict, verdict);
      EXPECT_EQ(pushed->repeat, repeat);
      EXPECT_EQ(pushed->version.count, all ? 0 : 1);
    }
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(Push(NewPush(100 * n + i))->verdict,
                i == 0 || i == n - 1 ? Verdict::kRejected : Verdict::kApplied)
          << i << " of " << n;
    }
  }
  EXPECT_EQ(Stats()->pushes_rejected, 4);
  EXPECT_EQ(Stats()->pushes_applied, 38);
  EXPECT_THAT(Pull({3})->bias, Each(-1));
  PushRequest request = NewPush(0, 2);
  for (PushedBatch& batch : request.batches) batch.rejected = true;
  request.blocks = {{2, bias}};
  EXPECT_TRUE(absl::IsInvalidArgument(Push(request).status()))
      << "all are rejected, and yet there is a gradient";
}

TEST_P(ParameterServiceConformance, AnUnsoundSumRejectsEveryBatchOfTheList) {
  const std::vector<float> bias = {0, 0, std::nanf(""), 0};
  PushRequest request = NewPush(0, 40);
  request.blocks = {{2, bias}};
  EXPECT_EQ(Push(request)->verdict, Verdict::kRejected);
  EXPECT_EQ(Push(request)->verdict, Verdict::kRejected);
  EXPECT_EQ(Stats()->pushes_rejected, 40);
  EXPECT_EQ(Stats()->version.count, 0);
}

TEST_P(ParameterServiceConformance, AListThatIsKnownInPartChangesNothing) {
  const std::vector<float> bias = {1, 1, 1, 1};
  ASSERT_TRUE(Push(NewPush(7)).ok());
  harness_->shard().TakeMarks();
  for (const uint32_t n : {2, 40}) {
    for (const uint32_t place : {0u, n - 1}) {
      PushRequest request = NewPush(8, n);
      request.batches[place].id.index = 7;  // the batch that is known
      request.blocks = {{2, bias}};
      EXPECT_EQ(Push(request).status().code(),
                absl::StatusCode::kFailedPrecondition)
          << place << " of " << n;
    }
  }
  EXPECT_THAT(Pull({3})->bias, Each(0));
  EXPECT_THAT(harness_->shard().TakeMarks().marks, testing::IsEmpty());
  EXPECT_EQ(Stats()->repeats_refused, 0);
  EXPECT_FALSE(Push(NewPush(8, 39))->repeat);
}

TEST_P(ParameterServiceConformance, AListWithOtherVerdictsThanItsMarksFails) {
  ASSERT_EQ(Push(NewPush(0))->verdict, Verdict::kApplied);
  PushRequest rejected = NewPush(1);
  rejected.batches[0].rejected = true;
  ASSERT_EQ(Push(rejected)->verdict, Verdict::kRejected);
  PushRequest list = NewPush(0, 2);
  EXPECT_EQ(Push(list).status().code(), absl::StatusCode::kFailedPrecondition);
  list.batches[1].rejected = true;
  EXPECT_EQ(Push(list)->verdict, Verdict::kApplied);
  EXPECT_EQ(Stats()->repeats_refused, 2);
}

TEST_P(ParameterServiceConformance, ListsOfNoneOrTooManyOrTheSameAreRefused) {
  constexpr uint32_t kMost = kMaxPushedBatches;
  const std::vector<float> bias = {1, 1, 1, 1};
  std::vector<PushRequest> pushes = {NewPush(0, 0), NewPush(0, 2),
                                     NewPush(0, 40), NewPush(0, kMost + 1)};
  pushes[1].batches[1].id = pushes[1].batches[0].id;
  pushes[2].batches[39].id = pushes[2].batches[20].id;
  for (PushRequest& push : pushes) {
    push.blocks = {{2, bias}};
    EXPECT_EQ(Push(push).status().code(), absl::StatusCode::kInvalidArgument)
        << push.batches.size();
  }
  EXPECT_THAT(harness_->shard().TakeMarks().marks, testing::IsEmpty());
  EXPECT_THAT(Pull({3})->bias, Each(0));
  EXPECT_FALSE(Push(NewPush(0, kMost))->repeat);
  EXPECT_EQ(Stats()->pushes_applied, kMost);
}

TEST_P(ParameterServiceConformance, RacingCopiesOfAListAreAppliedOnce) {
  constexpr int kThreads = 4;
  constexpr uint32_t kSteps = 30;
  constexpr uint32_t kRanks = 40;
  const std::vector<float> bias = {1, 1, 1, 1};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      std::vector<Completion<PushReply>> pushes(kSteps);
      for (uint32_t s = 0; s < kSteps; ++s) {
        pushes[s].Start([&](Done<PushReply> done) {
          PushRequest push = NewPush(s * kRanks, kRanks);
          push.batches[s].rejected = true;
          push.blocks = {{2, bias}};
          harness_->service().Push(push, kTimeout, std::move(done));
        });
      }
      for (auto& push : pushes) {
        const auto reply = push.Wait();
        ASSERT_TRUE(reply.ok()) << reply.status();
        EXPECT_EQ(reply->verdict, Verdict::kApplied);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(Pull({3})->bias, Each(-1.0f * kSteps));
  const auto stats = Stats();
  EXPECT_EQ(stats->version.count, kSteps);
  EXPECT_EQ(stats->pushes_applied, kSteps * (kRanks - 1));
  EXPECT_EQ(stats->pushes_rejected, kSteps);
  EXPECT_EQ(stats->repeats_refused, (kThreads - 1) * kSteps * kRanks);
}

}  // namespace shoal
