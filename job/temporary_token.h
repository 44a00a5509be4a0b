#ifndef SHOAL_JOB_TEMPORARY_TOKEN_H_
#define SHOAL_JOB_TEMPORARY_TOKEN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace shoal {

// A token file for one job, with mode 0600, in a new directory below the
// directory for temporary files. The destructor removes both.
class TemporaryToken {
 public:
  static absl::StatusOr<std::unique_ptr<TemporaryToken>> Create();
  ~TemporaryToken();
  TemporaryToken(const TemporaryToken&) = delete;
  TemporaryToken& operator=(const TemporaryToken&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryToken(std::string directory);

  const std::string directory_;
  const std::string path_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_TEMPORARY_TOKEN_H_
