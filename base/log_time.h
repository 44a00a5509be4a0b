#ifndef SHOAL_BASE_LOG_TIME_H_
#define SHOAL_BASE_LOG_TIME_H_

#include <string>

#include "absl/time/time.h"

namespace shoal {

// The time at the begin of a line for people. Full: with date and zone, as RFC
// 3339 has it ("2026-11-23T00:47:54.206+01:00"), for lines that are read later.
// Otherwise the time of day ("00:47:54.206").
inline std::string LogTime(absl::Time now, bool full) {
  return absl::FormatTime(full ? "%Y-%m-%dT%H:%M:%E3S%Ez" : "%H:%M:%E3S", now,
                          absl::LocalTimeZone());
}

}  // namespace shoal

#endif  // SHOAL_BASE_LOG_TIME_H_
