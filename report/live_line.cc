#include "report/live_line.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace shoal {
namespace {

constexpr absl::string_view kBetween = ", ";

}  // namespace

std::string LiveLine(const LiveParts& parts, int columns) {
  const size_t room = columns <= 0 ? std::string::npos : columns;
  size_t count = 0;
  size_t length = 0;
  for (const LivePart& part : parts) {
    const size_t more =
        part.brief.size() + (count == 0 ? 0 : kBetween.size());
    if (length + more > room) break;
    length += more;
    ++count;
  }
  if (count == 0) return parts.empty() ? "" : parts[0].brief.substr(0, room);
  std::string line;
  for (size_t i = 0; i < count; ++i) {
    const LivePart& part = parts[i];
    const size_t longer = part.text.size() - part.brief.size();
    const bool fits = longer <= room - length;
    if (fits) length += longer;
    absl::StrAppend(&line, i == 0 ? "" : kBetween,
                    fits ? part.text : part.brief);
  }
  return line;
}

}  // namespace shoal
