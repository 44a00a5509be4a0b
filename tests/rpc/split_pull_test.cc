#include "rpc/client/split_pull.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace shoal {
namespace {

// Pulls three parts, which get these replies one after the other.
absl::StatusOr<PullReply> PullParts(
    const std::vector<absl::StatusOr<PullReply>>& replies) {
  size_t next = 0;
  std::optional<absl::StatusOr<PullReply>> result;
  std::make_shared<SplitPull>(
      std::vector<PullRequest>(replies.size()),
      [&](const PullRequest&, SplitPull::OnPart done) {
        std::move(done)(replies[next++]);
      })
      ->Start(1, [&](absl::StatusOr<PullReply> reply) {
        result = std::move(reply);
      });
  return result.has_value() ? *result : absl::UnknownError("never done");
}

PullReply ReplyOf(uint64_t count, Colour colour, uint64_t step) {
  return {.version = {{1, 1}, count}, .colour = colour, .step = step};
}

TEST(SplitPullTest, HasTheOldestStateOfItsParts) {
  const auto reply =
      PullParts({ReplyOf(8, 1, 7), ReplyOf(6, 2, 5), ReplyOf(9, 0, 6)});
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->version.count, 6u);
  EXPECT_EQ(reply->colour, 2);
  EXPECT_EQ(reply->step, 5u);
}

TEST(SplitPullTest, EndsWithTheFirstError) {
  const auto reply = PullParts({ReplyOf(8, 1, 7), absl::NotFoundError("one"),
                                absl::InternalError("two")});
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace shoal
