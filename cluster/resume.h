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

// Whether a job may go on from a checkpoint. What decides the meaning of its
// marks and slots must be as it was; the number of PSs and of workers, epochs,
// limits and deadlines may be others.

// Flags of RegisterRequest::config that may differ from the checkpoint's.
bool MayDifferOnResume(absl::string_view flag);

// FAILED_PRECONDITION names the first flag that differs and both values.
absl::Status CheckResumableConfig(absl::string_view saved,
                                  absl::string_view config);

// The files and their pieces. FAILED_PRECONDITION names the first file that is
// not what it was, or says that the pieces are cut otherwise.
absl::Status CheckSameData(const SavedData& saved, const FileList& files,
                           absl::Span<const Piece> pieces);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_RESUME_H_
