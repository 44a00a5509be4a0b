#include "job/quit_at_once.h"

#include <signal.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "job/exit_code.h"

namespace shoal {

void QuitAtOnce(absl::FunctionRef<std::string()> last_words, Logger* logger) {
  struct sigaction end = {};
  end.sa_handler = [](int) { _exit(kExitStopped); };
  sigaction(SIGALRM, &end, nullptr);
  alarm(1);
  const std::string words = last_words();
  logger->Warn(absl::StrCat("SIGINT again: the process ends at once",
                            words.empty() ? "" : "; ", words));
  _exit(kExitStopped);
}

}  // namespace shoal
