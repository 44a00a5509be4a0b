#include "launch/ssh_command.h"

#include <stdio.h>

#include <string>

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

TEST(ParseRemoteHostsTest, RefusesWhatIsNoHost) {
  for (const char* text : {"", "h1,,h2", "h1,", "ann@", "-oProxyCommand=x",
                           "a@-b", "h 1", "h1,h1", "ann@h1,h1"}) {
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
