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

// Two texts as RegisterRequest::config: the checkpoint's and the job's.
// `may_differ` has the names of the flags that may have another value now.
// FAILED_PRECONDITION names the first other flag that differs and both values.
absl::Status CheckResumableConfig(absl::string_view saved,
                                  absl::string_view config,
                                  absl::Span<const std::string> may_differ);

// The files and their pieces. FAILED_PRECONDITION names the first file that is
// not what it was, or says that the pieces are cut otherwise.
absl::Status CheckSameData(const SavedData& saved, const FileList& files,
                           absl::Span<const Piece> pieces);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_RESUME_H_
