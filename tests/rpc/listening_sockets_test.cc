#include "rpc/server/listening_sockets.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <utility>

namespace shoal {
namespace {

// The calls of a listen that returns `error` for the first `failures` of them,
// and its last result.
std::pair<int, int> Calls(int port, int error, int failures) {
  int calls = 0;
  const int result = ListeningSockets::Listen(
      port, [&] { return ++calls <= failures ? error : 0; });
  return {calls, result};
}

// A name with two addresses: a port may be free on the first one alone.
TEST(ListeningSocketsTest, AnotherFreePortIsTriedWhereOneIsBusyElsewhere) {
  using Result = std::pair<int, int>;
  EXPECT_EQ(Calls(0, EADDRINUSE, 0), Result(1, 0));
  EXPECT_EQ(Calls(0, EADDRINUSE, 3), Result(4, 0));
  EXPECT_EQ(Calls(0, EADDRINUSE, 1000),
            Result(ListeningSockets::kAttempts, EADDRINUSE));
  EXPECT_EQ(Calls(80, EADDRINUSE, 3), Result(1, EADDRINUSE))
      << "this port was asked for";
  EXPECT_EQ(Calls(0, EACCES, 3), Result(1, EACCES));
}

TEST(ListeningSocketsTest, AllAddressesOfANameHaveOnePort) {
  const auto sockets =
      ListeningSockets::Open({"localhost", 0}, absl::Seconds(1));
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  EXPECT_GT(sockets->port(), 0);
  EXPECT_FALSE(sockets->fds().empty());
  EXPECT_EQ(ListeningSockets::Open({"localhost", sockets->port()},
                                   absl::Seconds(1))
                .status()
                .code(),
            absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace shoal
