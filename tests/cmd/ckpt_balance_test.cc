#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/ckpt_report.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The findings about two shards with these bytes.
std::string TextOf(uint64_t first, uint64_t second) {
  FakeFileSystem files;
  CheckpointInfo info;
  info.path = "m/ckpt-00000000007";
  info.manifest = WriteSmallCheckpoint(files, info.path, 7);
  const uint64_t bytes[] = {first, second};
  for (int s = 0; s < 2; ++s) {
    info.manifest.shards[s].lookups = 100;
    info.manifest.shards[s].variables = {{"fm_v", 2, bytes[s], 100}};
  }
  return CkptBalanceText(info);
}

TEST(CkptBalance, BytesAreUnevenWhereItMatters) {
  constexpr uint64_t kMiB = 1 << 20;
  // A dense block of 64 KiB on one of two servers: twice the mean, and nothing.
  EXPECT_THAT(TextOf(64 << 10, 0), Not(HasSubstr("bytes are uneven")));
  EXPECT_THAT(TextOf(64 << 10, 0), HasSubstr("bytes and look-ups are even"));
  EXPECT_THAT(TextOf(12 * kMiB, 8 * kMiB), HasSubstr("bytes are uneven"));
  EXPECT_THAT(TextOf(12 * kMiB, 8 * kMiB), HasSubstr("1.20 x the mean"));
  // The difference is large in bytes, but a small share of them.
  EXPECT_THAT(TextOf(1010 * kMiB, 990 * kMiB),
              Not(HasSubstr("bytes are uneven")));
}

}  // namespace
}  // namespace shoal
