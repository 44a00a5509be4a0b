#include "core/resend_queue.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ResendQueueTest, GivesWhatTheOtherEndHasNotTakenInOrder) {
  ResendQueue<std::string> queue(100);
  EXPECT_THAT(*queue.After(0), IsEmpty());
  for (const char* message : {"a", "b", "c"}) queue.Add(message, 1);
  EXPECT_EQ(queue.sent(), 3u);
  EXPECT_THAT(*queue.After(0), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*queue.After(1), ElementsAre("b", "c"));
  EXPECT_THAT(*queue.After(3), IsEmpty());
}

TEST(ResendQueueTest, WhatIsAcknowledgedGoes) {
  ResendQueue<std::string> queue(100);
  for (const char* message : {"a", "b", "c"}) queue.Add(message, 10);
  queue.Acknowledge(2);
  EXPECT_EQ(queue.bytes(), 10u);
  EXPECT_EQ(queue.sent(), 3u) << "numbers go on";
  EXPECT_THAT(*queue.After(2), ElementsAre("c"));
  queue.Acknowledge(1);  // an older word, which came late
  EXPECT_THAT(*queue.After(2), ElementsAre("c"));
  queue.Add("d", 10);
  EXPECT_THAT(*queue.After(2), ElementsAre("c", "d"));
  queue.Acknowledge(4);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(ResendQueueTest, ACountThatCannotBeIsRefusedAndAcknowledgesNothing) {
  ResendQueue<std::string> queue(100);
  queue.Add("a", 1);
  queue.Acknowledge(2);
  EXPECT_THAT(*queue.After(0), ElementsAre("a"));
  EXPECT_EQ(queue.After(2).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ResendQueueTest, WhatWasAcknowledgedCannotBeAskedForAgain) {
  ResendQueue<std::string> queue(100);
  queue.Add("a", 1);
  queue.Add("b", 1);
  queue.Acknowledge(2);
  EXPECT_EQ(queue.After(1).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(ResendQueueTest, BeyondItsBytesTheOldestGo) {
  ResendQueue<std::string> queue(25);
  for (const char* message : {"a", "b", "c"}) queue.Add(message, 10);
  EXPECT_EQ(queue.bytes(), 20u);
  EXPECT_EQ(queue.After(0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(queue.After(0).status().message()),
              HasSubstr("1 that follow are no longer kept"));
  EXPECT_THAT(*queue.After(1), ElementsAre("b", "c"))
      << "the other end had taken it: nothing is missing";
  queue.Add("huge", 26);
  EXPECT_EQ(queue.bytes(), 26u) << "the newest stays, whatever it holds";
  EXPECT_THAT(*queue.After(3), ElementsAre("huge"));
  EXPECT_EQ(queue.After(2).status().code(), absl::StatusCode::kOutOfRange);
  // Once all is acknowledged the session can be resumed again.
  queue.Acknowledge(4);
  queue.Add("d", 10);
  EXPECT_THAT(*queue.After(4), ElementsAre("d"));
}

}  // namespace
}  // namespace shoal
