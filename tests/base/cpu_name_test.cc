#include "base/cpu_name.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace shoal {
namespace {

std::string Root(const std::string& cpuinfo) {
  const std::string root = testing::TempDir() + "/cpu_name_test";
  mkdir(root.c_str(), 0700);
  mkdir((root + "/proc").c_str(), 0700);
  std::ofstream(root + "/proc/cpuinfo") << cpuinfo;
  return root;
}

TEST(CpuNameTest, IsTheFirstModelName) {
  EXPECT_EQ(CpuName(Root("processor\t: 0\nmodel\t\t: 17\n"
                         "model name\t: AMD EPYC 9354P\nmodel name\t: b\n")),
            "AMD EPYC 9354P");
}

TEST(CpuNameTest, IsEmptyWhereTheFileDoesNotSayIt) {
  EXPECT_EQ(CpuName(Root("Processor\t: 0\n")), "");
  EXPECT_EQ(CpuName(Root("model name\t:\n")), "");
  EXPECT_EQ(CpuName("/nowhere"), "");
}

}  // namespace
}  // namespace shoal
