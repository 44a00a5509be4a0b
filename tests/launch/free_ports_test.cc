#include "launch/free_ports.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

namespace shoal {
namespace {

TEST(PickFreePorts, GivesDifferentPortsThatCanBeBound) {
  const auto ports = PickFreePorts(20);
  ASSERT_TRUE(ports.ok()) << ports.status();
  EXPECT_EQ(std::set<int>(ports->begin(), ports->end()).size(), 20u);
  int bound = 0;
  for (const int port : *ports) {
    EXPECT_GE(port, 15000);
    EXPECT_LT(port, 32000);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address),
             sizeof(address)) == 0) {
      ++bound;
    }
    close(fd);
  }
  // Another process of a busy machine may have taken one since.
  EXPECT_GE(bound, 18);
}

TEST(PickFreePorts, OfNoneIsEmpty) { EXPECT_TRUE(PickFreePorts(0)->empty()); }

}  // namespace
}  // namespace shoal
