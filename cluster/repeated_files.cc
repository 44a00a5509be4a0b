#include "cluster/repeated_files.h"

#include <cstddef>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/counted.h"

namespace shoal {
namespace {

// The warning about one kind of files, which is left empty if there is none.
// `advice` says what to do.
std::string Warning(const FileList& list, const std::vector<std::string>& hosts,
                    absl::string_view kind, absl::string_view advice) {
  if (list.hosts.empty()) return "";
  using Identity = std::tuple<absl::string_view, uint64_t, uint32_t>;
  std::map<Identity, size_t> first;  // by identity: index of its first file
  size_t repeated = 0;
  std::string example;
  for (size_t i = 0; i < list.files.size(); ++i) {
    const SourceInfo& file = list.files[i];
    if (file.size == 0) continue;
    const auto [it, added] =
        first.try_emplace({file.name, file.size, file.head_crc32c}, i);
    const int host = list.hosts[it->second];
    if (added || host == list.hosts[i]) continue;
    if (repeated++ == 0) {
      example = absl::StrCat(file.name, ", ", Counted(file.size, "byte"),
                             ", on ", hosts[host], " and ",
                             hosts[list.hosts[i]]);
    }
  }
  if (repeated == 0) return "";
  return absl::StrCat(repeated, " of ", Counted(list.files.size(), kind),
                      repeated == 1 ? " has" : " have",
                      " the name, size and first bytes of a file on another "
                      "host (",
                      repeated == 1 ? "" : "the first: ", example,
                      "), and the rows of both count: ", advice);
}

}  // namespace

std::vector<std::string> RepeatedFileWarnings(const JobFiles& files) {
  std::vector<std::string> warnings = {
      Warning(files.train(), files.host_names(), "training file",
              "if they are copies, give --data_scope=shared, and every row is "
              "trained once an epoch"),
      Warning(files.eval(), files.host_names(), "evaluation file",
              "if they are copies, leave out --val_data_scope=host, and every "
              "row is evaluated once")};
  std::erase(warnings, "");
  return warnings;
}

}  // namespace shoal
