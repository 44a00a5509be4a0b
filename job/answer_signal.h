#ifndef SHOAL_JOB_ANSWER_SIGNAL_H_
#define SHOAL_JOB_ANSWER_SIGNAL_H_

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/logger.h"
#include "job/main_wait.h"

namespace shoal {

// Tells the user what follows a signal, unless the launcher has told so, and
// returns the reason for which the process is to stop: CANCELLED, which names
// the signal, and the process unless `name` is empty. nullopt: the event asks
// for nothing new. `stop_text` comes after "SIGTERM: ", as StopText. Does not
// return from the second SIGINT: the process then ends with `last_words`
// (job/quit_at_once.h).
//
//   const auto reason = AnswerSignal(wait->Wait(pause), "worker 1",
//                                    StopText(flags), last_words, logger);
//   if (reason.has_value()) part->Stop(*reason);
std::optional<absl::Status> AnswerSignal(
    const MainWait::Event& event, absl::string_view name,
    absl::string_view stop_text, absl::FunctionRef<std::string()> last_words,
    Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_ANSWER_SIGNAL_H_
