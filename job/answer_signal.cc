#include "job/answer_signal.h"

#include <string.h>

#include "absl/strings/str_cat.h"
#include "job/quit_at_once.h"
#include "job/stop_text.h"

namespace shoal {

std::optional<absl::Status> AnswerSignal(
    const MainWait::Event& event, absl::string_view name,
    absl::string_view stop_text, absl::FunctionRef<std::string()> last_words,
    Logger* logger) {
  if (event.action == StopSignals::Action::kNone) return std::nullopt;
  if (event.action == StopSignals::Action::kQuit) {
    QuitAtOnce(last_words, logger);
  }
  const bool stop = event.action == StopSignals::Action::kStop;
  const std::string signal = absl::StrCat("SIG", sigabbrev_np(event.signal));
  if (!event.passed_on) {
    logger->Warn(
        absl::StrCat(signal, ": ", stop ? stop_text : RemindText()));
  }
  if (!stop) return std::nullopt;
  return absl::CancelledError(absl::StrCat(
      name, name.empty() ? "" : " was ", "stopped by ", signal));
}

}  // namespace shoal
