#ifndef SHOAL_WORKER_DATA_PARSE_NUMBER_H_
#define SHOAL_WORKER_DATA_PARSE_NUMBER_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace shoal {

// Parses numbers in text, independently of the locale, fast enough for files in
// the page cache. All functions read only [p, end), and return the end of the
// number.

namespace parse_internal {

static_assert(std::endian::native == std::endian::little,
              "eight bytes at once are read as a little-endian word");

inline constexpr uint64_t kPow10[] = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

// Powers of ten that are exact doubles.
inline constexpr double kExactPow10[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The number of digits at the low end of the eight bytes. A byte is a digit if
// its high nibble is 3 before and after adding 6.
inline int LeadingDigits(uint64_t bytes) {
  constexpr uint64_t kHigh = 0xF0F0F0F0F0F0F0F0u;
  constexpr uint64_t kThrees = 0x3030303030303030u;
  const uint64_t other = ((bytes & kHigh) ^ kThrees) |
                         (((bytes + 0x0606060606060606u) & kHigh) ^ kThrees);
  return std::countr_zero(other) / 8;  // 8 if all are digits
}

// The number whose first digit is the lowest of the eight bytes. A zero byte
// counts as the digit 0. The method is D. Lemire's product of halves.
inline uint64_t EightDigits(uint64_t bytes) {
  bytes &= 0x0F0F0F0F0F0F0F0Fu;
  bytes = bytes * 10 + (bytes >> 8);
  return (((bytes & 0x000000FF000000FFu) * 0x000F424000000064u) +
          (((bytes >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
         32;
}

// ParseFloat for numbers that its fast path cannot round exactly or cannot
// parse.
const char* ParseFloatSlowly(const char* p, const char* end, float* value);

}  // namespace parse_internal

// Appends the digits at p to the decimal number *value, modulo 2^64: the caller
// must refuse more than 19 digits. Returns p if there is no digit.
inline const char* ParseDigits(const char* p, const char* end,
                               uint64_t* value) {
  using namespace parse_internal;  // NOLINT: of this header
  while (end - p >= 8) {
    uint64_t bytes;
    std::memcpy(&bytes, p, 8);
    const int digits = LeadingDigits(bytes);
    if (digits == 8) {
      *value = *value * kPow10[8] + EightDigits(bytes);
      p += 8;
      continue;
    }
    if (digits == 0) return p;
    // Shift the digits to the high end of the word, with zeros before them.
    *value = *value * kPow10[digits] + EightDigits(bytes << (64 - 8 * digits));
    return p + digits;
  }
  for (; p != end && static_cast<unsigned char>(*p - '0') <= 9; ++p) {
    *value = *value * 10 + (*p - '0');
  }
  return p;
}

// Parses [+-] digits [. digits] [e [+-] digits], with a digit before the e.
// *value is the nearest float, as strtof returns it in the C locale, and
// infinity on overflow. Returns nullptr if no such number begins at p ("nan"
// and "inf" are not numbers).
inline const char* ParseFloat(const char* p, const char* end, float* value) {
  using namespace parse_internal;  // NOLINT: of this header
  const char* const start = p;
  bool negative = false;
  if (p != end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  uint64_t mantissa = 0;
  const char* const integer = p;
  p = ParseDigits(p, end, &mantissa);
  int64_t digits = p - integer;
  int64_t fraction_digits = 0;
  if (p != end && *p == '.') {
    const char* const fraction = ++p;
    p = ParseDigits(p, end, &mantissa);
    fraction_digits = p - fraction;
    digits += fraction_digits;
  }
  if (digits == 0) return nullptr;
  const bool has_exponent = p != end && (*p == 'e' || *p == 'E');
  if (has_exponent || digits > 19 || mantissa > uint64_t{1} << 53) {
    return ParseFloatSlowly(start, end, value);
  }
  double exact = static_cast<double>(mantissa);
  if (fraction_digits > 0) {
    // One correctly rounded division of exact numbers. The float nearest to the
    // quotient is the float nearest to the decimal number, unless the quotient
    // lies exactly between two floats.
    exact /= kExactPow10[fraction_digits];
    constexpr uint64_t kBelowFloat = (uint64_t{1} << 29) - 1;
    const uint64_t below = std::bit_cast<uint64_t>(exact) & kBelowFloat;
    const bool normal =
        exact >= std::numeric_limits<float>::min() || mantissa == 0;
    if (below == uint64_t{1} << 28 || !normal) {
      return ParseFloatSlowly(start, end, value);
    }
  }
  *value = static_cast<float>(negative ? -exact : exact);
  return p;
}

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_PARSE_NUMBER_H_
