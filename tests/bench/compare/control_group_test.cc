#include "bench/compare/control_group.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A made-up file system with the files of the kernel.
class ControlGroupTest : public ::testing::Test {
 protected:
  ControlGroupTest() {
    root_ = absl::StrCat(::testing::TempDir(), "/groups-XXXXXX");
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
    Directory("/proc");
    Directory("/proc/self");
    Directory("/cpu");
    Directory("/two");
  }
  ~ControlGroupTest() override { std::filesystem::remove_all(root_); }
  void Directory(const std::string& path) {
    mkdir(absl::StrCat(root_, path).c_str(), 0755);
  }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(absl::StrCat(root_, path)) << text;
  }
  std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(absl::StrCat(root_, path)).rdbuf();
    return text.str();
  }

  std::string root_;
};

TEST_F(ControlGroupTest, FindsVersion1ByItsController) {
  Write("/proc/self/mounts",
        "tmpfs /x tmpfs rw 0 0\ncgroup /cpuset cgroup rw,cpuset 0 0\n"
        "cgroup /cpu cgroup rw,relatime,cpu,cpuacct 0 0\n");
  const auto place = ControlGroup::Find(root_);
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->directory, absl::StrCat(root_, "/cpu"));
  EXPECT_FALSE(place->version2);
}

TEST_F(ControlGroupTest, FindsVersion2IfItHasTheController) {
  Write("/proc/self/mounts", "cgroup2 /two cgroup2 rw 0 0\n");
  Write("/two/cgroup.controllers", "memory pids\n");
  EXPECT_THAT(ControlGroup::Find(root_).status().message(),
              HasSubstr("neither the `cpu` controller"));
  Write("/two/cgroup.controllers", "cpuset cpu memory\n");
  // The kernel may refuse to enable it.
  EXPECT_THAT(ControlGroup::Find(root_).status().message(),
              HasSubstr("/two/cgroup.subtree_control"));
  Write("/two/cgroup.subtree_control", "");
  const auto place = ControlGroup::Find(root_);
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_TRUE(place->version2);
  EXPECT_EQ(Read("/two/cgroup.subtree_control"), "+cpu");
}

// Such as that of a container.
TEST_F(ControlGroupTest, AQuotaOfAllGroupsIsRefused) {
  Write("/proc/self/mounts", "cgroup /cpu cgroup rw,cpu 0 0\n");
  Write("/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_TRUE(ControlGroup::Find(root_).ok());
  Write("/cpu/cpu.cfs_quota_us", "200000\n");
  EXPECT_THAT(ControlGroup::Find(root_).status().message(),
              HasSubstr("/cpu/cpu.cfs_quota_us has '200000'); give this "
                        "container whole cores"));
  Write("/proc/self/mounts", "cgroup2 /two cgroup2 rw 0 0\n");
  Write("/two/cgroup.controllers", "cpu\n");
  Write("/two/cgroup.subtree_control", "");
  Write("/two/cpu.max", "max 100000\n");
  EXPECT_TRUE(ControlGroup::Find(root_).ok());
  Write("/two/cpu.max", "150000 100000\n");
  EXPECT_THAT(ControlGroup::Find(root_).status().message(),
              HasSubstr("/two/cpu.max has '150000 100000'"));
}

TEST_F(ControlGroupTest, WritesTheQuotaOfEachVersion) {
  const ControlGroup::Place one = {absl::StrCat(root_, "/cpu"), false};
  auto group = ControlGroup::Make(one, "shoal-lab1-0");
  ASSERT_TRUE(group.ok()) << group.status();
  Write("/cpu/shoal-lab1-0/cpu.cfs_quota_us", "");
  Write("/cpu/shoal-lab1-0/cpu.cfs_period_us", "");
  ASSERT_TRUE(
      group->SetQuota(absl::Milliseconds(2), absl::Milliseconds(4)).ok());
  EXPECT_THAT(Read("/cpu/shoal-lab1-0/cpu.cfs_quota_us"), HasSubstr("2000"));
  EXPECT_EQ(Read("/cpu/shoal-lab1-0/cpu.cfs_period_us"), "4000");
  EXPECT_EQ(group->processes_file(),
            absl::StrCat(root_, "/cpu/shoal-lab1-0/cgroup.procs"));

  const ControlGroup::Place two = {absl::StrCat(root_, "/two"), true};
  auto second = ControlGroup::Make(two, "shoal-lab1-0");
  ASSERT_TRUE(second.ok()) << second.status();
  Write("/two/shoal-lab1-0/cpu.max", "");
  ASSERT_TRUE(
      second->SetQuota(absl::Milliseconds(1), absl::Milliseconds(10)).ok());
  EXPECT_EQ(Read("/two/shoal-lab1-0/cpu.max"), "1000 10000");
  Write("/two/shoal-lab1-0/cpu.max", "");
  ASSERT_TRUE(
      second->SetQuota(absl::InfiniteDuration(), absl::Milliseconds(4)).ok());
  EXPECT_EQ(Read("/two/shoal-lab1-0/cpu.max"), "max 4000");
}

TEST_F(ControlGroupTest, TheFirstGroupHasTheLargestWeightOfEachVersion) {
  auto one = ControlGroup::Make({absl::StrCat(root_, "/cpu"), false}, "lab");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(one->PutFirst().message(), HasSubstr("/cpu/lab/cpu.shares"));
  Write("/cpu/lab/cpu.shares", "");
  ASSERT_TRUE(one->PutFirst().ok());
  EXPECT_EQ(Read("/cpu/lab/cpu.shares"), "262144");
  auto two = ControlGroup::Make({absl::StrCat(root_, "/two"), true}, "lab");
  ASSERT_TRUE(two.ok()) << two.status();
  Write("/two/lab/cpu.weight", "");
  ASSERT_TRUE(two->PutFirst().ok());
  EXPECT_EQ(Read("/two/lab/cpu.weight"), "10000");
}

TEST_F(ControlGroupTest, ListsGroupsByTheirPrefixAndIsGoneAtItsEnd) {
  const ControlGroup::Place place = {absl::StrCat(root_, "/cpu"), false};
  Directory("/cpu/other");
  {
    const auto group = ControlGroup::Make(place, "shoal-lab1-0");
    ASSERT_TRUE(group.ok()) << group.status();
    EXPECT_THAT(ControlGroup::List(place, "shoal-lab"),
                ElementsAre("shoal-lab1-0"));
    EXPECT_THAT(ControlGroup::Make(place, "shoal-lab1-0").status().message(),
                HasSubstr("/cpu/shoal-lab1-0"));
  }
  EXPECT_THAT(ControlGroup::List(place, "shoal-lab"), ElementsAre());
}

TEST_F(ControlGroupTest, SaysWhetherAGroupCouldBeRemoved) {
  const ControlGroup::Place place = {absl::StrCat(root_, "/cpu"), false};
  Directory("/cpu/shoal-lab1-0");
  Directory("/cpu/shoal-lab1-0/held");  // as one with processes
  EXPECT_FALSE(ControlGroup::Remove(place, "shoal-lab1-0"));
  Directory("/cpu/shoal-lab1-1");
  EXPECT_TRUE(ControlGroup::Remove(place, "shoal-lab1-1"));
}

}  // namespace
}  // namespace shoal
