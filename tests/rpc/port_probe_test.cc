#include "rpc/port_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(5);

TEST(PortProbeTest, TellsAProcessThatListensFromNone) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(fd, plain, size), 0);
  ASSERT_EQ(getsockname(fd, plain, &size), 0);
  const std::string name =
      absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  EXPECT_EQ(ProbePort(name, kTimeout), PortState::kRefused);
  ASSERT_EQ(listen(fd, 1), 0);
  EXPECT_EQ(ProbePort(name, kTimeout), PortState::kOpen)
      << "though it never accepts";
  close(fd);
  EXPECT_EQ(ProbePort(name, kTimeout), PortState::kRefused);
}

TEST(PortProbeTest, KnowsNothingOfWhatIsNoAddress) {
  EXPECT_EQ(ProbePort("", kTimeout), PortState::kUnknown);
  EXPECT_EQ(ProbePort("sim:0:1", kTimeout), PortState::kUnknown);
}

}  // namespace
}  // namespace shoal
