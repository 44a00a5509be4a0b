#ifndef SHOAL_JOB_DATA_SOURCES_H_
#define SHOAL_JOB_DATA_SOURCES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/id_kind.h"
#include "launch/job_flags.h"
#include "worker/data/source_list.h"

namespace shoal {

// The files that a job reads on this host.
struct DataSources {
  std::vector<LocalSource> train;  // --training_data_dir, if the job trains
  std::vector<LocalSource> eval;   // --val_data_dir
};

// The kind of ids of the files; kUnknown if none of them has a row.
IdKind IdsOf(const DataSources& sources);

// Lists the files that the flags name. Errors: those of ListSources, with the
// flag; INVALID_ARGUMENT, with two files and their flags, if rows of two kinds
// of ids are mixed (core/id_kind.h). REQUIRES: flags.Validate() was OK.
absl::StatusOr<DataSources> SourcesFromFlags(const FileSystem& files,
                                             const JobFlags& flags);

// INVALID_ARGUMENT, with the flag, if all files of a flag have 0 bytes. Call it
// only in a process that sees all of the job's files.
absl::Status CheckNotEmpty(const JobFlags& flags, const DataSources& sources);

}  // namespace shoal

#endif  // SHOAL_JOB_DATA_SOURCES_H_
