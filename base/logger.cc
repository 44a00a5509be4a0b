#include "base/logger.h"

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

struct Logger::Impl {
  explicit Impl(const LoggerOptions& options)
      : log(options.name,
            std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>()) {
    log.set_level(ToSpdlog(options.level));
    log.flush_on(spdlog::level::trace);
    log.set_pattern(absl::StrCat(isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "",
                                 "%H:%M:%S.%e %^%l%$ ",
                                 options.name.empty() ? "" : "[%n] ", "%v"));
  }
  spdlog::logger log;
};

Logger::Logger(LoggerOptions options)
    : impl_(std::make_unique<Impl>(options)) {}
Logger::~Logger() = default;

bool Logger::Enabled(LogLevel level) const {
  return impl_->log.should_log(ToSpdlog(level));
}

void Logger::Log(LogLevel level, absl::string_view message) {
  impl_->log.log(ToSpdlog(level),
                 spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace shoal
