#include "coordinator/session_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kFilePart = 1000;

// A connection that keeps what is delivered on it. Messages are told apart by
// the number of a HeartbeatAck; a SessionResumed is kept as minus its count.
struct Wire {
  std::vector<int> delivered;
  int ends = 0;
  std::optional<absl::Status> end;
  SessionTable::Connection connection = std::make_shared<SessionConnection>(
      SessionHandler{[this](CoordinatorMessage message) {
                       if (const auto* ack =
                               std::get_if<HeartbeatAck>(&message)) {
                         delivered.push_back(static_cast<int>(ack->number));
                       } else if (std::holds_alternative<FilePart>(message)) {
                         delivered.push_back(kFilePart);
                       } else {
                         delivered.push_back(-static_cast<int>(
                             std::get<SessionResumed>(message).taken));
                       }
                     },
                     [this](absl::Status status) {
                       ++ends;
                       end = std::move(status);
                     }});
};

class SessionTableTest : public testing::Test {
 protected:
  void Send(uint64_t number) { table_.Send(7, HeartbeatAck{number, 0}); }

  SessionTable table_;
  Wire first_, second_;
};

TEST_F(SessionTableTest, WhatWasNotTakenIsSentAgainOverTheNextConnection) {
  table_.Open(7, first_.connection);
  Send(1);
  Send(2);
  EXPECT_EQ(table_.Take(*first_.connection, Failure{}), 7u);
  EXPECT_EQ(table_.Break(first_.connection, absl::UnavailableError("cut")), 7u);
  EXPECT_EQ(first_.end->code(), absl::StatusCode::kUnavailable);
  Send(3);  // while there is no connection
  ASSERT_TRUE(table_.Resume(7, 1, second_.connection).ok());
  EXPECT_THAT(first_.delivered, ElementsAre(1, 2));
  EXPECT_THAT(second_.delivered, ElementsAre(-1, 2, 3));
  EXPECT_EQ(table_.Take(*second_.connection, Failure{}), 7u);
}

TEST_F(SessionTableTest, AMessageOfTheConnectionBeforeCountsForNothing) {
  table_.Open(7, first_.connection);
  ASSERT_TRUE(table_.Resume(7, 0, second_.connection).ok());
  EXPECT_EQ(first_.end->code(), absl::StatusCode::kAborted);
  EXPECT_EQ(table_.Take(*first_.connection, Failure{}), 0u);
  EXPECT_EQ(table_.Break(first_.connection, absl::UnavailableError("late")),
            0u);
  EXPECT_EQ(first_.ends, 1);
  EXPECT_EQ(second_.ends, 0);
  Send(1);
  EXPECT_THAT(second_.delivered, ElementsAre(0, 1));
}

TEST_F(SessionTableTest, AnAcknowledgedMessageIsNotKept) {
  table_.Open(7, first_.connection);
  Send(1);
  Heartbeat heartbeat;
  heartbeat.taken = 1;
  table_.Take(*first_.connection, heartbeat);
  EXPECT_EQ(table_.Resume(7, 0, second_.connection).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(table_.Resume(7, 2, second_.connection).code(),
            absl::StatusCode::kInvalidArgument);
  // An error changes nothing.
  EXPECT_EQ(first_.ends, 0);
  EXPECT_THAT(second_.delivered, IsEmpty());
  Send(2);
  EXPECT_THAT(first_.delivered, ElementsAre(1, 2));
}

// Thousands of parts may come between two heartbeats.
TEST_F(SessionTableTest, ARequestForAPartSaysThatThePartBeforeIsTaken) {
  table_.Open(7, first_.connection);
  table_.Take(*first_.connection, FileRequest{});
  Send(1);
  table_.Send(7, FilePart{});
  Send(2);
  table_.Take(*first_.connection, FileRequest{});
  EXPECT_EQ(table_.Resume(7, 1, second_.connection).code(),
            absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(table_.Resume(7, 2, second_.connection).ok());
  EXPECT_THAT(second_.delivered, ElementsAre(-1 - 1, 2));
}

TEST_F(SessionTableTest, ASessionThatIsOverEndsItsConnectionOnce) {
  table_.Open(7, first_.connection);
  table_.End(7, absl::OkStatus());
  table_.End(7, absl::OkStatus());
  EXPECT_EQ(first_.ends, 1);
  EXPECT_TRUE(first_.end->ok());
  Send(1);
  EXPECT_THAT(first_.delivered, IsEmpty());
  EXPECT_EQ(table_.Take(*first_.connection, Failure{}), 0u);
  EXPECT_EQ(table_.Resume(7, 0, second_.connection).code(),
            absl::StatusCode::kNotFound);
  table_.Open(8, second_.connection);
  table_.EndAll(absl::UnavailableError("over"));
  EXPECT_EQ(second_.ends, 1);
}

}  // namespace
}  // namespace shoal
