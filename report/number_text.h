#ifndef SHOAL_REPORT_NUMBER_TEXT_H_
#define SHOAL_REPORT_NUMBER_TEXT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace shoal {

// 12345678 as "12,345,678".
inline std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<size_t>(i), ",");
  }
  return text;
}

// 45678 as "45.7k": at most five characters for numbers below 999.5 million.
inline std::string InFewDigits(double number) {
  if (number < 999.5) return absl::StrCat(std::llround(number));
  const bool millions = number >= 999.5e3;
  const double scaled = number / (millions ? 1e6 : 1e3);
  const int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f%s", decimals, scaled, millions ? "M" : "k");
}

// A span of time by its two largest units: "42s", "1m30s", "23h59m", "3d4h".
inline std::string SpanText(double seconds) {
  const auto s = static_cast<uint64_t>(std::llround(std::max(seconds, 0.0)));
  const uint64_t m = s / 60;
  const uint64_t h = m / 60;
  if (m == 0) return absl::StrCat(s, "s");
  if (h == 0) return absl::StrCat(m, "m", s % 60, "s");
  if (h < 24) return absl::StrCat(h, "h", m % 60, "m");
  return absl::StrCat(h / 24, "d", h % 24, "h");
}

}  // namespace shoal

#endif  // SHOAL_REPORT_NUMBER_TEXT_H_
