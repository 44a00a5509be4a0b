#include "coordinator/sent_files.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/job_effects.h"

namespace shoal {

SentFiles::SentFiles(const CheckpointOptions& options)
    : checkpoints_(options) {}

absl::Status SentFiles::Check(const FileRequest& request) const {
  const Manifest* const manifest = checkpoints_.resume.get();
  if (manifest == nullptr || request.directory != checkpoints_.resume_name) {
    return absl::NotFoundError("the job did not begin from this checkpoint");
  }
  const auto entry = std::find_if(
      manifest->shards.begin(), manifest->shards.end(),
      [&](const ShardEntry& e) { return e.file.file == request.file; });
  if (entry == manifest->shards.end()) {
    return absl::NotFoundError("the checkpoint has no such file");
  }
  const uint64_t size = entry->file.size;
  if (request.bytes == 0 || request.bytes > kFilePartBytes ||
      request.offset > size || size - request.offset < request.bytes) {
    return absl::OutOfRangeError(absl::StrCat(
        "asked for ", request.bytes, " bytes from byte ", request.offset,
        " on; the file has ", size, ", and a part at most ", kFilePartBytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<CoordinatorActions> SentFiles::OnRequest(const Member& from,
                                                        FileRequest request) {
  if (reading_.count(from.session) != 0) {
    return absl::ResourceExhaustedError(
        "asked for a part of a file before it had the last one");
  }
  CoordinatorActions actions;
  absl::Status fits = Check(request);
  if (fits.ok()) {
    reading_.insert(from.session);
    actions.emplace_back(ReadFileAction{from.session, std::move(request)});
  } else {
    Send(from,
         FilePart{std::move(request.directory), std::move(request.file),
                  request.offset, "", std::move(fits)},
         &actions);
  }
  return actions;
}

}  // namespace shoal
