#include "cluster/predictions_file.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/binary_metrics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "tests/models/three_classes.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

class PredictionsFileTest : public testing::Test {
 protected:
  PredictionsFileTest() { files_.AddFile("out/other", "x"); }

  std::unique_ptr<PredictionsFile> Create(
      PredictionsFormat format = PredictionsFormat::kText,
      const ScoreMetrics* metrics = &kBinaryMetrics) {
    auto file = PredictionsFile::Create(&files_, "out/p", format, metrics);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? *std::move(file) : nullptr;
  }
  size_t Files() { return files_.ListDirectory("out")->size(); }

  FakeFileSystem files_;
};

TEST_F(PredictionsFileTest, HoldsALineAPrediction) {
  auto file = Create();
  ASSERT_TRUE(file->Write({0, std::log(3.0f)}, false).ok());
  ASSERT_TRUE(file->Write({std::nanf(""), -100}, true).ok());
  const std::string text = *files_.Contents("out/p");
  EXPECT_EQ(text.substr(0, 4), "0.5\n");
  EXPECT_EQ(text.substr(4), "0.75\nnan\n3.78350585e-44\n");
  EXPECT_EQ(Files(), 2u) << "the temporary file is gone";
}

TEST_F(PredictionsFileTest, ARowOfMoreScoresIsALineOfAsMany) {
  auto file = Create(PredictionsFormat::kText, &kThreeClassMetrics);
  const float two = std::log(2.0f);
  ASSERT_TRUE(file->Write({0, two, 0, std::nanf(""), 0, 0}, true).ok());
  EXPECT_EQ(*files_.Contents("out/p"), "0.25 0.5 0.25\nnan nan nan\n");
}

TEST_F(PredictionsFileTest, TextHasTheFloatBackExactly) {
  auto file = Create();
  std::vector<float> logits;
  for (int i = 0; i < 1000; ++i) {
    logits.push_back(static_cast<float>(i - 500) / 37);
  }
  ASSERT_TRUE(file->Write(logits, true).ok());
  auto other = PredictionsFile::Create(
      &files_, "out/b", PredictionsFormat::kBinary, &kBinaryMetrics);
  ASSERT_TRUE((*other)->Write(logits, true).ok());
  const std::string bytes = *files_.Contents("out/b");
  ASSERT_EQ(bytes.size(), 4000u);
  const std::string text = *files_.Contents("out/p");
  const char* p = text.c_str();
  for (int i = 0; i < 1000; ++i) {
    float binary = 0;
    std::memcpy(&binary, bytes.data() + 4 * i, 4);
    char* end = nullptr;
    EXPECT_EQ(std::strtof(p, &end), binary);
    EXPECT_EQ(*end, '\n');
    p = end + 1;
  }
}

TEST_F(PredictionsFileTest, UntilItIsWholeTheOldFileStays) {
  files_.AddFile("out/p", "old");
  {
    auto file = Create();
    ASSERT_TRUE(file->Write({1, 2, 3}, false).ok());
    EXPECT_EQ(*files_.Contents("out/p"), "old");
    EXPECT_EQ(Files(), 3u);
  }
  EXPECT_EQ(*files_.Contents("out/p"), "old");
  EXPECT_EQ(Files(), 2u);
  ASSERT_TRUE(Create()->Write({0}, true).ok());
  EXPECT_EQ(*files_.Contents("out/p"), "0.5\n");
}

TEST_F(PredictionsFileTest, WhatAKilledOneHasLeftIsNamedAndBegunAnew) {
  files_.AddFile("out/p.unfinished", "0.1\n0.2\n0.3\n0.4\n");
  auto file = Create();
  ASSERT_TRUE(file->Write({0}, true).ok());
  file = nullptr;
  EXPECT_EQ(*files_.Contents("out/p"), "0.5\n");
  EXPECT_FALSE(files_.Contents("out/p.unfinished").ok());
}

TEST_F(PredictionsFileTest, AFullDiskIsAnErrorThatNamesTheFile) {
  std::string temporary;
  {
    auto file = Create();
    const auto entries = files_.ListDirectory("out");
    ASSERT_TRUE(entries.ok());
    for (const DirectoryEntry& entry : *entries) {
      if (entry.name != "other") temporary = "out/" + entry.name;
    }
  }
  files_.LimitWrites(temporary, 5);
  auto file = Create();
  ASSERT_TRUE(file->Write({0}, false).ok());
  const absl::Status status = file->Write({0}, true);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("out/p"));
  file = nullptr;
  EXPECT_EQ(Files(), 1u);
}

TEST_F(PredictionsFileTest, AWrongPathIsKnownAtOnce) {
  EXPECT_EQ(PredictionsFile::Create(&files_, "out", PredictionsFormat::kText,
                                    &kBinaryMetrics)
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(PredictionsFile::Create(
                   &files_, "no/p", PredictionsFormat::kText, &kBinaryMetrics)
                   .ok());
}

}  // namespace
}  // namespace shoal
