// Workers that keep within a bound of the slowest (--mode=ssp).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_fixture.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PacedStateTest : public CoordinatorStateTest {
 protected:
  PacedStateTest() {
    options_.ssp = SspClocksOptions{.bound = 2};
    Restart();
  }

  // The newest pace of the session; nullopt: none.
  std::optional<uint64_t> Until(uint64_t session) {
    const std::vector<Pace> paces = Heard<Pace>(session);
    if (paces.empty()) return std::nullopt;
    return paces.back().until;
  }
};

TEST_F(PacedStateTest, TheFirstPaceOfALifeComesBeforeItsFirstLease) {
  JoinAll();
  EXPECT_THAT(Heard<Pace>(3), IsEmpty());
  Ask(3);
  bool paced = false;
  for (const CoordinatorMessage& message : heard_[3]) {
    paced = paced || std::holds_alternative<Pace>(message);
    EXPECT_TRUE(paced || !std::holds_alternative<LeaseGrant>(message));
  }
  EXPECT_EQ(Until(3), 3u);
  EXPECT_EQ(Until(4), std::nullopt) << "it holds no lease";
}

TEST_F(PacedStateTest, PacesFollowTheSlowestThatHoldsALease) {
  JoinAll();
  Ask(3);
  Ask(4);
  Tell(3, StepsFinished{3});
  EXPECT_EQ(Until(3), 3u);
  Tell(4, StepsFinished{1});
  EXPECT_EQ(Until(3), 4u);
  EXPECT_EQ(Until(4), 4u);
}

TEST_F(PacedStateTest, AWorkerThatIsLostOrLeavesHoldsUpNoOther) {
  for (const bool leaves : {false, true}) {
    Restart();
    JoinAll();
    Ask(3);
    Ask(4);
    Tell(3, StepsFinished{3});
    if (leaves) {
      Tell(4, Bye{});
    } else {
      Do(state_->OnSessionEnd(4, absl::UnavailableError("reset"), now_));
    }
    EXPECT_EQ(Until(3), 6u);
  }
}

TEST_F(PacedStateTest, AFrozenWorkerHoldsUpTheOthersUntilItIsTakenForDead) {
  JoinAll();
  Ask(3);
  Ask(4);
  Tell(3, StepsFinished{3});
  Pass(options_.silent_after - absl::Milliseconds(500), {1, 2, 3});
  EXPECT_EQ(Until(3), 3u);
  Pass(absl::Seconds(1), {1, 2, 3});
  EXPECT_EQ(Until(3), 6u);
}

TEST_F(PacedStateTest, ALeaseThatSettlesOrFailedOrIsCompleteIsNotHeld) {
  for (const std::string how : {"settles", "failed", "complete"}) {
    SCOPED_TRACE(how);
    Restart();
    JoinAll();
    Ask(3);
    const Lease lease = Ask(4);
    Tell(3, StepsFinished{3});
    if (how == "settles") Tell(4, LeaseDone{lease.number});
    if (how == "failed") {
      Tell(4, LeaseFailed{lease.number, absl::NotFoundError("gone")});
    }
    if (how == "complete") {
      Report(4, lease, 10);
      MarkBoth(lease, 0);
    }
    EXPECT_EQ(Until(3), 6u);
  }
}

TEST_F(PacedStateTest, ALeaseWhoseTimeRanOutHoldsUpNoOther) {
  options_.worker_lease = absl::Seconds(2);
  options_.silent_after = absl::Seconds(60);
  Restart();
  JoinAll();
  Ask(3);
  Ask(4);
  Tell(3, StepsFinished{3});
  Pass(absl::Seconds(3), {1, 2, 3});
  EXPECT_EQ(Until(3), 6u);
}

TEST_F(PacedStateTest, AWorkerThatReportsTooManyStepsIsLost) {
  JoinAll();
  Ask(3);
  Tell(3, StepsFinished{4});
  ASSERT_EQ(ended_.count(3), 1u);
  EXPECT_TRUE(absl::IsInvalidArgument(ended_[3])) << ended_[3];
}

TEST_F(CoordinatorStateTest, WithoutABoundNoWorkerReportsSteps) {
  JoinAll();
  Ask(3);
  EXPECT_THAT(Heard<Pace>(3), IsEmpty());
  Tell(3, StepsFinished{1});
  ASSERT_EQ(ended_.count(3), 1u);
  EXPECT_THAT(std::string(ended_[3].message()), HasSubstr("no worker's steps"));
}

// Workers of random speeds that train a whole job, join late, die, freeze and
// return. Messages take no time, and no lease is copied, so that the test's
// clocks are the coordinator's.
class RandomPacedWorkers : public PacedStateTest,
                           public testing::WithParamInterface<uint64_t> {
 protected:
  static constexpr int kWorkers = 4;
  static constexpr uint32_t kBatches = 7;  // of a piece
  static constexpr uint64_t kNone = ~uint64_t{0};

  struct Worker {
    uint64_t session = 0;  // 0: dead
    uint64_t speed = 1;    // the most steps of a round
    bool frozen = false;
    uint64_t newest = 0;  // number of the newest lease
    std::optional<Lease> lease;
    uint64_t finished = 0;  // steps of the life
    uint64_t clock = 0;     // if it has a lease
  };

  uint64_t Draw(uint64_t below) { return random_() % below; }

  void Begin() {
    options_.ssp = SspClocksOptions{.bound = static_cast<uint32_t>(Draw(4))};
    options_.num_workers = 1 + static_cast<int>(Draw(kWorkers));
    options_.num_epochs = 2;
    options_.speculate_after = absl::Hours(100);
    train_.clear();
    for (uint32_t i = 0; i < 10; ++i) {
      train_.push_back({absl::StrCat("f", i), 100, i});
    }
    Restart();
    for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
    workers_.resize(kWorkers);
    for (int i = 0; i < options_.num_workers; ++i) Return(i);
  }

  void Return(int index) {
    Worker worker;
    worker.speed = 1 + 4 * Draw(3);
    worker.session = Join(Role::kWorker, index);
    Tell(worker.session, LeaseRequest{});
    workers_[index] = worker;
  }

  void Befall(int index) {
    Worker& worker = workers_[index];
    // New lives would hide that the others wait for ever.
    if (quiet_rounds_ > 30 && AnyAlive()) return;
    switch (Draw(40)) {
      case 0:
        if (worker.session == 0) Return(index);
        break;
      case 1:
        if (worker.session == 0) break;
        Do(state_->OnSessionEnd(worker.session, absl::OkStatus(), now_));
        worker = Worker();
        break;
      case 2:
        worker.frozen = worker.session != 0;
        break;
      default:
        break;
    }
  }

  bool AnyAlive() const {
    return std::any_of(
        workers_.begin(), workers_.end(),
        [](const Worker& worker) { return worker.session != 0; });
  }

  // Workers that were frozen for too long are dead, and no other worker is.
  void BuryTheFrozen() {
    for (Worker& worker : workers_) {
      if (worker.session == 0 || ended_.count(worker.session) == 0) continue;
      EXPECT_TRUE(worker.frozen) << ended_[worker.session];
      worker = Worker();
    }
  }

  // The least clock of those that have a lease; kNone: no worker has one.
  uint64_t Least() const {
    uint64_t least = kNone;
    for (const Worker& worker : workers_) {
      if (worker.lease.has_value()) least = std::min(least, worker.clock);
    }
    return least;
  }

  void TakeLeases() {
    for (Worker& worker : workers_) {
      if (worker.session == 0 || worker.lease.has_value()) continue;
      const std::vector<LeaseGrant> grants = Heard<LeaseGrant>(worker.session);
      if (grants.empty() || grants.back().lease.number == worker.newest) {
        continue;
      }
      const uint64_t least = Least();
      worker.clock = least == kNone ? 0 : least;
      worker.lease = grants.back().lease;
      worker.newest = worker.lease->number;
    }
  }

  // The next step, or false if the worker has none or has to wait.
  bool Go(Worker* worker) {
    if (worker->frozen || !worker->lease.has_value()) return false;
    if (worker->finished >= Until(worker->session).value_or(kNone)) {
      ++waits_;
      return false;
    }
    const uint64_t ahead = worker->clock - Least();
    EXPECT_LE(ahead, options_.ssp->bound);
    most_ahead_ = std::max(most_ahead_, ahead);
    Lease& lease = *worker->lease;
    std::vector<uint32_t> left;
    for (uint32_t i = 0; i < kBatches; ++i) {
      if (!lease.Skips(i)) left.push_back(i);
    }
    if (left.size() > 1) {
      MarkBoth(lease, left[0]);
      lease.skip.resize(1);
      lease.skip[0] = static_cast<uint8_t>(lease.skip[0] | 1u << left[0]);
      ++worker->clock;
      Tell(worker->session, StepsFinished{++worker->finished});
      return true;
    }
    // The piece is complete with the last mark, and its lease is over.
    const Lease done = lease;
    Report(worker->session, done, kBatches * 10);
    if (!left.empty()) MarkBoth(done, left[0]);
    worker->lease.reset();
    worker->finished += left.size();
    Tell(worker->session, StepsFinished{worker->finished});
    Tell(worker->session, LeaseDone{done.number});
    Tell(worker->session, LeaseRequest{});
    return true;
  }

  // Trains the job to its end. Fails if it stands still.
  void Run() {
    Begin();
    while (Heard<ReportShard>(1).empty()) {
      ASSERT_TRUE(JobStatus().ok()) << JobStatus();
      bool went = false;
      for (int i = 0; i < kWorkers; ++i) {
        Befall(i);
        TakeLeases();
        Worker& worker = workers_[i];
        uint64_t steps = Draw(worker.speed + 1);
        while (steps-- > 0 && Go(&worker)) went = true;
        if (HasFailure()) return;
      }
      std::vector<uint64_t> alive = {1, 2};
      for (const Worker& worker : workers_) {
        if (worker.session == 0 || worker.frozen) continue;
        alive.push_back(worker.session);
      }
      quiet_rounds_ = went ? 0 : quiet_rounds_ + 1;
      Pass(absl::Milliseconds(went ? 250 : 1000), alive);
      BuryTheFrozen();
    }
  }

  std::mt19937_64 random_{GetParam()};
  std::vector<Worker> workers_;
  int quiet_rounds_ = 0;  // without a step, up to now
  uint64_t waits_ = 0;
  uint64_t most_ahead_ = 0;
};

TEST_P(RandomPacedWorkers, KeepWithinTheBoundAndAlwaysGoOn) {
  Run();
  if (HasFailure()) return;
  EXPECT_EQ(state_->Report(now_).trained, 2u * 10 * kBatches * 10);
  // The pace is what keeps them together: where one has to wait, another one
  // was as far behind as the bound allows.
  EXPECT_TRUE(waits_ == 0 || most_ahead_ == options_.ssp->bound);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPacedWorkers,
                         testing::Range<uint64_t>(1, 21));

}  // namespace
}  // namespace shoal
