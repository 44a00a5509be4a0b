#ifndef SHOAL_TESTS_SIM_SIMULATED_HOST_H_
#define SHOAL_TESTS_SIM_SIMULATED_HOST_H_

#include "tests/harness/fake_file_system.h"

namespace shoal {

// A simulated machine: what stays of it when its processes end is its disk.
class SimulatedHost {
 public:
  FakeFileSystem* files() { return &files_; }
  const FakeFileSystem& files() const { return files_; }

  // Its processes are gone; so is what the disk was not made to keep. (This
  // disk keeps all.)
  void LosePower() {}

 private:
  FakeFileSystem files_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_SIMULATED_HOST_H_
