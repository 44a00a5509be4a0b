#include "cluster/lease_requests.h"

#include <optional>

#include "gtest/gtest.h"

namespace shoal {
namespace {

Life Worker(uint32_t n) { return {1, n}; }

TEST(LeaseRequestsTest, FirstComeFirst) {
  LeaseRequests queue;
  EXPECT_TRUE(queue.empty());
  for (const uint32_t n : {3, 1, 3}) queue.Ask(Worker(n));
  EXPECT_EQ(queue.Count(Worker(3)), 2u);
  EXPECT_EQ(queue.Next(), Worker(3));
  queue.PutBack(Worker(3));
  EXPECT_EQ(queue.Next(), Worker(1));
  queue.Forget(Worker(1));
  EXPECT_EQ(queue.Count(Worker(1)), 0u);
  EXPECT_EQ(queue.Next(), Worker(3));
  queue.PutBack(Worker(3));
  EXPECT_EQ(queue.Next(), std::nullopt) << "not before Retry";
  queue.Ask(Worker(5));
  queue.Retry();
  EXPECT_EQ(queue.Next(), Worker(3));
  EXPECT_EQ(queue.Next(), Worker(3));
  EXPECT_EQ(queue.Next(), Worker(5));
}

// What is looked at when something changed for one host of many.
TEST(LeaseRequestsTest, OnlyTheWorkersOfAHostThatWasWokenAreTried) {
  LeaseRequests queue;
  constexpr uint32_t kWorkers = 1024;
  for (uint32_t n = 1; n <= kWorkers; ++n) queue.Ask(Worker(n));
  int tried = 0;
  const auto try_all = [&] {
    for (uint32_t i = 0; i < 2 * kWorkers; ++i) {
      const auto worker = queue.Next();
      if (!worker.has_value()) return;
      ++tried;
      queue.Park(*worker, static_cast<int>(worker->n / 2));
    }
  };
  try_all();
  tried = 0;
  queue.Retry();
  try_all();
  EXPECT_EQ(tried, 0);
  queue.Wake(7);
  queue.Wake(100'000);
  try_all();
  EXPECT_EQ(tried, 2);
  queue.WakeAll();
  try_all();
  EXPECT_EQ(tried, 2 + static_cast<int>(kWorkers));
}

TEST(LeaseRequestsTest, AWorkerThatIsGoneIsTriedNoMore) {
  LeaseRequests queue;
  for (const uint32_t n : {1, 2, 1, 2, 1}) queue.Ask(Worker(n));
  queue.Park(*queue.Next(), 4);
  queue.Next();
  queue.PutBack(Worker(2));
  queue.Remove(Worker(1));
  EXPECT_EQ(queue.Count(Worker(1)), 0u);
  queue.WakeAll();
  queue.Retry();
  EXPECT_EQ(queue.Next(), Worker(2));
  EXPECT_EQ(queue.Next(), Worker(2));
  EXPECT_EQ(queue.Next(), std::nullopt);
  queue.Remove(Worker(2));
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace shoal
