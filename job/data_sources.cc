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

// The first file whose kind of ids is known; nullptr: there is none.
const LocalSource* FirstKnown(const std::vector<LocalSource>& sources) {
  for (const LocalSource& source : sources) {
    if (source.ids != IdKind::kUnknown) return &source;
  }
  return nullptr;
}

// Compares the files of `flag` with `known`, a file of `known_flag`.
absl::Status CheckIds(const LocalSource& known, const char* known_flag,
                      const std::vector<LocalSource>& sources,
                      const char* flag) {
  for (const LocalSource& source : sources) {
    if (MayMix(known.ids, source.ids)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        known_flag, " has ", DescribeIds(known.ids), ", in ", known.path,
        "; ", flag, " has ", DescribeIds(source.ids), ", in ", source.path,
        ". A feature has another id in each, so one job reads only one kind: "
        "give raw files alone, or prepare all of them with one encoding "
        "(shoal data prepare, with --features for the further ones)"));
  }
  return absl::OkStatus();
}

absl::Status CheckOneKindOfIds(const DataSources& sources) {
  constexpr char kTrain[] = "--training_data_dir";
  constexpr char kEval[] = "--val_data_dir";
  const LocalSource* const train = FirstKnown(sources.train);
  const LocalSource* const eval = FirstKnown(sources.eval);
  if (train != nullptr) {
    SHOAL_RETURN_IF_ERROR(CheckIds(*train, kTrain, sources.train, kTrain));
    return CheckIds(*train, kTrain, sources.eval, kEval);
  }
  return eval == nullptr ? absl::OkStatus()
                         : CheckIds(*eval, kEval, sources.eval, kEval);
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

IdKind IdsOf(const DataSources& sources) {
  for (const auto* list : {&sources.train, &sources.eval}) {
    const LocalSource* const known = FirstKnown(*list);
    if (known != nullptr) return known->ids;
  }
  return IdKind::kUnknown;
}

absl::StatusOr<DataSources> SourcesFromFlags(const FileSystem& files,
                                             const JobFlags& flags) {
  DataSources sources;
  SHOAL_ASSIGN_OR_RETURN(sources.train, List(files, flags, flags.TrainingData(),
                                             "--training_data_dir"));
  SHOAL_ASSIGN_OR_RETURN(
      sources.eval,
      List(files, flags, flags.data.val_data_dir, "--val_data_dir"));
  SHOAL_RETURN_IF_ERROR(CheckOneKindOfIds(sources));
  return sources;
}

absl::Status CheckNotEmpty(const JobFlags& flags, const DataSources& sources) {
  SHOAL_RETURN_IF_ERROR(CheckAnyBytes(sources.train, flags.TrainingData(),
                                      "--training_data_dir"));
  return CheckAnyBytes(sources.eval, flags.data.val_data_dir, "--val_data_dir");
}

}  // namespace shoal
