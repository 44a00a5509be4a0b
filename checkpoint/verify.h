#ifndef SHOAL_CHECKPOINT_VERIFY_H_
#define SHOAL_CHECKPOINT_VERIFY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "checkpoint/manifest.h"

namespace shoal {

// One thing that is wrong with a checkpoint.
struct Damage {
  std::string file;     // its name
  std::string tensor;   // empty: the file as a whole, or its header
  uint64_t offset = 0;  // of the damaged bytes, in the file
  uint64_t bytes = 0;
  std::string what;  // a sentence
};

struct VerifyReport {
  uint64_t files = 0;          // read
  uint64_t bytes = 0;          // read
  uint64_t blocks = 0;         // whose CRC was compared
  std::vector<Damage> damage;  // the first kDamageListed
  uint64_t damaged = 0;        // all

  bool ok() const { return damaged == 0; }
};
inline constexpr size_t kDamageListed = 100;

struct VerifyOptions {
  // Files that are not there are damage too; else they are passed over, as on
  // one of several hosts without a common disk.
  bool need_all_files = true;
};

// Reads every byte of the files that `manifest` names in `directory` and
// compares sizes, headers, the CRC of every block and of every tensor.
VerifyReport VerifyCheckpoint(const FileSystem& files,
                              const std::string& directory,
                              const Manifest& manifest,
                              const VerifyOptions& options);

// "file, tensor, bytes a to b: what".
std::string ToString(const Damage& damage);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_VERIFY_H_
