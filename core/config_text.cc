#include "core/config_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace shoal {
namespace {

struct Renamed {
  absl::string_view former;
  absl::string_view present;
};
// A former name is never used again in a canonical text.
constexpr Renamed kRenamed[] = {{"dropout", "keep_prob"}};

// A list of keep_prob that keeps all units is written as the empty list, which
// means the same.
bool KeepsAll(absl::string_view line) {
  return absl::ConsumePrefix(&line, "keep_prob=") && !line.empty() &&
         line.find_first_not_of("1,") == absl::string_view::npos &&
         !absl::StrContains(line, "11");
}

absl::string_view NameOf(absl::string_view line) {
  return line.substr(0, line.find('='));
}

}  // namespace

std::string ConfigInPresentNames(absl::string_view config) {
  std::vector<std::string> lines = absl::StrSplit(config, '\n');
  bool changed = false;
  for (std::string& line : lines) {
    for (const Renamed& flag : kRenamed) {
      if (NameOf(line) != flag.former) continue;
      line = absl::StrCat(flag.present, line.substr(flag.former.size()));
      changed = true;
      break;
    }
    if (KeepsAll(line)) {
      line = "keep_prob=";
      changed = true;
    }
  }
  if (!changed) return std::string(config);
  lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
  std::sort(lines.begin(), lines.end());
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
}

absl::string_view ConfigValue(absl::string_view config,
                              absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(config, '\n')) {
    if (NameOf(line) == name && absl::ConsumePrefix(&line, name) &&
        absl::ConsumePrefix(&line, "=")) {
      return line;
    }
  }
  return "";
}

}  // namespace shoal
