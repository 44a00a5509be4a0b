#include "coordinator/job_manifests.h"

#include <cstddef>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "core/registration.h"

namespace shoal {

JobManifests::JobManifests(const CheckpointOptions& options) {
  if (options.resume == nullptr) return;
  directory_ = options.resume_name;
  text_ = options.resume_text;
}

absl::StatusOr<CommitAction> JobManifests::Finish(SaverCommit commit) {
  Manifest manifest = std::exchange(cut_, {});
  absl::Status status;
  for (size_t k = 0; k < commit.entries.size(); ++k) {
    auto entry = ShardEntryFromText(commit.entries[k]);
    status.Update(
        Annotate(entry.status(), ProcessName(Role::kPs, static_cast<int>(k))));
    if (entry.ok()) manifest.shards.push_back(*std::move(entry));
  }
  SHOAL_RETURN_IF_ERROR(status);
  SHOAL_RETURN_IF_ERROR(ValidateManifest(manifest));
  being_written_ = commit.directory;
  return CommitAction{commit.number, std::move(commit.directory),
                      std::move(manifest)};
}

void JobManifests::OnWritten(ManifestText text) {
  directory_ = being_written_;
  text_ = std::move(text);
}

ManifestPart JobManifests::Answer(const ManifestRequest& request) const {
  const bool have = text_.text != nullptr && request.directory == directory_;
  return PartOf(request.directory,
                have ? absl::string_view(*text_.text) : absl::string_view(),
                request.offset);
}

}  // namespace shoal
