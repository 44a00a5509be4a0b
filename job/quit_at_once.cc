#include "job/quit_at_once.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "job/exit_code.h"

namespace shoal {

void QuitAtOnce(absl::string_view last_words, Logger* logger) {
  alarm(1);
  logger->Warn(absl::StrCat("SIGINT again: the process ends at once",
                            last_words.empty() ? "" : "; ", last_words));
  _exit(kExitStopped);
}

}  // namespace shoal
