#ifndef SHOAL_JOB_QUIT_AT_ONCE_H_
#define SHOAL_JOB_QUIT_AT_ONCE_H_

#include "absl/strings/string_view.h"
#include "base/logger.h"

namespace shoal {

// Ends the process with kExitStopped, whatever its threads do, because its user
// sent the second SIGINT. Logs that, followed by `last_words` if there are any;
// the system kills the process if the log cannot be written within a second.
[[noreturn]] void QuitAtOnce(absl::string_view last_words, Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_QUIT_AT_ONCE_H_
