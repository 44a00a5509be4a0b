#include "worker/data/parse_number.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"
#include "base/philox.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

// The number at the start of `text`. *used is its length, or -1 if there is no
// number.
float Parse(const std::string& text, int* used) {
  float value = -77;
  // A copy of exactly its size, so that ASan sees a byte too many.
  const std::vector<char> bytes(text.begin(), text.end());
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* const p = ParseFloat(begin, end, &value);
  *used = p == nullptr ? -1 : static_cast<int>(p - begin);
  return value;
}

void ExpectAsStrtof(const std::string& text) {
  int used = 0;
  const float value = Parse(text, &used);
  char* end = nullptr;
  const float expected = std::strtof(text.c_str(), &end);
  ASSERT_EQ(used, end - text.c_str()) << text;
  ASSERT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(expected))
      << text << " is " << absl::StrFormat("%.9g", expected) << ", not "
      << absl::StrFormat("%.9g", value);
}

TEST(ParseNumberTest, FloatsAreAsStrtofs) {
  for (const char* text : {"0",
                           "1",
                           "-1",
                           "+1",
                           "-0",
                           "0.5",
                           ".5",
                           "5.",
                           "-.25",
                           "00012.50",
                           "0.066335",
                           "123456789",
                           "16777217",
                           "16777219",
                           "9007199254740993",
                           "1.00000005960464477539062",
                           "1.000000059604644775390625",
                           "1.00000005960464477539063",
                           "8.5899346e9",
                           "1e10",
                           "1e+10",
                           "1E-10",
                           "1e38",
                           "3.4028234e38",
                           "3.40282356e38",
                           "3.5e38",
                           "-1e39",
                           "1e999",
                           "1e99999999999999999999",
                           "1e-37",
                           "1.17549435e-38",
                           "1e-40",
                           "1e-45",
                           "7e-46",
                           "8e-46",
                           "1e-400",
                           "-1e-99999999999999999999",
                           "0e999",
                           "0.0000000000000000000000000000000000000000000001",
                           "1000000000000000000000000000000000000000000000",
                           "0.000000000000000000123456789",
                           "1.2.3",
                           "1e",
                           "1e+",
                           "1ex",
                           "12:3",
                           "1 2",
                           "0.30000001192092896",
                           "0.1e1e1"}) {
    ExpectAsStrtof(text);
  }
}

TEST(ParseNumberTest, RandomFloatsAreAsStrtofs) {
  const Philox random(20240601);
  for (uint64_t i = 0; i < 300000; ++i) {
    const Philox::Block r = random(0, i);
    const uint64_t digits = (uint64_t{r[0]} << 32 | r[1]) >> (r[2] % 60);
    std::string text = std::to_string(digits);
    if (r[3] & 1) text.insert((r[3] >> 8) % (text.size() + 1), ".");
    if (r[3] & 2) text.insert(0, r[3] & 4 ? "-" : "0.0");
    if ((r[3] & 0x78) == 0) {
      absl::StrAppendFormat(&text, "e%d",
                            static_cast<int>((r[3] >> 16) % 120) - 60);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectAsStrtof(text));
  }
}

// Decimals next to the middle between two floats, where rounding twice errs.
TEST(ParseNumberTest, DecimalsAroundTiesRoundOnce) {
  const Philox random(7);
  for (uint64_t i = 0; i < 20000; ++i) {
    const Philox::Block r = random(1, i);
    const float low = std::bit_cast<float>((r[0] % 0x10000000u) + 0x37000000u);
    const double middle = (double{low} + std::nextafter(low, HUGE_VALF)) / 2;
    const std::string text =
        absl::StrFormat("%.*f", static_cast<int>(r[1] % 22), middle);
    ASSERT_NO_FATAL_FAILURE(ExpectAsStrtof(text));
  }
}

TEST(ParseNumberTest, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", "-", "+", ".", "-.", "e5", ".e5", "nan", "inf",
                           "-inf", "x1", " 1", "--1", "\xff"}) {
    int used = 0;
    Parse(text, &used);
    EXPECT_EQ(used, -1) << text;
  }
}

TEST(ParseNumberTest, HexadecimalEndsAtTheX) {
  int used = 0;
  EXPECT_EQ(Parse("0x10", &used), 0);
  EXPECT_EQ(used, 1);
}

TEST(ParseNumberTest, DigitsOfEveryLengthBeforeAnything) {
  const std::string digits = "9876543210123456789";
  for (size_t length = 0; length <= digits.size(); ++length) {
    for (const char* after : {"", ":", " 12345678", "a", "/", "\x80", "\xff"}) {
      const std::string text = digits.substr(0, length) + after;
      uint64_t value = 0;
      const char* const end = text.data() + text.size();
      EXPECT_EQ(ParseDigits(text.data(), end, &value), text.data() + length)
          << text;
      EXPECT_EQ(value, length == 0 ? 0 : std::stoull(digits.substr(0, length)))
          << text;
    }
  }
}

TEST(ParseNumberTest, RandomBytesStayInBounds) {
  const Philox random(3);
  const std::string alphabet = "0123456789+-.eE: \xff\xb0\x10";
  for (uint64_t i = 0; i < 100000; ++i) {
    const Philox::Block r = random(2, i);
    std::string text;
    for (uint32_t k = 0; k < r[0] % 24; ++k) {
      text += alphabet[random(i, k)[0] % alphabet.size()];
    }
    int used = 0;
    Parse(text, &used);
    ASSERT_LE(used, static_cast<int>(text.size()));
  }
}

}  // namespace
}  // namespace shoal
