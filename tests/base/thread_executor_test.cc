#include "base/thread_executor.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/notification.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

class ThreadExecutorTest : public ::testing::Test {
 protected:
  std::unique_ptr<ThreadExecutor> Make(int threads) {
    return std::make_unique<ThreadExecutor>(
        ThreadExecutorOptions{.name = "test", .threads = threads}, &clock_);
  }
  const RealClock clock_;
};

TEST_F(ThreadExecutorTest, PostNeverRunsTheTaskInline) {
  const auto executor = Make(1);
  const std::thread::id caller = std::this_thread::get_id();
  Notification done;
  std::string log;
  executor->Post([&] {
    EXPECT_NE(std::this_thread::get_id(), caller);
    executor->Post([&] {
      log += "inner";
      done.Notify();
    });
    log += "outer ";
  });
  ASSERT_TRUE(done.Wait());
  EXPECT_EQ(log, "outer inner");
}

TEST_F(ThreadExecutorTest, IsIdleOnceWhatWasPostedHasRun) {
  const auto executor = Make(1);
  EXPECT_TRUE(executor->WaitUntilIdle(absl::ZeroDuration()));
  Notification go;
  bool last_ran = false;
  executor->Post([&] {
    executor->Post([&] { last_ran = true; });
    EXPECT_TRUE(go.Wait());
  });
  EXPECT_FALSE(executor->WaitUntilIdle(absl::Milliseconds(1)));
  go.Notify();
  EXPECT_TRUE(executor->WaitUntilIdle(absl::Seconds(30)));
  EXPECT_TRUE(last_ran);
}

TEST_F(ThreadExecutorTest, AStrandKeepsEachPostersOrderAndNeverOverlaps) {
  constexpr int kPosters = 4;
  constexpr int kEach = 500;
  std::vector<std::vector<int>> seen(kPosters);  // strand: needs no lock
  bool running = false;
  {
    const auto executor = Make(1);
    std::vector<std::thread> posters;
    for (int p = 0; p < kPosters; ++p) {
      posters.emplace_back([&, p] {
        for (int i = 0; i < kEach; ++i) {
          executor->Post([&, p, i] {
            EXPECT_FALSE(std::exchange(running, true));
            seen[p].push_back(i);
            running = false;
          });
        }
      });
    }
    for (std::thread& poster : posters) poster.join();
  }
  for (const std::vector<int>& order : seen) {
    ASSERT_EQ(order.size(), static_cast<size_t>(kEach));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  }
}

TEST_F(ThreadExecutorTest, TimersRunInTheOrderOfTheirTimesAndNeverEarly) {
  const auto executor = Make(1);
  const absl::Time start = executor->Now();
  Notification done;
  std::vector<int> order;
  for (const int ms : {6, 2, 4, 2}) {
    const absl::Time when = start + absl::Milliseconds(ms);
    executor->PostAt(when, [&, when, ms] {
      EXPECT_GE(executor->Now(), when);
      order.push_back(ms);
      if (order.size() == 4) done.Notify();
    });
  }
  ASSERT_TRUE(done.Wait());
  EXPECT_THAT(order, ElementsAre(2, 2, 4, 6));
}

TEST_F(ThreadExecutorTest, ATimeInThePastOrTheFarFutureIsFine) {
  const auto executor = Make(1);
  Notification past;
  executor->PostAt(absl::InfiniteFuture(), [] { FAIL() << "never due"; });
  executor->PostAt(absl::InfinitePast(), [&] { past.Notify(); });
  EXPECT_TRUE(past.Wait());
}

TEST_F(ThreadExecutorTest, SeveralThreadsRunTasksAtTheSameTime) {
  const auto executor = Make(2);
  Notification a, b;
  bool met_a = false, met_b = false;
  Notification done_a, done_b;
  executor->Post([&] {
    a.Notify();
    met_b = b.Wait();
    done_a.Notify();
  });
  executor->Post([&] {
    b.Notify();
    met_a = a.Wait();
    done_b.Notify();
  });
  ASSERT_TRUE(done_a.Wait());
  ASSERT_TRUE(done_b.Wait());
  EXPECT_TRUE(met_a);
  EXPECT_TRUE(met_b);
}

TEST_F(ThreadExecutorTest, ATimerRunsWhileAnotherThreadIsBusy) {
  // Whichever of the two idle threads takes the long task, the other must be
  // waiting for the timer.
  const auto executor = Make(2);
  for (int round = 0; round < 100; ++round) {
    Notification timer, busy_done;
    bool fired = false;
    executor->PostAfter(absl::Milliseconds(1), [&] { timer.Notify(); });
    executor->Post([&] {
      fired = timer.Wait(absl::Seconds(5));
      busy_done.Notify();
    });
    ASSERT_TRUE(busy_done.Wait());
    ASSERT_TRUE(fired) << "round " << round;
  }
}

TEST_F(ThreadExecutorTest, ShutdownRunsWhatIsPostedAndDropsTheRest) {
  const auto executor = Make(2);
  std::atomic<int> ran{0};
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  for (int i = 0; i < 100; ++i) executor->Post([&] { ++ran; });
  executor->PostAfter(absl::Hours(1),
                      [owned = std::move(owned)] { FAIL() << "not due"; });
  executor->Shutdown();
  EXPECT_EQ(ran, 100);
  EXPECT_TRUE(watch.expired());
  auto late = std::make_shared<int>(2);
  const std::weak_ptr<int> late_watch = late;
  executor->Post([late = std::move(late)] { FAIL() << "after the end"; });
  EXPECT_TRUE(late_watch.expired());
  executor->Shutdown();
}

TEST_F(ThreadExecutorTest, ADroppedTaskMayPostAsItIsDestroyed) {
  const auto executor = Make(1);
  struct Bomb {
    Executor* executor;
    ~Bomb() {
      executor->Post([] { FAIL() << "after the end"; });
    }
  };
  executor->PostAfter(
      absl::Hours(1),
      [bomb = std::unique_ptr<Bomb>(new Bomb{executor.get()})] {});
  executor->Shutdown();  // would hang if it destroyed the task under its lock
}

}  // namespace
}  // namespace shoal
