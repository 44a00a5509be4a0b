#include "bench/allreduce/allreduce_flags.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The error of these flags.
std::string ErrorOf(std::vector<std::string> args) {
  AllReduceFlags flags;
  FlagSet set = AllReduceFlagSet(&flags);
  const absl::Status parsed = set.Parse(args);
  if (!parsed.ok()) return std::string(parsed.message());
  const auto addresses = flags.Validate();
  EXPECT_EQ(addresses.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(addresses.status().message());
}

TEST(AllReduceFlagsTest, NameTheRanks) {
  AllReduceFlags flags;
  FlagSet set = AllReduceFlagSet(&flags);
  ASSERT_TRUE(set.Parse({"--hosts=h1:7000,[fd00::2]:7001", "--rank=1",
                         "--token_file=t", "--sizes=4,64KiB,1MiB",
                         "--reduction=rank_order"})
                  .ok());
  const auto addresses = flags.Validate();
  ASSERT_TRUE(addresses.ok()) << addresses.status();
  EXPECT_THAT(*addresses, ElementsAre("h1:7000", "[fd00::2]:7001"));
  EXPECT_THAT(flags.sizes, ElementsAre(4, 65536, 1048576));
  EXPECT_EQ(flags.reduction, Reduction::kRankOrder);
  EXPECT_THAT(AllReduceFlags().sizes, ElementsAre(4096, 16384, 65536, 262144,
                                                  1048576, 4194304, 16777216,
                                                  67108864));
}

TEST(AllReduceFlagsTest, MistakesAreNamedWithWhatToDo) {
  const std::string two = "--hosts=h1:1,h2:2";
  EXPECT_THAT(ErrorOf({two, "--rank=2", "--token_file=t"}),
              HasSubstr("--rank=2: --hosts has 2 entries, so ranks are 0 to 1; "
                        "give the place of this host"));
  EXPECT_THAT(ErrorOf({two, "--rank=-1", "--token_file=t"}),
              HasSubstr("--rank=-1"));
  EXPECT_THAT(ErrorOf({"--hosts=h1:1", "--rank=0", "--token_file=t"}),
              HasSubstr("has 1 entry, and a ring has 2 to 1024 ranks"));
  EXPECT_THAT(ErrorOf({"--hosts=h1,h2", "--rank=0", "--token_file=t"}),
              HasSubstr("'h1' must be host:port"));
  EXPECT_THAT(ErrorOf({"--hosts=h1:1,h1:1", "--rank=0", "--token_file=t"}),
              HasSubstr("'h1:1' is given twice"));
  EXPECT_THAT(ErrorOf({two, "--rank=0"}), HasSubstr("--token_file"));
  EXPECT_THAT(ErrorOf({two, "--token_file=t"}), HasSubstr("--rank"));
  EXPECT_THAT(ErrorOf({"--rank=0", "--token_file=t"}), HasSubstr("--hosts"));
  EXPECT_THAT(
      ErrorOf({two, "--rank=0", "--token_file=t", "--sizes=4KiB,4097"}),
      HasSubstr("--sizes: 4097 is not a multiple of 4"));
  EXPECT_THAT(ErrorOf({two, "--rank=0", "--token_file=t", "--sizes="}),
              HasSubstr("--sizes has no value"));
  EXPECT_THAT(ErrorOf({two, "--rank=0", "--token_file=t", "--sizes=2GiB"}),
              HasSubstr("--sizes=2GiB: must be"));
  EXPECT_THAT(ErrorOf({two, "--rank=0", "--token_file=t", "--listen=h1"}),
              HasSubstr("--listen: 'h1' must be host:port"));
}

}  // namespace
}  // namespace shoal
