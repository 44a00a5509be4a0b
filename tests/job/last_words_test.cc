#include "job/last_words.h"

#include <gtest/gtest.h>

#include <string>

namespace shoal {
namespace {

TEST(LastWordsTest, TheNewestErrorIsKeptAmongOtherLines) {
  LastWords words;
  EXPECT_EQ(words.any(), "");
  words.Add("12:00:00.001 info a worker joined");
  EXPECT_EQ(words.error(), "");
  EXPECT_EQ(words.any(), "a worker joined");
  words.Add("2026-11-23T00:47:54.206+01:00 error the disk is gone");
  words.Add("12:00:00.002 warning no worker is left");
  words.Add("12:00:00.003 info left the job");
  words.Add("12:00:00.003 debug bye");
  words.Add("  ");
  EXPECT_EQ(words.error(), "the disk is gone");
  EXPECT_EQ(words.any(), "the disk is gone");
  words.Add("shoal-ps: --model_dir: Permission denied");
  EXPECT_EQ(words.error(), "shoal-ps: --model_dir: Permission denied");
}

TEST(LastWordsTest, ALongLineIsCutBetweenCharacters) {
  LastWords words;
  words.Add(std::string(LastWords::kMaxBytes - 1, 'a') + "ä and more");
  EXPECT_EQ(words.error(), std::string(LastWords::kMaxBytes - 1, 'a') + "…");
}

}  // namespace
}  // namespace shoal
