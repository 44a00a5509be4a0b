#ifndef SHOAL_BASE_LOGGER_H_
#define SHOAL_BASE_LOGGER_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "base/terminal.h"

namespace shoal {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

struct LoggerOptions {
  // The process's name, such as "worker 1", on every line after the time and
  // the level.
  std::string name;
  LogLevel level = LogLevel::kInfo;
  // The terminal that stderr is.
  Terminal terminal = {};
  // True for date and zone in each line; otherwise the time of day.
  bool full_time = true;
};

// Writes log lines to stderr. Each line is flushed at once, so that the lines
// of a killed process are not lost. On a terminal that redraws, a log line
// overwrites an unfinished line, such as a progress line. Each process has one
// logger, which main makes and hands down. Pure logic does not log.
// Thread-safe.
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
