#include "worker/train/lease_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// `batches` batches of no example; then the end, or `error`. It has read all
// from the last `ahead` batches on.
class CountedSource final : public BatchSource {
 public:
  CountedSource(Executor* executor, uint32_t batches, uint32_t ahead,
                absl::Status error, int* alive)
      : executor_(executor),
        left_(batches),
        ahead_(ahead),
        error_(error),
        alive_(alive) {
    ++*alive_;
  }
  ~CountedSource() override { --*alive_; }

  void Next(Done<std::optional<Batch>> done) override {
    absl::StatusOr<std::optional<Batch>> read = std::optional<Batch>();
    if (left_ > 0) {
      --left_;
      read->emplace().id.index = next_++;
    } else if (!error_.ok()) {
      read = error_;
    }
    executor_->Post([token = std::weak_ptr<int>(token_), done = std::move(done),
                     read = std::move(read)]() mutable {
      if (!token.expired()) std::move(done)(std::move(read));
    });
  }
  bool all_read() const override { return left_ < ahead_; }
  void Recycle(Batch) override {}
  const PieceReport& report() const override { return report_; }

 private:
  Executor* const executor_;
  uint32_t left_;
  const uint32_t ahead_;
  const absl::Status error_;
  int* const alive_;
  uint32_t next_ = 0;
  const std::shared_ptr<int> token_ = std::make_shared<int>();
  PieceReport report_;
};

class LeaseQueueTest : public testing::Test {
 protected:
  LeaseQueueTest() {
    open_ =
        [this](const Lease&) -> absl::StatusOr<std::unique_ptr<BatchSource>> {
      if (!open_error_.ok()) return open_error_;
      return std::make_unique<CountedSource>(&strand_, batches_, ahead_,
                                             read_error_, &sources_);
    };
  }

  void Add(uint64_t number, uint64_t hold = 0) {
    Lease lease;
    lease.number = number;
    queue_.Add(lease, hold);
  }
  // Reads until nothing more comes.
  void ReadAll() {
    for (bool came = true; came;) {
      came = false;
      queue_.ReadNext(
          [&](std::shared_ptr<OpenLease> lease, std::optional<Batch> batch) {
            came = true;
            if (batch.has_value())
              taken_.emplace_back(lease, *std::move(batch));
          });
      simulator_.RunUntilIdle();
    }
  }
  void ComputeAll() {
    for (auto& [lease, batch] : taken_) queue_.OnComputed(lease.get());
  }
  void EndAll() {
    for (auto& [lease, batch] : std::exchange(taken_, {})) {
      queue_.EndBatch(lease, std::move(batch));
    }
  }
  // The kinds of what was told: r(equest), p(iece), d(one), f(ailed).
  std::vector<char> Told() const {
    std::vector<char> kinds;
    for (const ProcessMessage& message : told_) {
      kinds.push_back(std::holds_alternative<LeaseRequest>(message)  ? 'r'
                      : std::holds_alternative<PieceReport>(message) ? 'p'
                      : std::holds_alternative<LeaseDone>(message)   ? 'd'
                                                                     : 'f');
    }
    return kinds;
  }

  Simulator simulator_;
  SimulatedExecutor strand_{&simulator_};
  uint32_t batches_ = 2;
  uint32_t ahead_ = 0;
  absl::Status open_error_;
  absl::Status read_error_;
  int sources_ = 0;  // alive
  LeaseQueue::OpenSource open_;
  std::vector<ProcessMessage> told_;
  std::vector<uint64_t> computed_;  // leases whose last batch is computed
  std::vector<std::pair<std::shared_ptr<OpenLease>, Batch>> taken_;
  LeaseQueue queue_{
      {},
      &open_,
      &strand_,
      [this](ProcessMessage message) { told_.push_back(std::move(message)); },
      [this](const Lease& lease) { computed_.push_back(lease.number); }};
};

TEST_F(LeaseQueueTest, ALeaseWithoutBatchesIsDoneAndNotRead) {
  open_error_ = absl::NotFoundError("is not to be opened");
  Lease lease;
  lease.number = 7;
  lease.stride = Lease::kNoBatch + 1;
  lease.offset = Lease::kNoBatch;
  queue_.Add(lease);
  EXPECT_THAT(Told(), ElementsAre('r', 'd'));
  EXPECT_EQ(std::get<LeaseDone>(told_.back()).lease, 7u);
  EXPECT_THAT(computed_, ElementsAre(7));
  EXPECT_EQ(queue_.next(), nullptr);
}

// The last lease of a lane may have no batch, and come while batches before it
// wait for their pulls.
TEST_F(LeaseQueueTest, ALeaseWithoutBatchesEndsAfterTheLeasesBeforeIt) {
  for (const bool read : {false, true}) {
    told_.clear();
    computed_.clear();
    batches_ = 2;
    Add(1);
    ReadAll();
    if (read) {
      batches_ = 0;
      Add(2);
      ReadAll();
    } else {
      Lease lease;
      lease.number = 2;
      lease.stride = Lease::kNoBatch + 1;
      lease.offset = Lease::kNoBatch;
      queue_.Add(lease);
    }
    EXPECT_THAT(computed_, IsEmpty());
    EXPECT_THAT(Told(), testing::Not(testing::Contains('d')));
    ComputeAll();
    EXPECT_THAT(computed_, ElementsAre(1, 2));
    EXPECT_EQ(std::get<LeaseDone>(told_.back()).lease, 2u);
    EndAll();
    EXPECT_EQ(std::get<LeaseDone>(told_.back()).lease, 1u);
    const std::vector<char> told = Told();
    EXPECT_EQ(std::count(told.begin(), told.end(), 'd'), 2);
  }
}

TEST_F(LeaseQueueTest, AsksOnceAndAgainWhenTheLeaseIsRead) {
  queue_.Request();
  queue_.Request();
  EXPECT_THAT(Told(), ElementsAre('r'));
  Add(1);
  ReadAll();
  EXPECT_EQ(taken_.size(), 2u);
  EXPECT_THAT(Told(), ElementsAre('r', 'p', 'r'));
  EXPECT_EQ(queue_.next(), nullptr);
  ComputeAll();
  EndAll();
  EXPECT_THAT(Told(), ElementsAre('r', 'p', 'r', 'd'));
}

TEST_F(LeaseQueueTest, ALeaseWithoutBatchesIsDoneWhenItIsRead) {
  batches_ = 0;
  Add(1);
  ReadAll();
  EXPECT_THAT(Told(), ElementsAre('p', 'r', 'd'));
}

TEST_F(LeaseQueueTest, WhatCannotBeOpenedOrReadHasFailedAndIsNeverDone) {
  open_error_ = absl::NotFoundError("gone");
  Add(1);
  EXPECT_THAT(Told(), ElementsAre('f', 'r'));
  open_error_ = absl::OkStatus();
  read_error_ = absl::DataLossError("damaged");
  Add(2);
  ReadAll();
  EndAll();
  EXPECT_THAT(Told(), ElementsAre('f', 'r', 'f', 'r'));
  EXPECT_EQ(std::get<LeaseFailed>(told_[2]).lease, 2u);
}

TEST_F(LeaseQueueTest, SaysOnceWhenTheLastBatchOfALeaseIsComputed) {
  batches_ = 2;
  Add(1);
  ReadAll();
  EXPECT_THAT(computed_, IsEmpty());
  ComputeAll();
  EXPECT_THAT(computed_, ElementsAre(1));
  EXPECT_THAT(Told(), ElementsAre('p', 'r')) << "its batches have not ended";
  EndAll();
  EXPECT_THAT(computed_, ElementsAre(1));
  batches_ = 0;
  Add(2);
  ReadAll();
  EXPECT_THAT(computed_, ElementsAre(1, 2));
  batches_ = 1;
  read_error_ = absl::DataLossError("damaged");
  Add(3);
  ReadAll();
  ComputeAll();
  EXPECT_THAT(computed_, ElementsAre(1, 2, 3));
}

TEST_F(LeaseQueueTest, AsksForTheNextLeaseOnceTheRestIsReadAhead) {
  batches_ = 4;
  ahead_ = 3;
  Add(1);
  const auto take = [&](std::shared_ptr<OpenLease> lease,
                        std::optional<Batch> batch) {
    taken_.emplace_back(lease, *std::move(batch));
  };
  queue_.ReadNext(take);
  simulator_.RunUntilIdle();
  EXPECT_THAT(Told(), IsEmpty()) << "3 are left, and not all of them are read";
  queue_.ReadNext(take);
  simulator_.RunUntilIdle();
  EXPECT_THAT(Told(), ElementsAre('r'));
  // The next lease may come before the first one is read to its end.
  ahead_ = 0;
  Add(2);
  EXPECT_EQ(queue_.next()->lease.number, 1u);
  ReadAll();
  EXPECT_THAT(Told(), ElementsAre('r', 'p', 'p', 'r')) << "once for each lease";
  ComputeAll();
  EXPECT_THAT(computed_, ElementsAre(1, 2));
}

TEST_F(LeaseQueueTest, TheLeasesOfAHoldAreReadFirstAndAskForNone) {
  queue_.Request();
  Add(1);
  ahead_ = 1;
  // A batch of it is on its way when the others come.
  std::vector<uint64_t> order;
  const auto take = [&](std::shared_ptr<OpenLease> lease,
                        std::optional<Batch> batch) {
    if (batch.has_value()) order.push_back(lease->lease.number);
  };
  queue_.ReadNext(take);
  batches_ = 1;
  Add(2, /*hold=*/1);
  Add(3, /*hold=*/1);
  for (int i = 0; i < 9; ++i) {
    queue_.ReadNext(take);
    simulator_.RunUntilIdle();
  }
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 1));
  // Asked for the first and, once that was read, for one more.
  EXPECT_THAT(Told(), ElementsAre('r', 'p', 'p', 'p', 'r'));
  open_error_ = absl::NotFoundError("gone");
  Add(4, /*hold=*/2);
  EXPECT_EQ(Told().back(), 'f');
}

TEST_F(LeaseQueueTest, StoppedItEndsWhatIsOutAndTakesNothingMore) {
  Add(1);
  queue_.ReadNext(
      [&](std::shared_ptr<OpenLease> lease, std::optional<Batch> batch) {
        taken_.emplace_back(lease, *std::move(batch));
      });
  simulator_.RunUntilIdle();
  queue_.Stop();
  queue_.Request();
  Add(2);
  ReadAll();
  EXPECT_EQ(taken_.size(), 1u);
  EndAll();
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(LeaseQueueTest, AbandonedItLetsGoOfItsSources) {
  Add(1);
  Add(2);
  queue_.ReadNext([](std::shared_ptr<OpenLease>, std::optional<Batch>) {
    FAIL() << "delivered to a life that is over";
  });
  EXPECT_EQ(sources_, 2);
  queue_.Abandon();
  EXPECT_EQ(sources_, 0);
  simulator_.RunUntilIdle();
  queue_.Tell(LeaseRequest{});
  EXPECT_THAT(Told(), IsEmpty());
}

}  // namespace
}  // namespace shoal
