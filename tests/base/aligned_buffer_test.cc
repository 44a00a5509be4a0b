#include "base/aligned_buffer.h"

#include <cstdint>
#include <utility>

#include "gtest/gtest.h"

namespace shoal {
namespace {

bool Aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 64 == 0; }

TEST(AlignedBuffer, StartsOnACacheLineAtEverySize) {
  for (size_t size = 1; size < 200; ++size) {
    AlignedBuffer<float> buffer(size);
    ASSERT_TRUE(Aligned(buffer.data())) << size;
    ASSERT_EQ(buffer.size(), size);
    for (float& x : buffer) x = 1;  // all of it is ours: ASan watches
  }
}

TEST(AlignedBuffer, KeepsItsMemoryAsItShrinksAndGrowsAgain) {
  AlignedBuffer<int> buffer(100);
  const int* const memory = buffer.data();
  buffer.ResizeDiscard(3);
  EXPECT_EQ(buffer.size(), 3u);
  buffer.ResizeDiscard(0);
  EXPECT_TRUE(buffer.empty());
  buffer.ResizeDiscard(100);
  EXPECT_EQ(buffer.data(), memory);
  buffer.ResizeDiscard(100'000);
  EXPECT_TRUE(Aligned(buffer.data()));
  buffer[99'999] = 5;
  EXPECT_EQ(buffer.span().back(), 5);
}

TEST(AlignedBuffer, StartsOnAHugePageWhereItIsLarge) {
  constexpr size_t kHugePage = 2 << 20;
  AlignedBuffer<char> buffer(2 * kHugePage + 5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kHugePage, 0u);
  for (char& x : buffer) x = 1;  // all of it is ours: ASan watches
}

TEST(AlignedBuffer, MovingLeavesTheSourceEmptyAndUsable) {
  AlignedBuffer<int> a(4);
  for (int& x : a) x = 7;
  AlignedBuffer<int> b = std::move(a);
  EXPECT_EQ(b.size(), 4u);
  EXPECT_EQ(b[3], 7);
  EXPECT_TRUE(a.empty());
  a.ResizeDiscard(2);
  a[1] = 1;
  b = std::move(a);
  EXPECT_EQ(b.size(), 2u);
  EXPECT_EQ(b[1], 1);
}

TEST(AlignedBuffer, ANewBufferHoldsNothing) {
  const AlignedBuffer<double> buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.begin(), buffer.end());
  EXPECT_TRUE(buffer.span().empty());
}

}  // namespace
}  // namespace shoal
