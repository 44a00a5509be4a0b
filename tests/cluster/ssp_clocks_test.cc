#include "cluster/ssp_clocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Life kA{1, 1};
constexpr Life kB{1, 2};
constexpr Life kC{1, 3};

SspPaces Finished(SspClocks* clocks, Life worker, uint64_t steps) {
  absl::StatusOr<SspPaces> paces = clocks->OnFinished(worker, steps);
  EXPECT_TRUE(paces.ok()) << paces.status();
  return paces.ok() ? *paces : SspPaces();
}

TEST(SspClocksTest, AWorkerAheadByMoreThanTheBoundWaitsForTheSlowest) {
  SspClocks clocks({.bound = 2});
  EXPECT_THAT(clocks.OnLease(kA), ElementsAre(SspPace{kA, 3}));
  EXPECT_THAT(clocks.OnLease(kB), ElementsAre(SspPace{kB, 3}));
  for (uint64_t step = 1; step <= 3; ++step) {
    EXPECT_THAT(Finished(&clocks, kA, step), IsEmpty()) << "B is at step 0";
  }
  EXPECT_THAT(clocks.Slowest(), ElementsAre(kB));
  EXPECT_THAT(Finished(&clocks, kB, 1),
              ElementsAre(SspPace{kA, 4}, SspPace{kB, 4}));
  EXPECT_THAT(clocks.Slowest(), ElementsAre(kB));
}

TEST(SspClocksTest, WithABoundOfZeroAllDoAStepBeforeTheNext) {
  SspClocks clocks({.bound = 0});
  clocks.OnLease(kA);
  clocks.OnLease(kB);
  EXPECT_THAT(Finished(&clocks, kB, 1), IsEmpty());
  EXPECT_THAT(Finished(&clocks, kA, 1),
              ElementsAre(SspPace{kA, 2}, SspPace{kB, 2}));
}

TEST(SspClocksTest, AJoinerBeginsAtTheLeastClockOfThoseThatHoldALease) {
  SspClocks clocks({.bound = 1});
  clocks.OnLease(kA);
  clocks.OnLease(kB);
  for (uint64_t step = 1; step <= 5; ++step) {
    Finished(&clocks, kA, step);
    Finished(&clocks, kB, step);
  }
  Finished(&clocks, kA, 6);
  EXPECT_THAT(clocks.OnLease(kC), ElementsAre(SspPace{kC, 2}))
      << "in its own count, which begins at 0";
  EXPECT_THAT(clocks.Slowest(), ElementsAre(kB, kC));
  EXPECT_THAT(Finished(&clocks, kB, 6), IsEmpty()) << "C is at step 5";
  EXPECT_THAT(Finished(&clocks, kC, 1),
              ElementsAre(SspPace{kA, 8}, SspPace{kB, 8}, SspPace{kC, 3}));
}

TEST(SspClocksTest, NoWorkerWaitsForOneWithoutALease) {
  SspClocks clocks({.bound = 1});
  clocks.OnLease(kA);
  clocks.OnLease(kB);
  clocks.OnLease(kC);
  Finished(&clocks, kA, 2);
  Finished(&clocks, kC, 1);
  EXPECT_THAT(clocks.OnNoLease(kB),
              ElementsAre(SspPace{kA, 3}, SspPace{kC, 3}));
  EXPECT_THAT(clocks.OnLost(kC), ElementsAre(SspPace{kA, 4}));
  EXPECT_EQ(clocks.num_holders(), 1u);
  EXPECT_THAT(clocks.OnNoLease(kB), IsEmpty()) << "it is known";
  EXPECT_THAT(clocks.OnLost(kC), IsEmpty());
}

TEST(SspClocksTest, AWorkerWhoseLeaseEndedWithoutItsKnowledgeGoesOn) {
  SspClocks clocks({.bound = 1});
  clocks.OnLease(kA);
  clocks.OnLease(kB);
  Finished(&clocks, kA, 2);
  EXPECT_THAT(clocks.OnNoLease(kA), ElementsAre(SspPace{kA, 4}))
      << "it waited for B";
  EXPECT_THAT(Finished(&clocks, kA, 4), ElementsAre(SspPace{kA, 6}));
  EXPECT_THAT(clocks.OnLease(kA), IsEmpty()) << "at B's clock again";
  EXPECT_THAT(clocks.Slowest(), ElementsAre(kA, kB));
}

TEST(SspClocksTest, AfterATimeWithoutLeasesAllBeginTogether) {
  SspClocks clocks({.bound = 1});
  clocks.OnLease(kA);
  clocks.OnLease(kB);
  Finished(&clocks, kB, 2);
  EXPECT_THAT(clocks.OnNoLease(kA), ElementsAre(SspPace{kB, 4}));
  clocks.OnNoLease(kB);
  EXPECT_THAT(clocks.Slowest(), IsEmpty());
  clocks.OnLease(kB);
  clocks.OnLease(kA);
  EXPECT_THAT(clocks.Slowest(), ElementsAre(kA, kB));
  EXPECT_THAT(Finished(&clocks, kA, 1), IsEmpty());
  EXPECT_THAT(Finished(&clocks, kB, 3),
              ElementsAre(SspPace{kA, 3}, SspPace{kB, 5}));
}

TEST(SspClocksTest, ReportsThatCannotBeTrueAreRefused) {
  SspClocks clocks({.bound = 1, .depth = 1});
  EXPECT_THAT(Finished(&clocks, kA, 7), IsEmpty()) << "it had no lease";
  clocks.OnLease(kA);
  clocks.OnLease(kB);
  EXPECT_THAT(Finished(&clocks, kA, 3), IsEmpty()) << "an open step more";
  EXPECT_EQ(clocks.OnFinished(kA, 4).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(clocks.OnFinished(kA, 2).status().message(),
              HasSubstr("it had finished 3"));
  EXPECT_FALSE(clocks.OnFinished(kA, ~uint64_t{0}).ok());
  EXPECT_THAT(Finished(&clocks, kA, 3), IsEmpty()) << "the same number again";
  EXPECT_THAT(Finished(&clocks, kB, 1), ElementsAre(SspPace{kA, 3},
                                                    SspPace{kB, 3}));
  EXPECT_THAT(Finished(&clocks, kB, 2), ElementsAre(SspPace{kA, 4},
                                                    SspPace{kB, 4}));
}

// Workers of random speeds that join, leave, return and die. Each does a step
// only if its newest pace allows it.
class RandomWorkers {
 public:
  explicit RandomWorkers(uint64_t seed)
      : random_(seed),
        options_{.bound = static_cast<uint32_t>(Draw(4)),
                 .depth = static_cast<uint32_t>(Draw(3))},
        clocks_(options_) {}

  void Run() {
    for (int event = 0; event < 2000; ++event) {
      if (Draw(20) == 0) Change();
      DoAStep();
      CheckTheSlowestMayGo();
      if (testing::Test::HasFailure()) return;
    }
  }
  uint64_t most_ahead() const { return most_ahead_; }
  uint64_t waits() const { return waits_; }
  uint32_t bound() const { return options_.bound; }

 private:
  struct Worker {
    bool holds = false;
    uint64_t clock = 0;  // of the model, not of what is tested
    uint64_t finished = 0;
    uint64_t until = 0;
  };

  uint64_t Draw(uint64_t below) { return random_() % below; }

  void Take(const SspPaces& paces) {
    for (size_t i = 0; i < paces.size(); ++i) {
      const auto it = workers_.find(paces[i].worker);
      ASSERT_NE(it, workers_.end()) << "a dead worker is told its pace";
      ASSERT_GT(paces[i].until, it->second.until) << "told without a change";
      it->second.until = paces[i].until;
      for (size_t j = 0; j < i; ++j) {
        ASSERT_NE(paces[j].worker, paces[i].worker) << "told twice";
      }
    }
  }

  std::optional<uint64_t> Least() const {
    std::optional<uint64_t> least;
    for (const auto& [life, worker] : workers_) {
      if (!worker.holds) continue;
      least = std::min(least.value_or(worker.clock), worker.clock);
    }
    return least;
  }

  // A worker joins, leaves, returns or dies.
  void Change() {
    if (workers_.size() < 6 && Draw(2) == 0) {
      workers_[Life{1, ++lives_}];
    }
    if (workers_.empty()) return;
    auto it = workers_.begin();
    std::advance(it, Draw(workers_.size()));
    auto& [life, worker] = *it;
    if (Draw(4) == 0) {
      const Life dead = life;
      last_least_ = Least().value_or(last_least_);
      workers_.erase(it);
      Take(clocks_.OnLost(dead));
    } else if (worker.holds) {
      last_least_ = Least().value_or(last_least_);
      worker.holds = false;
      Take(clocks_.OnNoLease(life));
    } else {
      worker.clock = Least().value_or(last_least_);
      worker.holds = true;
      Take(clocks_.OnLease(life));
      Take(clocks_.OnLease(life));
    }
    last_least_ = std::max(last_least_, Least().value_or(0));
  }

  // The worker of this event is drawn by speed: the first are the fastest.
  void DoAStep() {
    if (workers_.empty()) return;
    auto it = workers_.begin();
    std::advance(it, std::min(Draw(workers_.size()), Draw(workers_.size())));
    auto& [life, worker] = *it;
    if (worker.finished >= worker.until) {
      ++waits_;
      ASSERT_TRUE(worker.holds || worker.finished == 0)
          << "a worker without a lease waits";
      return;
    }
    if (worker.holds) {
      const uint64_t ahead = worker.clock - *Least();
      ASSERT_LE(ahead, options_.bound);
      most_ahead_ = std::max(most_ahead_, ahead);
      ++worker.clock;
    }
    ++worker.finished;
    absl::StatusOr<SspPaces> paces = clocks_.OnFinished(life, worker.finished);
    ASSERT_TRUE(paces.ok()) << paces.status();
    Take(*paces);
  }

  void CheckTheSlowestMayGo() {
    std::vector<Life> slowest;
    for (const auto& [life, worker] : workers_) {
      if (!worker.holds || worker.clock != *Least()) continue;
      slowest.push_back(life);
      ASSERT_LT(worker.finished, worker.until) << "no worker can go on";
    }
    ASSERT_EQ(clocks_.Slowest(), slowest);
  }

  std::mt19937_64 random_;
  const SspClocksOptions options_;
  SspClocks clocks_;
  std::map<Life, Worker> workers_;
  uint32_t lives_ = 0;
  uint64_t last_least_ = 0;
  uint64_t most_ahead_ = 0;
  uint64_t waits_ = 0;
};

TEST(SspClocksTest, HoldsItsPromisesOverRandomRuns) {
  uint64_t waits = 0;
  int at_the_bound = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomWorkers workers(seed);
    workers.Run();
    if (HasFailure()) return;
    waits += workers.waits();
    if (workers.most_ahead() == workers.bound()) ++at_the_bound;
  }
  EXPECT_GT(waits, 1000u) << "the runs are too easy";
  EXPECT_GT(at_the_bound, 250) << "the bound is tighter than asked";
}

// A worker that prefetches has read the parameters of up to `depth` further
// steps: they lack steps of the slowest that are up to bound + depth steps old.
TEST(SspClocksTest, PrefetchAddsItsDepthToTheBound) {
  constexpr uint32_t kBound = 2;
  constexpr uint32_t kDepth = 2;
  SspClocks clocks({.bound = kBound, .depth = kDepth});
  uint64_t until = clocks.OnLease(kA).front().until;
  clocks.OnLease(kB);
  std::vector<uint64_t> read_at;  // by step of A: the slowest clock at its read
  uint64_t slowest = 0;
  uint64_t oldest = 0;
  for (uint64_t step = 0; slowest < 20;) {
    if (step < until) {
      while (read_at.size() <= step + kDepth) read_at.push_back(slowest);
      oldest = std::max(oldest, step - read_at[step]);
      for (const SspPace& pace : Finished(&clocks, kA, ++step)) {
        if (pace.worker == kA) until = pace.until;
      }
    } else {
      for (const SspPace& pace : Finished(&clocks, kB, ++slowest)) {
        if (pace.worker == kA) until = pace.until;
      }
    }
  }
  EXPECT_EQ(oldest, kBound + kDepth);
}

TEST(SspClocksTest, MemoryIsThatOfTheLivingWorkers) {
  SspClocks clocks({.bound = 1});
  for (uint32_t n = 1; n <= 1000; ++n) {
    clocks.OnLease({1, n});
    Finished(&clocks, {1, n}, 1);
    if (n > 3) clocks.OnLost({1, n - 3});
    EXPECT_LE(clocks.num_known(), 4u);
  }
}

}  // namespace
}  // namespace shoal
