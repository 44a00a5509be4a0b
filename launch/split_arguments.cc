#include "launch/split_arguments.h"

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace shoal {

SplitArguments SplitByFlagSet(const FlagSet& own,
                              const std::vector<std::string>& args) {
  SplitArguments split;
  bool is_own = true;
  for (const std::string& arg : args) {
    absl::string_view name = arg;
    if (absl::ConsumePrefix(&name, "--")) {
      name = name.substr(0, name.find('='));
      is_own = name == "help" || own.Find(name) != nullptr;
    } else if (arg == "-h") {
      is_own = true;
    }
    (is_own ? split.own : split.job).push_back(arg);
  }
  return split;
}

}  // namespace shoal
