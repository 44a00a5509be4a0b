#include "rpc/address.h"

#include <gtest/gtest.h>

#include <string>

namespace shoal {
namespace {

TEST(AddressTest, HostsAndNumbersAreTaken) {
  for (const std::string text :
       {"localhost:80", "10.1.2.3:0", "ps-0.job.local:65535", "[::1]:4000"}) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), text);
  }
}

TEST(AddressTest, EverythingElseIsRefused) {
  for (const std::string text :
       {"", "host", ":80", "host:", "host:x", "host:-1", "host:65536",
        "unix:/tmp/s", "dns:///host:80", "::1:80", "[::1:80", "[host]:80",
        "a b:80", "host:80/x"}) {
    EXPECT_EQ(ParseAddress(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(AddressTest, AHostIsWrittenAsInAnAddress) {
  EXPECT_EQ(ParseAddress("[::1]:4000")->HostText(), "[::1]");
  EXPECT_EQ(ParseAddress("ps-0.job.local:1")->HostText(), "ps-0.job.local");
}

TEST(AddressTest, LoopbackIsKnownByTheAddressAlone) {
  for (const std::string text :
       {"localhost:1", "127.0.0.1:1", "127.3.4.5:1", "[::1]:1"}) {
    EXPECT_TRUE(ParseAddress(text)->IsLoopback()) << text;
  }
  for (const std::string text : {"0.0.0.0:1", "10.0.0.1:1", "[::]:1",
                                 "localhost.example:1", "128.0.0.1:1"}) {
    EXPECT_FALSE(ParseAddress(text)->IsLoopback()) << text;
  }
}

}  // namespace
}  // namespace shoal
