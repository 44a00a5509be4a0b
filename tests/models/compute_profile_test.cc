#include "models/compute_profile.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

ComputeProfile SmallProfile() {
  ComputeProfile profile;
  profile.shape = {"deepfm", 64, 4, 5, 10};
  profile.machine = "a \"fast\" one";
  profile.program = "1.2.3";
  profile.steps_seen = 9;
  profile.steps = {{{{{4, 10}, absl::Microseconds(3)},
                     {{0, 4}, absl::Nanoseconds(5001)}},
                    absl::Microseconds(6)},
                   {{{{0, 10}, absl::ZeroDuration()}}, absl::Microseconds(8)}};
  return profile;
}

// The error of the small profile's text, with `from` replaced by `to`.
absl::Status Why(const std::string& from, const std::string& to) {
  const std::string text = ComputeProfileText(SmallProfile());
  const std::string changed = absl::StrReplaceAll(text, {{from, to}});
  EXPECT_NE(changed, text) << from;
  return ParseComputeProfile(changed).status();
}

TEST(ComputeProfileTest, TheTextIsThatOfTheVersion) {
  EXPECT_EQ(ComputeProfileText(SmallProfile()),
            R"({
 "format": "shoal compute profile",
 "version": 1,
 "model": "deepfm",
 "batch_size": 64,
 "field_size": 4,
 "row_floats": 5,
 "dense_floats": 10,
 "machine": "a \"fast\" one",
 "program": "1.2.3",
 "steps_seen": 9,
 "steps": [
  {"ns": 6000, "final": [[4, 10, 3000], [0, 4, 5001]]},
  {"ns": 8000, "final": [[0, 10, 0]]}
 ]
}
)");
}

TEST(ComputeProfileTest, WhatIsWrittenIsReadBack) {
  const std::string text = ComputeProfileText(SmallProfile());
  const auto read = ParseComputeProfile(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ComputeProfileText(*read), text);
  EXPECT_EQ(read->MeanTotal(), absl::Microseconds(7));
  EXPECT_EQ(read->steps[0].finals[1].range.end, 4u);
  EXPECT_EQ(read->steps[0].finals[1].at, absl::Nanoseconds(5001));
}

TEST(ComputeProfileTest, AModelWithoutDenseVariablesHasNoRanges) {
  ComputeProfile profile = SmallProfile();
  profile.shape.dense_floats = 0;
  for (StepTimeline& step : profile.steps) step.finals.clear();
  EXPECT_TRUE(ParseComputeProfile(ComputeProfileText(profile)).ok());
}

TEST(ComputeProfileTest, EveryTruncationIsRefused) {
  const std::string text = ComputeProfileText(SmallProfile());
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    const absl::Status status =
        ParseComputeProfile(text.substr(0, size)).status();
    EXPECT_EQ(status.message(),
              absl::StrCat("not JSON: it ends too early, after byte ", size));
  }
}

TEST(ComputeProfileTest, OtherFilesAndVersionsAreRefused) {
  EXPECT_EQ(Why("shoal compute profile", "shoal manifest").message(),
            "is not a compute profile; give a file that --record_compute has "
            "written");
  EXPECT_FALSE(ParseComputeProfile("[]").ok());
  EXPECT_FALSE(ParseComputeProfile("{\"format\": 3}").ok());
  const absl::Status other = Why("\"version\": 1", "\"version\": 2");
  EXPECT_TRUE(absl::IsFailedPrecondition(other));
  EXPECT_EQ(other.message(),
            "is a compute profile of version 2, and this program reads version "
            "1; record it again with this program");
}

TEST(ComputeProfileTest, ARefusalSaysWhere) {
  EXPECT_EQ(Why("\"batch_size\": 64", "\"batch_size\": 0").message(),
            "batch_size: is not at least 1");
  EXPECT_EQ(Why("\"batch_size\": 64,", "").message(), "batch_size: is missing");
  EXPECT_EQ(Why("[4, 10, 3000]", "[4, 10]").message(),
            "steps[0].final[0]: must have three numbers: begin, end and "
            "nanoseconds");
  EXPECT_EQ(Why("[4, 10, 3000]", "[4, 4, 3000]").message(),
            "steps[0].final[0]: is an empty range");
  EXPECT_EQ(Why("[4, 10, 3000]", "[4, 11, 3000]").message(),
            "steps[0].final[0][1]: 11 is above 10");
  EXPECT_EQ(Why("[4, 10, 3000]", "[4, 10, 5002]").message(),
            "steps[0].final[1]: is before the range above it");
  EXPECT_EQ(Why("\"ns\": 6000", "\"ns\": 5000").message(),
            "steps[0].final[1]: is after the end of the step");
  EXPECT_EQ(Why("\"ns\": 6000", "\"ns\": -1").message(),
            "steps[0].ns: is not a whole number of at least 0");
  EXPECT_EQ(Why("\"ns\": 6000", "\"ns\": 3600000000001").message(),
            "steps[0].ns: 3600000000001 is above 3600000000000");
  EXPECT_THAT(std::string(
                  ParseComputeProfile("{\"format\": \"shoal compute profile\"}")
                      .status()
                      .message()),
              HasSubstr("version: is missing"));
}

TEST(ComputeProfileTest, RangesThatDoNotCoverTheDenseVariablesAreRefused) {
  // Missing at the begin, missing at the end, twice.
  EXPECT_EQ(Why("[0, 4, 5001]", "[1, 4, 5001]").message(),
            "steps[0].final: its ranges do not cover the 10 floats of "
            "dense_floats, each once: floats [0, 0) are covered");
  EXPECT_EQ(Why("[4, 10, 3000]", "[4, 9, 3000]").message(),
            "steps[0].final: its ranges do not cover the 10 floats of "
            "dense_floats, each once: floats [0, 9) are covered");
  EXPECT_FALSE(Why("[4, 10, 3000]", "[3, 10, 3000]").ok());
  // All is covered, and the begin of it twice.
  EXPECT_FALSE(Why("[4, 10, 3000]", "[0, 10, 3000]").ok());
}

TEST(ComputeProfileTest, AProfileWithoutAStepIsRefused) {
  ComputeProfile profile = SmallProfile();
  profile.steps.clear();
  EXPECT_EQ(ParseComputeProfile(ComputeProfileText(profile)).status().message(),
            "steps: there is no step");
}

TEST(ComputeShapeTest, AnotherShapeIsRefusedWithBothValues) {
  const ComputeShape job = {"deepfm", 64, 4, 5, 10};
  EXPECT_TRUE(CheckSameShape(job, job).ok());
  const auto why = [&](ComputeShape recorded) {
    const absl::Status status = CheckSameShape(recorded, job);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    return std::string(status.message());
  };
  const std::string what_to_do =
      "; give the profile of a run with this job's flags, or record one "
      "(--record_compute)";
  EXPECT_EQ(why({"lr", 64, 4, 5, 10}),
            "the profile was recorded with --model lr, and this job has "
            "deepfm" + what_to_do);
  EXPECT_EQ(why({"deepfm", 32, 4, 5, 10}),
            "the profile was recorded with --batch_size 32, and this job has "
            "64" + what_to_do);
  EXPECT_EQ(why({"deepfm", 64, 3, 5, 10}),
            "the profile was recorded with --field_size 3, and this job has 4" +
                what_to_do);
  EXPECT_EQ(why({"deepfm", 64, 4, 6, 10}),
            "the profile was recorded with rows (--embedding_size) whose "
            "number of floats is 6, and this job has 5" + what_to_do);
  EXPECT_EQ(why({"deepfm", 64, 4, 5, 11}),
            "the profile was recorded with dense variables (--deep_layers and "
            "others) whose number of floats is 11, and this job has 10" +
                what_to_do);
}

}  // namespace
}  // namespace shoal
