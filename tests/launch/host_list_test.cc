#include "launch/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseHostList, SplitsAtCommas) {
  const auto hosts = ParseHostList("ps_hosts", "a:1, b.c:65535,[::1]:7", true);
  ASSERT_TRUE(hosts.ok()) << hosts.status();
  EXPECT_THAT(*hosts, ElementsAre("a:1", "b.c:65535", "[::1]:7"));
}

TEST(ParseHostList, NeedsNoPortWhereNoneIsUsed) {
  const auto hosts = ParseHostList("worker_hosts", "a,a,b:2", false);
  ASSERT_TRUE(hosts.ok()) << hosts.status();
  EXPECT_THAT(*hosts, ElementsAre("a", "a", "b:2"));
}

TEST(ParseHostList, RefusesBadEntriesByName) {
  for (const char* text :
       {"a", "a:", "a:0", "a:65536", "a:x", ":1", "::1:7", "a:1:2"}) {
    const auto hosts = ParseHostList("ps_hosts", text, true);
    EXPECT_THAT(std::string(hosts.status().message()),
                HasSubstr("must be host:port"))
        << text;
  }
  EXPECT_FALSE(ParseHostList("ps_hosts", "", true).ok());
  EXPECT_FALSE(ParseHostList("ps_hosts", "a:1,,b:2", true).ok());
}

TEST(ParseHostList, RefusesOneAddressForTwo) {
  EXPECT_THAT(
      std::string(
          ParseHostList("ps_hosts", "a:1,a:1", true).status().message()),
      HasSubstr("twice"));
}

TEST(HostOfEntryTest, LeavesThePortOut) {
  for (const char* entry : {"h1", "h1:2222", "H1", "h1.", " h1:1"}) {
    EXPECT_EQ(HostOfEntry(entry), "h1") << entry;
  }
  for (const char* entry : {"fe80::1", "[fe80::1]", "[FE80::1]:2222"}) {
    EXPECT_EQ(HostOfEntry(entry), "fe80::1") << entry;
  }
  EXPECT_EQ(HostOfEntry("10.0.0.1:2222"), "10.0.0.1");
  EXPECT_EQ(HostOfEntry("[FE80:0:0::0001]:1"), "fe80::1")
      << "an address has one name";
}

}  // namespace
}  // namespace shoal
