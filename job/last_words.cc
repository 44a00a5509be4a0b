#include "job/last_words.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace shoal {
namespace {

// Level and text of a line of a Logger, "05:47:54.206 error text". The level is
// empty if the line is none.
std::pair<absl::string_view, absl::string_view> LevelAndText(
    absl::string_view line) {
  const std::pair<absl::string_view, absl::string_view> after_time =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  const std::pair<absl::string_view, absl::string_view> after_level =
      absl::StrSplit(after_time.second, absl::MaxSplits(' ', 1));
  const bool has_time = !after_time.first.empty() &&
                        absl::ascii_isdigit(after_time.first[0]) &&
                        after_time.first.find(':') != absl::string_view::npos;
  for (const absl::string_view level : {"debug", "info", "warning", "error"}) {
    if (has_time && after_level.first == level) return after_level;
  }
  return {"", line};
}

// The text with at most kMaxBytes bytes, cut before a character of UTF-8.
std::string Cut(absl::string_view text) {
  if (text.size() <= LastWords::kMaxBytes) return std::string(text);
  size_t size = LastWords::kMaxBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) {
    --size;
  }
  return absl::StrCat(text.substr(0, size), "…");
}

}  // namespace

void LastWords::Add(absl::string_view line) {
  if (absl::StripAsciiWhitespace(line).empty()) return;
  const auto [level, text] = LevelAndText(line);
  line_ = Cut(text);
  if (level.empty() || level == "error") error_ = line_;
}

}  // namespace shoal
