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

// A simulated machine. Its disk stays when its processes end. When the machine
// loses its power, the disk keeps what was synced, and some of the rest, which
// the seed decides.
class SimulatedHost {
 public:
  explicit SimulatedHost(uint64_t seed);

  // The files for processes that start from now on, until LosePower.
  FileSystem* files() { return disks_.back().get(); }
  const FileSystem& files() const { return *disks_.back(); }

  // Adds a durable file that is there before any process starts.
  void AddFile(const std::string& path, absl::string_view bytes);

  // Loses the power. REQUIRES: the machine's processes have ended.
  void LosePower();

 private:
  const uint64_t seed_;
  // The newest disk is in use. Objects of a dead process may still point to an
  // older one.
  std::vector<std::unique_ptr<DurableFileSystem>> disks_;
};

// The bytes of an existing file.
std::string ContentsOf(const FileSystem& files, const std::string& path);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_SIMULATED_HOST_H_
