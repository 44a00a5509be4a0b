#include "base/logger.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>

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

// Erases an unfinished line of the terminal; its width is asked at each line.
class EraseFlag final : public spdlog::custom_flag_formatter {
 public:
  explicit EraseFlag(const Terminal& terminal) : terminal_(terminal) {}

  void format(const spdlog::details::log_msg&, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string erase =
        EraseLine(terminal_, TerminalColumns(STDERR_FILENO, 80) - 1);
    line.append(erase.data(), erase.data() + erase.size());
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<EraseFlag>(terminal_);
  }

 private:
  const Terminal terminal_;
};

// The times are those of base/log_time.h.
std::unique_ptr<spdlog::formatter> Format(const LoggerOptions& options) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<EraseFlag>('*', options.terminal)
      .set_pattern(absl::StrCat(
          "%*", options.full_time ? "%Y-%m-%dT%H:%M:%S.%e%z" : "%H:%M:%S.%e",
          " %^%l%$ ", options.name.empty() ? "" : "[%n] ", "%v"));
  return formatter;
}

}  // namespace

struct Logger::Impl {
  explicit Impl(const LoggerOptions& options)
      : log(options.name,
            std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(
                options.terminal.escapes ? spdlog::color_mode::always
                                         : spdlog::color_mode::never)) {
    log.set_level(ToSpdlog(options.level));
    log.flush_on(spdlog::level::trace);
    log.set_formatter(Format(options));
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
