#include "job/data_sources.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

absl::StatusOr<std::vector<LocalSource>> List(const FileSystem& files,
                                              const JobFlags& flags,
                                              const std::string& pattern,
                                              const char* flag) {
  if (pattern.empty()) return std::vector<LocalSource>();
  auto sources = ListSources(&files, pattern, flags.data.data_format);
  SHOAL_RETURN_IF_ERROR(Annotate(sources.status(), flag));
  return sources;
}

absl::Status CheckAnyBytes(const std::vector<LocalSource>& sources,
                           const std::string& pattern, const char* flag) {
  const bool empty = std::all_of(
      sources.begin(), sources.end(),
      [](const LocalSource& source) { return source.info.size == 0; });
  if (sources.empty() || !empty) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      flag, "=", pattern, ": ",
      sources.size() == 1 ? "the file is empty" : "all files are empty"));
}

}  // namespace

absl::StatusOr<DataSources> SourcesFromFlags(const FileSystem& files,
                                             const JobFlags& flags) {
  DataSources sources;
  SHOAL_ASSIGN_OR_RETURN(sources.train, List(files, flags, flags.TrainingData(),
                                             "--training_data_dir"));
  SHOAL_ASSIGN_OR_RETURN(
      sources.eval,
      List(files, flags, flags.data.val_data_dir, "--val_data_dir"));
  return sources;
}

absl::Status CheckNotEmpty(const JobFlags& flags, const DataSources& sources) {
  SHOAL_RETURN_IF_ERROR(CheckAnyBytes(sources.train, flags.TrainingData(),
                                      "--training_data_dir"));
  return CheckAnyBytes(sources.eval, flags.data.val_data_dir, "--val_data_dir");
}

}  // namespace shoal
