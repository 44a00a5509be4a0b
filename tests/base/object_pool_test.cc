#include "base/object_pool.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "gtest/gtest.h"

namespace shoal {
namespace {

struct Sized {
  uint64_t size = 10;
  uint64_t kept_bytes() const { return size; }
};

TEST(ObjectPool, TheLastOneReturnedIsTakenFirst) {
  ObjectPool<int> pool;
  auto a = pool.Take();
  auto b = pool.Take();
  int* const first = a.get();
  int* const second = b.get();
  EXPECT_NE(first, second);
  pool.Return(std::move(a));
  pool.Return(std::move(b));
  EXPECT_EQ(pool.Take().get(), second);
  const auto kept = pool.TakeKept();
  EXPECT_EQ(kept.get(), first);
  EXPECT_EQ(pool.TakeKept(), nullptr);
  EXPECT_NE(pool.Take(), nullptr);
}

TEST(ObjectPool, KeepsNoMoreBytesThanItMay) {
  ObjectPool<Sized> pool(/*max_kept_bytes=*/25);
  for (int i = 0; i < 3; ++i) pool.Return(std::make_unique<Sized>());
  auto a = pool.TakeKept();
  auto b = pool.TakeKept();
  EXPECT_NE(a, nullptr);
  EXPECT_NE(b, nullptr);
  EXPECT_EQ(pool.TakeKept(), nullptr);
  // What an object keeps is counted as it is when it comes back.
  a->size = 26;
  pool.Return(std::move(a));
  EXPECT_EQ(pool.TakeKept(), nullptr);
  b->size = 25;
  pool.Return(std::move(b));
  EXPECT_NE(pool.TakeKept(), nullptr);
  pool.Return(std::make_unique<Sized>());
  EXPECT_NE(pool.TakeKept(), nullptr);
}

TEST(ObjectPool, KindsAreApartAndShareTheLimit) {
  ObjectPool<Sized, 2> pool(/*max_kept_bytes=*/20);
  pool.Return(std::make_unique<Sized>(), 1);
  EXPECT_EQ(pool.TakeKept(0), nullptr);
  pool.Return(std::make_unique<Sized>(), 0);
  pool.Return(std::make_unique<Sized>(), 0);
  EXPECT_NE(pool.TakeKept(1), nullptr);
  EXPECT_NE(pool.TakeKept(0), nullptr);
  EXPECT_EQ(pool.TakeKept(0), nullptr);
}

}  // namespace
}  // namespace shoal
