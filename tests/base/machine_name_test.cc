#include "base/machine_name.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(MachineNameTest, IsTheSameForEveryProcessOfAMachine) {
  EXPECT_EQ(MachineName(), MachineName());
  EXPECT_NE(MachineName(), "");
}

TEST(MachineNameTest, ABootTellsMachinesOfOneNameApart) {
  const std::string root =
      testing::TempDir() + "/machine_name_test." + std::to_string(getpid());
  const std::string random = root + "/proc/sys/kernel/random";
  std::filesystem::create_directories(random);
  const std::string without = MachineName(root);
  EXPECT_EQ(without.find("boot"), std::string::npos) << without;
  std::ofstream(random + "/boot_id")
      << "0c7a3f52-1111-2222-3333-444444444444\n";
  EXPECT_EQ(MachineName(root), without + " (boot 0c7a3f52)");
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace shoal
