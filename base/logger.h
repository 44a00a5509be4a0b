#ifndef SHOAL_BASE_LOGGER_H_
#define SHOAL_BASE_LOGGER_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

struct LoggerOptions {
  // Said on every line after the time and the level, as in "worker 1".
  std::string name;
  LogLevel level = LogLevel::kInfo;
};

// Lines on stderr, each flushed when it is written, so that a killed process
// has said what it knew; on a terminal a line takes the row of an unfinished
// one, as of a progress line. One a process, made by main and handed down;
// libraries that are pure logic do not log at all. Thread-safe.
class Logger {
 public:
  explicit Logger(LoggerOptions options);
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  bool Enabled(LogLevel level) const;
  void Log(LogLevel level, absl::string_view message);

  void Debug(absl::string_view message) { Log(LogLevel::kDebug, message); }
  void Info(absl::string_view message) { Log(LogLevel::kInfo, message); }
  void Warn(absl::string_view message) { Log(LogLevel::kWarn, message); }
  void Error(absl::string_view message) { Log(LogLevel::kError, message); }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_LOGGER_H_
