#include "tests/harness/simulated_executor.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SimulatedExecutor, PostNeverRunsTheTaskInline) {
  Simulator simulator;
  SimulatedExecutor executor(&simulator);
  bool ran = false;
  executor.Post([&] { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_EQ(executor.pending(), 1u);
  EXPECT_TRUE(simulator.RunOne());
  EXPECT_TRUE(ran);
  EXPECT_EQ(simulator.pending(), 0u);
  EXPECT_FALSE(simulator.RunOne());
}

TEST(SimulatedExecutor, TasksRunInTheOrderOfTimeThenOfPosting) {
  Simulator simulator;
  SimulatedExecutor a(&simulator);
  SimulatedExecutor b(&simulator);
  std::vector<std::string> log;
  const absl::Time start = simulator.Now();
  a.PostAfter(absl::Seconds(2), [&] { log.push_back("a at 2"); });
  b.Post([&] { log.push_back("b first"); });
  a.Post([&] {
    log.push_back("a second");
    a.Post([&] { log.push_back("a fourth"); });
  });
  b.PostAt(start - absl::Seconds(9), [&] { log.push_back("b third"); });
  b.PostAfter(absl::Seconds(1), [&] { log.push_back("b at 1"); });
  EXPECT_EQ(simulator.RunUntilIdle(), 6u);
  EXPECT_THAT(log, ElementsAre("b first", "a second", "b third", "a fourth",
                               "b at 1", "a at 2"));
  EXPECT_EQ(simulator.Now(), start + absl::Seconds(2));
}

TEST(SimulatedExecutor, RunUntilStopsAtTheTimeAndNoTaskSeesALaterOne) {
  Simulator simulator;
  SimulatedExecutor executor(&simulator);
  const absl::Time start = simulator.Now();
  std::vector<absl::Duration> seen;
  for (const int second : {1, 2, 3}) {
    executor.PostAfter(absl::Seconds(second),
                       [&] { seen.push_back(executor.Now() - start); });
  }
  EXPECT_EQ(simulator.RunUntil(start + absl::Seconds(2)), 2u);
  EXPECT_THAT(seen, ElementsAre(absl::Seconds(1), absl::Seconds(2)));
  EXPECT_EQ(simulator.RunFor(absl::Milliseconds(500)), 0u);
  EXPECT_EQ(simulator.clock()->Now(), start + absl::Milliseconds(2500));
  EXPECT_EQ(simulator.NextDue(), start + absl::Seconds(3));
}

TEST(SimulatedExecutor, RunUntilDoneStopsAtOnceOrAtTheDeadline) {
  Simulator simulator;
  SimulatedExecutor executor(&simulator);
  const absl::Time start = simulator.Now();
  int ticks = 0;
  struct Tick {  // a periodic timer
    SimulatedExecutor* executor;
    int* ticks;
    void operator()() const {
      ++*ticks;
      executor->PostAfter(absl::Seconds(1), *this);
    }
  };
  executor.Post(Tick{&executor, &ticks});
  EXPECT_TRUE(
      simulator.RunUntil([&] { return ticks == 4; }, start + absl::Minutes(1)));
  EXPECT_EQ(simulator.Now(), start + absl::Seconds(3));
  EXPECT_FALSE(simulator.RunUntil([&] { return ticks == 99; },
                                  start + absl::Minutes(1)));
  EXPECT_EQ(ticks, 61);
  EXPECT_EQ(simulator.Now(), start + absl::Minutes(1));
  EXPECT_EQ(simulator.RunUntilIdle(/*max_tasks=*/5), 5u);
}

std::vector<int> OrderOfEightTasks(std::optional<uint64_t> seed) {
  Simulator simulator(seed);
  SimulatedExecutor a(&simulator);
  SimulatedExecutor b(&simulator);
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) {
    a.Post([&order, i] { order.push_back(i); });
    b.Post([&order, i] { order.push_back(10 + i); });
  }
  simulator.RunUntilIdle();
  return order;
}

TEST(SimulatedExecutor, ASeedShufflesAcrossExecutorsButNeverWithinOne) {
  const std::vector<int> fifo = {0, 10, 1, 11, 2, 12, 3, 13};
  EXPECT_EQ(OrderOfEightTasks(std::nullopt), fifo);
  int different = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<int> order = OrderOfEightTasks(seed);
    EXPECT_EQ(order, OrderOfEightTasks(seed)) << "seed " << seed;
    std::vector<int> of_a;
    std::vector<int> of_b;
    for (const int i : order) (i < 10 ? of_a : of_b).push_back(i);
    EXPECT_THAT(of_a, ElementsAre(0, 1, 2, 3)) << "seed " << seed;
    EXPECT_THAT(of_b, ElementsAre(10, 11, 12, 13)) << "seed " << seed;
    if (order != fifo) ++different;
  }
  EXPECT_GT(different, 10);
}

TEST(SimulatedExecutor, AKilledProcessRunsNothingMore) {
  Simulator simulator;
  SimulatedExecutor dying(&simulator);
  SimulatedExecutor other(&simulator);
  std::vector<std::string> log;
  dying.Post([&] {
    log.push_back("its last task");
    dying.Kill();
    dying.Post([&] { log.push_back("posted after death"); });
  });
  dying.Post([&] { log.push_back("pending at death"); });
  other.PostAfter(absl::Seconds(1), [&] { log.push_back("the survivor"); });
  simulator.RunUntilIdle();
  EXPECT_THAT(log, ElementsAre("its last task", "the survivor"));
  EXPECT_TRUE(dying.killed());
}

TEST(SimulatedExecutor, KillDestroysPendingTasksWhichMayPostAgain) {
  Simulator simulator;
  SimulatedExecutor executor(&simulator);
  struct PostsAsItDies {
    SimulatedExecutor* executor;
    ~PostsAsItDies() {
      executor->Post([] { FAIL() << "dropped tasks must not run"; });
    }
  };
  auto owned = std::make_shared<PostsAsItDies>(PostsAsItDies{&executor});
  const std::weak_ptr<PostsAsItDies> watch = owned;
  executor.Post([owned = std::move(owned)] {});
  EXPECT_FALSE(watch.expired());
  executor.Kill();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(simulator.RunUntilIdle(), 0u);
}

TEST(SimulatedExecutor, AFrozenOneRunsLaterAndInOrder) {
  Simulator simulator;
  SimulatedExecutor frozen(&simulator);
  SimulatedExecutor other(&simulator);
  const absl::Time begin = simulator.Now();
  std::vector<std::string> log;
  frozen.PostAfter(absl::Seconds(1), [&] { log.push_back("first"); });
  frozen.PostAfter(absl::Seconds(2), [&] { log.push_back("second"); });
  other.PostAfter(absl::Seconds(3), [&] { log.push_back("other"); });
  frozen.Freeze(absl::Seconds(5));
  EXPECT_EQ(simulator.NextDue(), begin + absl::Seconds(3));
  simulator.RunUntilIdle();
  EXPECT_THAT(log, ElementsAre("other", "first", "second"));
  EXPECT_EQ(simulator.Now(), begin + absl::Seconds(5));
}

TEST(SimulatedExecutor, AnExecutorMoreLeavesTheOrderOfTheOthers) {
  const auto order = [](bool third) {
    Simulator simulator(/*seed=*/3);
    SimulatedExecutor a(&simulator, "a");
    SimulatedExecutor other(&simulator, "other");
    SimulatedExecutor b(&simulator, "b");
    std::vector<int> ran;
    for (int i = 0; i < 8; ++i) {
      a.Post([&ran, i] { ran.push_back(i); });
      b.Post([&ran, i] { ran.push_back(10 + i); });
      if (third) other.Post([] {});
    }
    simulator.RunUntilIdle();
    return ran;
  };
  EXPECT_EQ(order(true), order(false));
}

TEST(SimulatedExecutor, AnExecutorMayBeDestroyedByItsOwnTask) {
  Simulator simulator;
  auto executor = std::make_unique<SimulatedExecutor>(&simulator);
  std::vector<std::string> log;
  executor->Post([&] { executor.reset(); });
  executor->Post([&] { log.push_back("after the end"); });
  EXPECT_EQ(simulator.RunUntilIdle(), 1u);
  EXPECT_THAT(log, IsEmpty());
}

}  // namespace
}  // namespace shoal
