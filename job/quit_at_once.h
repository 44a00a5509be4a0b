#ifndef SHOAL_JOB_QUIT_AT_ONCE_H_
#define SHOAL_JOB_QUIT_AT_ONCE_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "base/logger.h"

namespace shoal {

// Ends the process with kExitStopped, whatever its threads do, because its user
// sent the second SIGINT. Logs that, followed by what `last_words` returns if
// that is not empty. The process ends without these words if they cannot be
// made and written within a second, as when another thread holds a lock.
[[noreturn]] void QuitAtOnce(absl::FunctionRef<std::string()> last_words,
                             Logger* logger);

}  // namespace shoal

#endif  // SHOAL_JOB_QUIT_AT_ONCE_H_
