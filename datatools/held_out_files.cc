#include "datatools/held_out_files.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/path.h"
#include "datatools/criteo_prepare.h"
#include "datatools/synthetic.h"

namespace shoal {
namespace {

bool IsHeldOut(absl::string_view name) {
  return absl::StartsWith(name, "te-") || absl::StartsWith(name, "te.") ||
         absl::StartsWith(name, "va-");
}

bool IsOurs(const FileSystem& files, const std::string& directory) {
  for (const absl::string_view mark :
       {kCriteoFeaturesName, kSyntheticMetaName}) {
    if (files.OpenForRead(JoinPath(directory, mark)).ok()) return true;
  }
  return false;
}

}  // namespace

std::string HeldOutFilesWarning(const FileSystem& files,
                                const std::vector<LocalSource>& train) {
  std::map<std::string, bool> ours;  // by directory
  size_t held_out = 0;
  std::string first;
  for (const LocalSource& source : train) {
    if (!IsHeldOut(Basename(source.path))) continue;
    const std::string directory(Dirname(source.path));
    const auto [it, added] = ours.try_emplace(directory, false);
    if (added) it->second = IsOurs(files, directory);
    if (it->second && held_out++ == 0) first = source.path;
  }
  if (held_out == 0) return "";
  return absl::StrCat(
      "--training_data_dir has ", Counted(held_out, "file"),
      " of rows to validate or to test with, ",
      held_out == 1 ? first : absl::StrCat("the first ", first),
      ": an evaluation on rows that were trained says nothing; to train "
      "without them, give --training_data_dir='",
      JoinPath(Dirname(first), "tr*"), "'");
}

}  // namespace shoal
