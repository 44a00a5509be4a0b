#ifndef SHOAL_JOB_LAST_WORDS_H_
#define SHOAL_JOB_LAST_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

// Keeps what a process said last on stderr, for the launcher's own last line.
// The text only informs; nothing is decided by it.
class LastWords {
 public:
  // Longest text; the end of a longer line is left out.
  static constexpr size_t kMaxBytes = 800;

  // Takes a line of stderr.
  void Add(absl::string_view line);

  // The newest line that is an error: a line of the log at that level, without
  // its time and level, or a line that is not of the log, such as the last line
  // of a command. Empty: there is none.
  const std::string& error() const { return error_; }
  // The same, or else the newest line of any kind.
  const std::string& any() const { return error_.empty() ? line_ : error_; }

 private:
  std::string error_;
  std::string line_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_LAST_WORDS_H_
