#ifndef SHOAL_COORDINATOR_SENT_FILES_H_
#define SHOAL_COORDINATOR_SENT_FILES_H_

#include <cstdint>
#include <set>

#include "absl/status/statusor.h"
#include "cluster/membership.h"
#include "coordinator/checkpoint_options.h"
#include "coordinator/coordinator_actions.h"
#include "core/save_messages.h"

namespace shoal {

// The files of the checkpoint that the job began from, for PSs whose model
// directory lacks them. A request names a file of the checkpoint's manifest and
// a range of its bytes; the answer to any other request is an error. So no path
// that comes from another process is ever opened. Pure logic;
// thread-compatible.
//
//   a session: idle --OnRequest: ReadFileAction--> reading --OnRead--> idle
class SentFiles {
 public:
  explicit SentFiles(const CheckpointOptions& options);

  // The action that answers the request: a ReadFileAction, or a SendAction with
  // the error (see FilePart::status). RESOURCE_EXHAUSTED: the process asks
  // although the answer to its last request is under way, which breaks the
  // protocol. REQUIRES: from.open().
  absl::StatusOr<CoordinatorActions> OnRequest(const Member& from,
                                               FileRequest request);
  // The answer to the session's ReadFileAction is there. The session may be
  // over.
  void OnRead(uint64_t session) { reading_.erase(session); }

 private:
  absl::Status Check(const FileRequest& request) const;

  const CheckpointOptions checkpoints_;
  std::set<uint64_t> reading_;  // sessions whose part is being read
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_SENT_FILES_H_
