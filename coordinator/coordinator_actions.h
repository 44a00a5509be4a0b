#ifndef SHOAL_COORDINATOR_COORDINATOR_ACTIONS_H_
#define SHOAL_COORDINATOR_COORDINATOR_ACTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/logger.h"
#include "checkpoint/manifest.h"
#include "cluster/evaluation.h"
#include "core/save_messages.h"
#include "core/session_messages.h"

namespace shoal {

// The actions that the coordinator must perform after an event, in order.

// Send the message on the session.
struct SendAction {
  uint64_t session = 0;
  CoordinatorMessage message;
};
// End the session: OK after a Bye, otherwise the reason. Messages that still
// come on it are ignored.
struct EndSessionAction {
  uint64_t session = 0;
  absl::Status status;
};
// Log the line.
struct LogAction {
  LogLevel level = LogLevel::kInfo;
  std::string line;
};
// Write the manifest, which makes the directory of this name a checkpoint, and
// call OnCommitted with the outcome.
struct CommitAction {
  uint64_t number = 0;
  std::string directory;
  Manifest manifest;
};
// Read these bytes of a file of the checkpoint that the job began from, and
// call OnFileRead with the answer to the request. The manifest of the
// checkpoint names the file and has the bytes.
struct ReadFileAction {
  uint64_t session = 0;
  FileRequest request;
};
// Find out whether connections to this address of the session's process are
// refused, and call OnProbed with the answer. The action comes again every
// little while; one probe at a time is enough.
struct ProbeAction {
  uint64_t session = 0;
  std::string address;
};
// More work is left than one event may take: call Continue, after the events
// that wait already.
struct ContinueAction {};
// Answers RequestSave.
struct SaveReplyAction {
  uint64_t request = 0;
  absl::StatusOr<SavedCheckpoint> saved;
};
// An evaluation has all its scores: work out its report, which takes seconds
// for many scores, and call OnScored with it. One evaluation at a time.
struct ScoreAction {
  std::shared_ptr<const Evaluation> evaluation;
};
// Write these predictions, in the order of the actions, and call
// OnPredictionsWritten. The last predictions complete the file.
struct WritePredictionsAction {
  // Rows × C; NaN for a row that could not be parsed.
  std::vector<float> logits;
  bool last = false;
};
// The job is over, and every process has left or had the time to leave. Comes
// once, as the last action.
struct FinishedAction {};

using CoordinatorAction =
    std::variant<SendAction, EndSessionAction, LogAction, ProbeAction,
                 CommitAction, ContinueAction, SaveReplyAction, ScoreAction,
                 WritePredictionsAction, ReadFileAction, FinishedAction>;
using CoordinatorActions = std::vector<CoordinatorAction>;

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_COORDINATOR_ACTIONS_H_
