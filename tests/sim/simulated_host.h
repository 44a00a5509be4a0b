#ifndef SHOAL_TESTS_SIM_SIMULATED_HOST_H_
#define SHOAL_TESTS_SIM_SIMULATED_HOST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "tests/harness/durable_file_system.h"

namespace shoal {

// A simulated machine: what stays of it when its processes end is its disk, and
// when it loses its power, of that disk what was synced, and by the seed some
// of the rest.
class SimulatedHost {
 public:
  explicit SimulatedHost(uint64_t seed);

  // Of the processes that start from now on, until LosePower.
  FileSystem* files() { return disks_.back().get(); }
  const FileSystem& files() const { return *disks_.back(); }

  // A file that was there, durably, before any process.
  void AddFile(const std::string& path, absl::string_view bytes);

  // REQUIRES: its processes are gone.
  void LosePower();

 private:
  const uint64_t seed_;
  // The newest is in force. What is left of a dead process may still point to
  // an older one.
  std::vector<std::unique_ptr<DurableFileSystem>> disks_;
};

// The bytes of a file that is there.
std::string ContentsOf(const FileSystem& files, const std::string& path);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_SIMULATED_HOST_H_
