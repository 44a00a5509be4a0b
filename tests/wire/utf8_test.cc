#include "wire/codec/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace shoal {
namespace {

TEST(Utf8Test, WellFormedSequencesAreTaken) {
  for (const std::string text :
       {"", "job-1", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
        "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  }
}

TEST(Utf8Test, EverythingElseIsNot) {
  for (const std::string text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2 ", "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xe1\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "a\xf0\x90\x80"}) {
    EXPECT_FALSE(IsValidUtf8(text));
  }
}

}  // namespace
}  // namespace shoal
