#include "launch/line_splitter.h"

#include <algorithm>

#include "absl/strings/strip.h"

namespace shoal {

void LineSplitter::Add(absl::string_view bytes, OnLine on_line) {
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    const size_t room = max_line_bytes_ - rest_.size();
    if (std::min(newline, bytes.size()) >= room) {
      rest_.append(bytes.data(), room);
      bytes.remove_prefix(room);
    } else if (newline == absl::string_view::npos) {
      rest_.append(bytes.data(), bytes.size());
      return;
    } else {
      rest_.append(bytes.data(), newline);
      bytes.remove_prefix(newline + 1);
    }
    on_line(absl::StripSuffix(rest_, "\r"));
    rest_.clear();
  }
}

void LineSplitter::Finish(OnLine on_line) {
  if (!rest_.empty()) on_line(rest_);
  rest_.clear();
}

}  // namespace shoal
