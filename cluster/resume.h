#ifndef SHOAL_CLUSTER_RESUME_H_
#define SHOAL_CLUSTER_RESUME_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "checkpoint/manifest.h"
#include "cluster/job_files.h"
#include "core/lease.h"

namespace shoal {

// Checks whether a job may go on from a checkpoint. Settings that decide the
// meaning of its marks and slots must be as they were. The numbers of PSs and
// workers, the epochs, the limits and the deadlines may differ.

// The error of a checkpoint that is of another model or config than the job,
// followed by what to do.
absl::Status WithResumeAdvice(const absl::Status& status);

// Compares the checkpoint's config with the job's; both are texts as
// RegisterRequest::config. `may_differ` has the names of the flags that may
// have another value now. FAILED_PRECONDITION names the first other flag that
// differs, with both values.
absl::Status CheckResumableConfig(absl::string_view saved,
                                  absl::string_view config,
                                  absl::Span<const std::string> may_differ);

// Compares the files and their pieces. FAILED_PRECONDITION names the first file
// that changed, or says that the files are cut into other pieces.
absl::Status CheckSameData(const SavedData& saved, const FileList& files,
                           absl::Span<const Piece> pieces);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_RESUME_H_
