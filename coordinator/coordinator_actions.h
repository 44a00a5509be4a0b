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

// What the coordinator must do after an event, in order.
struct SendAction {
  uint64_t session = 0;
  CoordinatorMessage message;
};
// The session is over for us: OK after a Bye, otherwise why not. Nothing that
// still comes on it counts.
struct EndSessionAction {
  uint64_t session = 0;
  absl::Status status;
};
struct LogAction {
  LogLevel level = LogLevel::kInfo;
  std::string line;
};
// Write the manifest, which makes the directory of this name a checkpoint, and
// bring the outcome to OnCommitted.
struct CommitAction {
  uint64_t number = 0;
  std::string directory;
  Manifest manifest;
};
// Find out whether connections to this address of the session's process are
// refused, and bring the answer to OnProbed. Comes again every little while:
// one look at a time is enough.
struct ProbeAction {
  uint64_t session = 0;
  std::string address;
};
// More is to be done than one event may take: bring Continue, after whatever
// waits already.
struct ContinueAction {};
// Answers RequestSave.
struct SaveReplyAction {
  uint64_t request = 0;
  absl::StatusOr<SavedCheckpoint> saved;
};
// An evaluation has all its scores: work out its report, which takes seconds
// for many of them, and bring it by OnScored. One at a time.
struct ScoreAction {
  std::shared_ptr<const Evaluation> evaluation;
};
// Write these predictions, in the order of the actions, and say so by
// OnPredictionsWritten. The last completes the file.
struct WritePredictionsAction {
  // Rows × C. NaN: of a row that could not be parsed.
  std::vector<float> logits;
  bool last = false;
};
// The job is over and every process has heard, or had the time to. Once, and
// last.
struct FinishedAction {};

using CoordinatorAction =
    std::variant<SendAction, EndSessionAction, LogAction, ProbeAction,
                 CommitAction, ContinueAction, SaveReplyAction, ScoreAction,
                 WritePredictionsAction, FinishedAction>;
using CoordinatorActions = std::vector<CoordinatorAction>;

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_COORDINATOR_ACTIONS_H_
