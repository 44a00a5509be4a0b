#include "worker/data/parse_number.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace shoal::parse_internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

const char* SkipDigits(const char* p, const char* end) {
  return std::find_if_not(p, end, IsDigit);
}

// True if the decimal number [p, end) of this grammar, which is not zero, is at
// least 1. It is needed because std::from_chars does not say on which side a
// number is out of range.
bool IsLarge(const char* p, const char* end) {
  const char* const mantissa_end =
      std::find_if(p, end, [](char c) { return c == 'e' || c == 'E'; });
  const char* const point = std::find(p, mantissa_end, '.');
  const char* const first = std::find_if(
      p, mantissa_end, [](char c) { return c >= '1' && c <= '9'; });
  // 0.00123 is 1.23e-3, 123 is 1.23e2.
  int64_t magnitude = first < point ? point - first - 1 : point - first;
  if (mantissa_end != end) {
    const char* e = mantissa_end + 1;
    const bool negative = *e == '-';
    if (*e == '-' || *e == '+') ++e;
    int64_t exponent = 0;
    for (; e != end; ++e) {
      exponent = std::min<int64_t>(exponent * 10 + (*e - '0'), 1 << 30);
    }
    magnitude += negative ? -exponent : exponent;
  }
  return magnitude >= 0;
}

}  // namespace

const char* ParseFloatSlowly(const char* p, const char* end, float* value) {
  bool negative = false;
  if (p != end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  const char* number_end = SkipDigits(p, end);
  if (number_end != end && *number_end == '.') {
    number_end = SkipDigits(number_end + 1, end);
  }
  if (number_end != end && (*number_end == 'e' || *number_end == 'E')) {
    const char* exponent = number_end + 1;
    if (exponent != end && (*exponent == '-' || *exponent == '+')) ++exponent;
    const char* const exponent_end = SkipDigits(exponent, end);
    // "1e" is the number 1 and then an e, as for strtof.
    if (exponent_end != exponent) number_end = exponent_end;
  }
  float parsed = 0;
  const auto result = std::from_chars(p, number_end, parsed);
  if (result.ec == std::errc::result_out_of_range) {
    parsed =
        IsLarge(p, number_end) ? std::numeric_limits<float>::infinity() : 0;
  } else if (result.ec != std::errc() || result.ptr != number_end) {
    return nullptr;
  }
  *value = negative ? -parsed : parsed;
  return number_end;
}

}  // namespace shoal::parse_internal
