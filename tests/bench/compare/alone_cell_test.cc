#include "bench/compare/alone_cell.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(AloneOfTest, IsOneHostThatComputes) {
  Cell cell;
  cell.hosts = 4;
  cell.batch_size = 256;
  cell.global_batch = 1024;
  cell.network = "1gbit";
  cell.bits_per_second = 1e9;
  cell.cores_per_host = .5;
  cell.dilation = 3;
  cell.compute = kReplayed;
  cell.backup_workers = 1;
  cell.straggler = Straggler{1, .5};
  const Cell alone = AloneOf(cell);
  EXPECT_EQ(alone.hosts, 1);
  EXPECT_EQ(alone.batch_size, 256);
  EXPECT_EQ(alone.global_batch, 256);
  EXPECT_EQ(alone.network, "none");
  EXPECT_EQ(alone.bits_per_second, 0);
  EXPECT_FALSE(alone.replayed());
  EXPECT_EQ(alone.backup_workers, 0);
  EXPECT_FALSE(alone.straggler.has_value());
  EXPECT_EQ(alone.cores_per_host, .5);
  EXPECT_EQ(alone.dilation, 3);
}

}  // namespace
}  // namespace shoal
