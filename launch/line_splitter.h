#ifndef SHOAL_LAUNCH_LINE_SPLITTER_H_
#define SHOAL_LAUNCH_LINE_SPLITTER_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace shoal {

// Cuts a stream of bytes into lines. A line longer than max_line_bytes is cut
// into several, so that a stream without newlines takes no more memory than
// that. Thread-compatible.
class LineSplitter {
 public:
  using OnLine = absl::FunctionRef<void(absl::string_view line)>;

  explicit LineSplitter(size_t max_line_bytes = 64 << 10)
      : max_line_bytes_(max_line_bytes) {}

  // Calls on_line for every line that is complete, without its "\n" or "\r\n".
  void Add(absl::string_view bytes, OnLine on_line);
  // The stream has ended: calls on_line for the bytes that are left, if any.
  void Finish(OnLine on_line);

 private:
  const size_t max_line_bytes_;
  std::string rest_;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_LINE_SPLITTER_H_
