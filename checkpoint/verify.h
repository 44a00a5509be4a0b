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
  std::string file;     // name of the file
  std::string tensor;   // empty: the file as a whole, or its header
  uint64_t offset = 0;  // position of the damaged bytes, in the file
  uint64_t bytes = 0;
  std::string what;  // a sentence
};

struct VerifyReport {
  uint64_t files = 0;          // files read
  uint64_t bytes = 0;          // bytes read
  uint64_t blocks = 0;         // blocks whose CRC was compared
  std::vector<Damage> damage;  // the first kDamageListed findings
  uint64_t damaged = 0;        // count of all findings

  bool ok() const { return damaged == 0; }
};
inline constexpr size_t kDamageListed = 100;

struct VerifyOptions {
  // True: a missing file counts as damage. False: missing files are ignored,
  // for one of several hosts without a common disk.
  bool need_all_files = true;
};

// Reads every byte of the files that `manifest` names in `directory`. Compares
// the sizes, the headers, and the CRCs of every block and every tensor.
VerifyReport VerifyCheckpoint(const FileSystem& files,
                              const std::string& directory,
                              const Manifest& manifest,
                              const VerifyOptions& options);

// "file, tensor, bytes a to b: what".
std::string ToString(const Damage& damage);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_VERIFY_H_
