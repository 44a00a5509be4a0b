#include "base/host_memory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace shoal {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

class HostMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    Write("/proc/meminfo",
          "MemTotal:       16777216 kB\nMemFree: 1 kB\n"
          "MemAvailable:    8388608 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const std::string root =
      testing::TempDir() + "/host_memory_test." +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(HostMemoryTest, IsTheHostsWithoutControlGroups) {
  const HostMemory memory = ReadHostMemory(root);
  EXPECT_EQ(memory.total_bytes, 16 * kGiB);
  EXPECT_EQ(memory.available_bytes, 8 * kGiB);
  EXPECT_EQ(memory.whose, "this host");
  EXPECT_FALSE(memory.of_group);
}

TEST_F(HostMemoryTest, TakesTheLowestLimitOfAGroupAndItsAncestors) {
  Write("/proc/self/cgroup", "0::/job/step\n");
  Write("/sys/fs/cgroup/memory.max", "max\n");
  Write("/sys/fs/cgroup/job/memory.max", "4294967296\n");
  Write("/sys/fs/cgroup/job/memory.current", "3221225472\n");
  Write("/sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 1073741824\n");
  Write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  const HostMemory memory = ReadHostMemory(root);
  EXPECT_EQ(memory.total_bytes, 4 * kGiB);
  // Two of its four are in use that cannot be given up.
  EXPECT_EQ(memory.available_bytes, 2 * kGiB);
  EXPECT_EQ(memory.whose, "control group /job");
  EXPECT_TRUE(memory.of_group);
}

TEST_F(HostMemoryTest, ReadsVersionOneAndItsGroupsThatAreNotSeenFromInside) {
  Write("/proc/self/cgroup",
        "5:cpu,cpuacct:/a\n4:memory:/docker/0123\n1:name=systemd:/\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  const HostMemory memory = ReadHostMemory(root);
  EXPECT_EQ(memory.total_bytes, 2 * kGiB);
  EXPECT_EQ(memory.available_bytes, kGiB);
}

TEST_F(HostMemoryTest, NoLimitOfVersionOneIsNone) {
  Write("/proc/self/cgroup", "4:memory:/\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(ReadHostMemory(root).total_bytes, 16 * kGiB);
}

TEST_F(HostMemoryTest, GarbageIsNoLimit) {
  Write("/proc/self/cgroup", "\n::\nx\n0:\n0::no-slash\n0::/..\n");
  Write("/sys/fs/cgroup/memory.max", "a lot\n");
  EXPECT_EQ(ReadHostMemory(root).total_bytes, 16 * kGiB);
  EXPECT_EQ(ReadHostMemory(root + "/nowhere").total_bytes, 0u);
}

TEST(HostMemoryOfThisHostTest, IsKnown) {
  const HostMemory memory = ReadHostMemory();
  EXPECT_GT(memory.total_bytes, 0u);
  EXPECT_LE(memory.available_bytes, memory.total_bytes);
}

}  // namespace
}  // namespace shoal
