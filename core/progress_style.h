#ifndef SHOAL_CORE_PROGRESS_STYLE_H_
#define SHOAL_CORE_PROGRESS_STYLE_H_

#include "core/choice.h"

namespace shoal {

// The form in which a process reports its job (report/job_reporter.h).
enum class ProgressStyle {
  kText,  // for people: a live line on stderr, the closing lines on stdout
  kJson,  // JSON lines on stdout for a launcher (report/progress_json.h)
  kNone,
};

// The values of --progress.
inline constexpr Choice<ProgressStyle> kProgressStyles[] = {
    {ProgressStyle::kText, "text"},
    {ProgressStyle::kJson, "json"},
    {ProgressStyle::kNone, "none"}};

}  // namespace shoal

#endif  // SHOAL_CORE_PROGRESS_STYLE_H_
