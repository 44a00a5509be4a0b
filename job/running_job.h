#ifndef SHOAL_JOB_RUNNING_JOB_H_
#define SHOAL_JOB_RUNNING_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/file_system.h"

namespace shoal {

// The path of the socket (job/local_saves.h) of the job that holds `model_dir`.
// Errors, whose messages say what to do:
//   NOT_FOUND            there is no such directory
//   INVALID_ARGUMENT     the directory is a checkpoint, or no model directory
//   UNAVAILABLE          no job holds the directory; or the job is gone without
//                        having ended in good order; or it has no socket (yet)
//   FAILED_PRECONDITION  the job runs on another host, or its socket is not to
//                        be seen from here
//   PERMISSION_DENIED    the job runs as another user, or the directory cannot
//                        be read
absl::StatusOr<std::string> SocketOfJob(const FileSystem& files,
                                        const std::string& model_dir);

// Removes the socket of a job that held `model_dir` and was killed; does
// nothing if that job ended in good order, or lives.
void RemoveSocketOfKilledJob(const FileSystem& files,
                             const std::string& model_dir);

}  // namespace shoal

#endif  // SHOAL_JOB_RUNNING_JOB_H_
