#include "rpc/own_host.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(OwnHostTest, TheLoopbackIsReachedFromItself) {
  EXPECT_EQ(OwnHostTowards("127.0.0.1:2223").value(), "127.0.0.1");
  EXPECT_EQ(OwnHostTowards("127.0.0.7:0").value(), "127.0.0.1");
  const auto v6 = OwnHostTowards("[::1]:2223");
  // A host without IPv6 has no way there.
  EXPECT_TRUE(v6.ok() ? *v6 == "[::1]" : absl::IsUnavailable(v6.status()))
      << v6.status();
}

TEST(OwnHostTest, ErrorsSayWhatIsWrong) {
  EXPECT_TRUE(absl::IsInvalidArgument(OwnHostTowards("h").status()));
  EXPECT_TRUE(
      absl::IsUnavailable(OwnHostTowards("no-such-host.invalid:1").status()));
}

}  // namespace
}  // namespace shoal
