#include "worker/train/step_memory.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

const std::vector<int> kDims = {2, 1};
constexpr size_t kDense = 3;

void Fill(std::vector<float> values, AlignedBuffer<float>* to) {
  to->ResizeDiscard(values.size());
  std::copy(values.begin(), values.end(), to->begin());
}

StepMemory Step() {
  StepMemory step;
  step.batches = {{.id = {1, 2, 3}, .lease = 4, .examples = 5},
                  {.id = {1, 6, 7}, .lease = 8, .examples = 9,
                   .rejected = true}};
  step.gradient.tables.resize(2);
  step.gradient.tables[0].split.ids = {7, uint64_t{1} << 40};
  step.gradient.tables[0].split.begin = {0, 2};
  Fill({1, -2, 0.5f, 3}, &step.gradient.tables[0].d_rows);
  step.gradient.tables[1].split.ids = {9};
  step.gradient.tables[1].split.begin = {0, 1};
  Fill({-1}, &step.gradient.tables[1].d_rows);
  Fill({2, 4, 8}, &step.gradient.d_dense);
  return step;
}

std::string BytesOf(const StepMemory& step) {
  AlignedBuffer<char> out;
  EncodeStep(step, kDims, &out);
  return {out.data(), out.size()};
}

absl::Status Decode(const std::string& bytes, StepMemory* step,
                    size_t dense = kDense) {
  AlignedBuffer<char> aligned(bytes.size());
  std::copy(bytes.begin(), bytes.end(), aligned.begin());
  return DecodeStep(aligned.span(), kDims, dense, step);
}

std::string Put(std::string bytes, size_t at, uint32_t value) {
  std::memcpy(&bytes[at], &value, sizeof(value));
  return bytes;
}

// The example of docs/wire_protocol.md.
TEST(StepMemoryTest, ByteByByte) {
  EXPECT_EQ(absl::BytesToHexString(BytesOf(Step())),
            "534853540100000002000000020000000300000000000000"
            "0400000000000000010000000200000003000000050000000000000000000000"
            "0800000000000000010000000600000007000000090000000100000000000000"
            "02000000020000000100000001000000"
            "070000000000000000000000000100000900000000000000"
            "0000803f000000c00000003f00004040000080bf"
            "000000400000804000000041");
}

TEST(StepMemoryTest, AStepComesBack) {
  StepMemory step;
  ASSERT_TRUE(Decode(BytesOf(Step()), &step).ok());
  EXPECT_EQ(step.batches, Step().batches);
  EXPECT_FALSE(step.rejected());
  ASSERT_EQ(step.gradient.tables.size(), 2u);
  EXPECT_THAT(step.gradient.tables[0].split.begin, ElementsAre(0, 2));
  EXPECT_EQ(BytesOf(step), BytesOf(Step()));
}

TEST(StepMemoryTest, ARejectedStepHasItsBatchesAlone) {
  StepMemory rejected = Step();
  rejected.batches[0].rejected = true;
  const std::string bytes = BytesOf(rejected);
  EXPECT_EQ(bytes.size(), 24u + 2 * 32 + 2 * 8);
  StepMemory step;
  ASSERT_TRUE(Decode(bytes, &step).ok());
  EXPECT_TRUE(step.rejected());
  EXPECT_EQ(BytesOf(step), bytes);
}

TEST(StepMemoryTest, EveryCutIsRefused) {
  const std::string bytes = BytesOf(Step());
  StepMemory step;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(Decode(bytes.substr(0, size), &step)))
        << size;
  }
  EXPECT_TRUE(absl::IsDataLoss(Decode(bytes + "x", &step)));
}

TEST(StepMemoryTest, WhatContradictsItselfIsRefused) {
  const std::string bytes = BytesOf(Step());
  StepMemory step;
  EXPECT_TRUE(absl::IsDataLoss(Decode(Put(bytes, 0, 1), &step)));
  EXPECT_TRUE(absl::IsDataLoss(Decode(Put(bytes, 8, 0), &step)));
  EXPECT_TRUE(absl::IsDataLoss(Decode(Put(bytes, 8, 0xffffffff), &step)));
  EXPECT_TRUE(absl::IsDataLoss(Decode(Put(bytes, 24 + 24, 2), &step)));
  EXPECT_TRUE(absl::IsDataLoss(Decode(Put(bytes, 24 + 28, 1), &step)));
  // The second batch is the first one again.
  EXPECT_TRUE(absl::IsDataLoss(
      Decode(Put(Put(bytes, 56 + 12, 2), 56 + 16, 3), &step)));
  EXPECT_TRUE(absl::IsDataLoss(Decode(Put(bytes, 88, 0xffffffff), &step)));
  // Rows of rejected batches.
  StepMemory rejected = Step();
  rejected.batches[0].rejected = true;
  EXPECT_TRUE(
      absl::IsDataLoss(Decode(Put(BytesOf(rejected), 88, 1), &step)));
}

TEST(StepMemoryTest, AnotherModelIsRefused) {
  const std::string bytes = BytesOf(Step());
  StepMemory step;
  EXPECT_TRUE(absl::IsFailedPrecondition(Decode(Put(bytes, 4, 9), &step)));
  EXPECT_TRUE(absl::IsFailedPrecondition(Decode(Put(bytes, 12, 3), &step)));
  EXPECT_TRUE(absl::IsFailedPrecondition(Decode(Put(bytes, 92, 3), &step)));
  EXPECT_TRUE(absl::IsFailedPrecondition(Decode(bytes, &step, 4)));
}

}  // namespace
}  // namespace shoal
