#include "launch/flag_value.h"

#include <cmath>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr int64_t kNoMax = std::numeric_limits<int64_t>::max();

// `value` with the fewest digits that read back as the same number: "0.0005".
std::string RealText(double value) {
  for (int digits = 1; digits < 17; ++digits) {
    const std::string text = absl::StrFormat("%.*g", digits, value);
    double again = 0;
    if (absl::SimpleAtod(text, &again) && again == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

std::string IntAllowed(absl::string_view what, int64_t min, int64_t max) {
  if (max == kNoMax) return absl::StrCat(what, " of at least ", min);
  return absl::StrCat(what, " in [", min, ", ", max, "]");
}

std::string Allowed(const IntRange& range) {
  return IntAllowed("an integer", range.min, range.max);
}

std::string Allowed(const ByteRange& range) {
  return absl::StrCat(IntAllowed("a number of bytes", range.min, range.max),
                      " (KiB, MiB or GiB may follow)");
}

std::string Allowed(const RealRange& range) {
  if (range.max == std::numeric_limits<double>::max()) {
    return absl::StrCat("a number ",
                        range.above_min ? "above " : "of at least ",
                        RealText(range.min));
  }
  return absl::StrCat("a number in ", range.above_min ? "(" : "[",
                      RealText(range.min), ", ", RealText(range.max), "]");
}

std::string Allowed(const DurationRange& range) {
  return absl::StrCat("a time in [", absl::FormatDuration(range.min), ", ",
                      absl::FormatDuration(range.max),
                      "], as in 500ms, 1.5s or 2m");
}

// Why a value was refused: "--flag=value: must be …".
struct Refusal {
  absl::string_view name;
  absl::string_view text;

  absl::Status operator()(absl::string_view allowed) const {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, "=", text, ": must be ", allowed));
  }
};

template <typename Range>
Range RangeOr(const FlagLimits& limits, const Range& otherwise) {
  const Range* range = std::get_if<Range>(&limits);
  return range != nullptr ? *range : otherwise;
}

bool ReadBytes(absl::string_view text, int64_t* value) {
  int shift = 0;
  if (absl::ConsumeSuffix(&text, "KiB")) shift = 10;
  if (absl::ConsumeSuffix(&text, "MiB")) shift = 20;
  if (absl::ConsumeSuffix(&text, "GiB")) shift = 30;
  if (!absl::SimpleAtoi(text, value)) return false;
  if (*value > (kNoMax >> shift) || *value < -(kNoMax >> shift)) return false;
  *value *= int64_t{1} << shift;
  return true;
}

template <typename T>
absl::Status ReadInt(const Refusal& refuse, absl::string_view text,
                     const FlagLimits& limits, T* out) {
  int64_t value = 0;
  if (const auto* bytes = std::get_if<ByteRange>(&limits)) {
    if (!ReadBytes(text, &value) || value < bytes->min || value > bytes->max) {
      return refuse(Allowed(*bytes));
    }
  } else {
    IntRange whole;
    whole.min = std::is_unsigned_v<T>
                    ? 0
                    : static_cast<int64_t>(std::numeric_limits<T>::min());
    whole.max = sizeof(T) < sizeof(int64_t)
                    ? static_cast<int64_t>(std::numeric_limits<T>::max())
                    : kNoMax;
    const IntRange range = RangeOr(limits, whole);
    if (!absl::SimpleAtoi(text, &value) || value < range.min ||
        value > range.max) {
      return refuse(Allowed(range));
    }
  }
  *out = static_cast<T>(value);
  return absl::OkStatus();
}

absl::Status ReadReal(const Refusal& refuse, absl::string_view text,
                      const FlagLimits& limits, double* out) {
  const RealRange range = RangeOr(limits, RealRange{});
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !std::isfinite(value) ||
      value < range.min || value > range.max ||
      (range.above_min && value == range.min)) {
    return refuse(Allowed(range));
  }
  *out = value;
  return absl::OkStatus();
}

absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits& limits, int* out) {
  return ReadInt(refuse, text, limits, out);
}
absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits& limits, int64_t* out) {
  return ReadInt(refuse, text, limits, out);
}
absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits& limits, uint64_t* out) {
  return ReadInt(refuse, text, limits, out);
}
absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits& limits, double* out) {
  return ReadReal(refuse, text, limits, out);
}

absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits&, bool* out) {
  if (!absl::SimpleAtob(text, out)) return refuse("true or false");
  return absl::OkStatus();
}

absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits& limits, absl::Duration* out) {
  const DurationRange range = RangeOr(limits, DurationRange{});
  absl::Duration value;
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds) && std::isfinite(seconds)) {
    value = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &value)) {
    return refuse(Allowed(range));
  }
  if (value < range.min || value > range.max) return refuse(Allowed(range));
  *out = value;
  return absl::OkStatus();
}

absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits&, std::string* out) {
  *out = std::string(text);
  return absl::OkStatus();
}

absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits& limits, const ChoiceTarget& out) {
  const std::vector<std::string>& words = out.words();
  for (size_t i = 0; i < words.size(); ++i) {
    if (absl::EqualsIgnoreCase(text, words[i])) {
      out.Take(i);
      return absl::OkStatus();
    }
  }
  for (const std::string& word : RangeOr(limits, NotThereYet{}).words) {
    if (absl::EqualsIgnoreCase(text, word)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", refuse.name, "=", text, " is not there yet; this version has ",
          absl::StrJoin(words, ", ")));
    }
  }
  if (words.size() == 1) return refuse(words[0]);
  return refuse(absl::StrCat("one of ", absl::StrJoin(words, ", ")));
}

template <typename T>
absl::Status Read(const Refusal& refuse, absl::string_view text,
                  const FlagLimits& limits, std::vector<T>* out) {
  std::vector<T> values;
  if (!text.empty()) {
    for (const absl::string_view entry : absl::StrSplit(text, ',')) {
      T value{};
      SHOAL_RETURN_IF_ERROR(
          Annotate(Read(Refusal{refuse.name, entry}, entry, limits, &value),
                   absl::StrCat("in --", refuse.name, "=", text)));
      values.push_back(value);
    }
  }
  *out = std::move(values);
  return absl::OkStatus();
}

std::string Print(bool value) { return value ? "true" : "false"; }
std::string Print(int value) { return absl::StrCat(value); }
std::string Print(int64_t value) { return absl::StrCat(value); }
std::string Print(uint64_t value) { return absl::StrCat(value); }
std::string Print(double value) { return RealText(value); }
std::string Print(const std::string& value) { return value; }
std::string Print(absl::Duration value) { return absl::FormatDuration(value); }
std::string PrintBytes(int64_t bytes) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  if (bytes > 0 && bytes % kMiB == 0) return absl::StrCat(bytes / kMiB, "MiB");
  return absl::StrCat(bytes);
}
template <typename T>
std::string Print(const std::vector<T>& values) {
  return absl::StrJoin(values, ",", [](std::string* out, T value) {
    absl::StrAppend(out, Print(value));
  });
}

template <typename T>
std::string PrintTarget(T* value) {
  return Print(*value);
}
std::string PrintTarget(const ChoiceTarget& choice) { return choice.word(); }

}  // namespace

absl::Status ParseFlagValue(absl::string_view name, absl::string_view text,
                            const FlagLimits& limits, FlagTarget target) {
  const Refusal refuse{name, text};
  return std::visit(
      [&](const auto& out) { return Read(refuse, text, limits, out); }, target);
}

std::string PrintFlagValue(FlagTarget target, const FlagLimits& limits) {
  if (std::holds_alternative<ByteRange>(limits)) {
    if (auto* const* bytes = std::get_if<int64_t*>(&target)) {
      return PrintBytes(**bytes);
    }
    if (auto* const* bytes = std::get_if<uint64_t*>(&target)) {
      return PrintBytes(static_cast<int64_t>(**bytes));
    }
  }
  return std::visit([](const auto& value) { return PrintTarget(value); },
                    target);
}

std::string FlagValueKind(FlagTarget target, const FlagLimits& limits) {
  if (const auto* choice = std::get_if<ChoiceTarget>(&target)) {
    return absl::StrJoin(choice->words(), "|");
  }
  if (std::holds_alternative<ByteRange>(limits)) return "BYTES";
  if (std::holds_alternative<bool*>(target)) return "BOOL";
  if (std::holds_alternative<double*>(target)) return "NUMBER";
  if (std::holds_alternative<std::string*>(target)) return "TEXT";
  if (std::holds_alternative<absl::Duration*>(target)) return "TIME";
  if (std::holds_alternative<std::vector<int>*>(target)) return "INTS";
  if (std::holds_alternative<std::vector<double>*>(target)) return "NUMBERS";
  return "INT";
}

}  // namespace shoal
