#include "job/output_check.h"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/output_path.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/manifest.h"

namespace shoal {
namespace {

using FileId = std::pair<dev_t, ino_t>;

// The identity of a file, which all its names share; nullopt: there is no such
// file, or it cannot be looked at.
std::optional<FileId> IdOf(const std::string& path) {
  struct stat info = {};
  if (path.empty() || stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileId(info.st_dev, info.st_ino);
}

absl::Status CheckNotOfCheckpoint(const std::string& path,
                                  absl::string_view flag) {
  const std::string directory(Dirname(path));
  if (!StepOfName(Basename(directory)).has_value() ||
      !IdOf(JoinPath(directory, kManifestFile)).has_value()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, "=", path, " would change the checkpoint ", directory,
                   "; give a file outside of it"));
}

// The files that the job reads, each with the flag that names it.
std::vector<std::pair<absl::string_view, std::string>> Inputs(
    const JobFlags& flags, const DataSources& sources) {
  std::vector<std::pair<absl::string_view, std::string>> inputs;
  for (const LocalSource& source : sources.train) {
    inputs.emplace_back("--training_data_dir", source.path);
  }
  for (const LocalSource& source : sources.eval) {
    inputs.emplace_back("--val_data_dir", source.path);
  }
  inputs.emplace_back("--config", flags.config_files.config);
  inputs.emplace_back("--compute_profile", flags.compute.compute_profile);
  inputs.emplace_back("--token_file", flags.cluster.token_file);
  return inputs;
}

absl::Status CheckOutput(
    const std::string& output, absl::string_view flag,
    absl::Span<const std::pair<absl::string_view, std::string>> inputs) {
  if (output.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> path = OutputPath(output);
  SHOAL_RETURN_IF_ERROR(Annotate(path.status(), flag));
  SHOAL_RETURN_IF_ERROR(CheckNotOfCheckpoint(*path, flag));
  const std::optional<FileId> id = IdOf(*path);
  if (!id.has_value()) return absl::OkStatus();
  for (const auto& [name, input] : inputs) {
    if (IdOf(input) != id) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag, "=", output, " would replace ", input,
                     ", which this job reads (", name, "); give another file"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOutputs(const JobFlags& flags, const DataSources& sources) {
  const auto inputs = Inputs(flags, sources);
  SHOAL_RETURN_IF_ERROR(
      CheckOutput(flags.output.summary, "--summary", inputs));
  SHOAL_RETURN_IF_ERROR(
      CheckOutput(flags.compute.record_compute, "--record_compute", inputs));
  if (!flags.training.Infers()) return absl::OkStatus();
  return CheckOutput(flags.PredictionsFile(), "--predictions_file", inputs);
}

}  // namespace shoal
