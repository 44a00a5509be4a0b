#include "launch/ssh_command.h"

#include <stdio.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseRemoteHostsTest, TellsTheUserFromTheHost) {
  const auto hosts = ParseRemoteHosts("h1, ann@h2,::1");
  ASSERT_TRUE(hosts.ok()) << hosts.status();
  ASSERT_EQ(hosts->size(), 3u);
  EXPECT_EQ((*hosts)[0].target, "h1");
  EXPECT_EQ((*hosts)[1].target, "ann@h2");
  EXPECT_EQ((*hosts)[1].address, "h2");
  EXPECT_EQ((*hosts)[1].WithPort(2223), "h2:2223");
  EXPECT_EQ((*hosts)[2].WithPort(2223), "[::1]:2223");
}

TEST(ParseRemoteHostsTest, AnEntryMaySayHowManyWorkersItHas) {
  const auto hosts =
      ParseRemoteHosts("h1:4,ann@h2:1,h3,[::1]:2,::1:2,[fe80::2]", 3);
  ASSERT_TRUE(hosts.ok()) << hosts.status();
  std::vector<std::string> all;
  for (const RemoteHost& host : *hosts) {
    all.push_back(absl::StrCat(host.target, " ", host.address, " ",
                               host.workers));
  }
  // Without brackets an address of many colons is whole.
  EXPECT_THAT(all, ElementsAre("h1 h1 4", "ann@h2 h2 1", "h3 h3 3", "::1 ::1 2",
                               "::1:2 ::1:2 3", "fe80::2 fe80::2 3"));
}

TEST(ParseRemoteHostsTest, NamesAnEntryThatHasNoNumberOfWorkers) {
  for (const char* entry : {"h1:", "h1:0", "h1:-1", "h1:x", "h1:2223", "h1:4x",
                            "ann@h1:257", "[::1]x", "[::1", "[::1]:"}) {
    const auto hosts = ParseRemoteHosts(absl::StrCat("h0:2,", entry));
    EXPECT_EQ(hosts.status().message(),
              absl::StrCat("--hosts: '", entry,
                           "' must be a host, or host:n for n workers there, "
                           "from 1 to 256; the servers' port is --ps_port, and "
                           "ssh's port belongs into --ssh_command"));
  }
}

TEST(ParseRemoteHostsTest, RefusesWhatIsNoHost) {
  for (const char* text :
       {"", "h1,,h2", "h1,", "ann@", "-oProxyCommand=x", "a@-b", "h 1",
        "h1,h1", "ann@h1,h1", "h1:2,h1:2", ":4", "[]:4"}) {
    const auto hosts = ParseRemoteHosts(text);
    ASSERT_EQ(hosts.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
    EXPECT_THAT(std::string(hosts.status().message()), HasSubstr("--hosts"));
  }
}

// What a shell makes of a command line.
std::string Shell(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[256];
  size_t size;
  while ((size = fread(buffer, 1, sizeof(buffer), pipe)) > 0) {
    output.append(buffer, size);
  }
  EXPECT_EQ(pclose(pipe), 0);
  return output;
}

TEST(ShellQuoteTest, AnyWordComesThroughAShell) {
  for (const std::string word :
       {"plain", "two words", "it's", "$HOME `id` \\ \" * ?", "a\nb", "",
        "--flag=a'b'c", "; exit 1"}) {
    EXPECT_EQ(Shell("printf %s " + ShellQuote(word)), word);
  }
}

TEST(SshArgumentsTest, PutsTheHostAndTheQuotedCommandBehindSsh) {
  EXPECT_THAT(SshArguments(" ssh  -o BatchMode=yes ", {"ann@h1", "h1"},
                           {"/opt/shoal-ps", "--job=a b"}),
              ElementsAre("/usr/bin/env", "ssh", "-o", "BatchMode=yes",
                          "ann@h1", "exec '/opt/shoal-ps' '--job=a b'"));
}

}  // namespace
}  // namespace shoal
