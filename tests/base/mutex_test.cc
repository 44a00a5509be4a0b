#include "base/mutex.h"

#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(Mutex, KeepsThreadsApart) {
  Mutex mu;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        MutexLock lock(&mu);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 40'000);
}

TEST(CondVar, HandsATokenToAndFro) {
  Mutex mu;
  CondVar turn_changed;
  int turn = 0;
  int rounds = 0;
  auto play = [&](int me) {
    for (int i = 0; i < 100; ++i) {
      MutexLock lock(&mu);
      while (turn != me) turn_changed.Wait(&mu);
      turn = 1 - me;
      ++rounds;
      turn_changed.SignalAll();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(rounds, 200);
}

TEST(CondVar, WaitForEndsByItselfAndHoldsTheLockAfterwards) {
  Mutex mu;
  CondVar never;
  const absl::Time start = absl::Now();
  MutexLock lock(&mu);
  while (!never.WaitFor(&mu, absl::Milliseconds(1))) {
  }
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(1));
}

TEST(CondVar, AnEndlessTimeoutWaitsForTheWake) {
  Mutex mu;
  CondVar changed;
  bool ready = false;
  std::thread waker;
  {
    MutexLock lock(&mu);
    // Cannot signal before we wait, since we hold the lock until then.
    waker = std::thread([&] {
      MutexLock lock(&mu);
      ready = true;
      changed.Signal();
    });
    while (!ready) {
      EXPECT_FALSE(changed.WaitFor(&mu, absl::InfiniteDuration()));
    }
  }
  waker.join();
}

}  // namespace
}  // namespace shoal
