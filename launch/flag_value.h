#ifndef SHOAL_LAUNCH_FLAG_VALUE_H_
#define SHOAL_LAUNCH_FLAG_VALUE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "launch/choice.h"

namespace shoal {

// The place that a flag's value is stored in. The type decides how the text of
// a value is read.
using FlagTarget =
    std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*,
                 absl::Duration*, std::vector<int>*, std::vector<double>*,
                 ChoiceTarget>;

// The values that are allowed; bounds are inclusive. The limits of a list apply
// to each entry.
struct IntRange {
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
};
// An IntRange whose text may end in KiB, MiB or GiB.
struct ByteRange {
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
};
struct RealRange {
  double min = 0;
  double max = std::numeric_limits<double>::max();
  bool above_min = false;  // min itself is not allowed
};
struct DurationRange {
  absl::Duration min = absl::ZeroDuration();
  absl::Duration max = absl::Hours(24 * 365);
};
// Further words of a choice that are refused with the reason that they are not
// there yet.
struct NotThereYet {
  std::vector<std::string> words;
};
using FlagLimits = std::variant<std::monostate, IntRange, ByteRange, RealRange,
                                DurationRange, NotThereYet>;

// Reads `text` into `target`. INVALID_ARGUMENT names the flag, the value and
// what is allowed, and leaves the target as it was. Booleans are true or false
// (also 1, 0, yes, no), durations "1s", "500ms", "2m" or seconds as a bare
// number, lists are separated by commas and may be empty.
absl::Status ParseFlagValue(absl::string_view name, absl::string_view text,
                            const FlagLimits& limits, FlagTarget target);

// The value as text that ParseFlagValue reads back exactly.
std::string PrintFlagValue(FlagTarget target, const FlagLimits& limits = {});

// The kind of value for --help, as in "INT", "TIME" or "fixed_size|mod|hash".
std::string FlagValueKind(FlagTarget target, const FlagLimits& limits);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAG_VALUE_H_
