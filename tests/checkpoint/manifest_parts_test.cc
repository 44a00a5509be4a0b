#include "checkpoint/manifest_parts.h"

#include <string>

#include "checkpoint/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

class ManifestPartsTest : public testing::Test {
 protected:
  ManifestPartsTest() {
    for (size_t i = 0; text_.size() < 2 * kManifestPartBytes + 7; ++i) {
      text_ += std::to_string(i);
    }
    parts_ = ManifestParts(directory_, NameOf(text_));
  }
  // The answer to what is asked for next.
  ManifestPart Answer() const {
    const ManifestRequest request = parts_.Next();
    EXPECT_EQ(request.directory, directory_);
    return PartOf(directory_, text_, request.offset);
  }

  const std::string directory_ = "ckpt-00000000007";
  std::string text_;
  ManifestParts parts_{"", {}};
};

TEST_F(ManifestPartsTest, ALongTextTravelsInPartsOfBoundedSize) {
  int count = 0;
  for (; !parts_.whole(); ++count) {
    const ManifestPart part = Answer();
    EXPECT_LE(part.text.size(), kManifestPartBytes);
    ASSERT_TRUE(parts_.Add(part).ok());
  }
  EXPECT_EQ(count, 3);
  EXPECT_EQ(parts_.Take(), text_);
}

TEST_F(ManifestPartsTest, AGapAnOverlapAndARepeatAreRefused) {
  ASSERT_TRUE(parts_.Add(Answer()).ok());
  for (const uint64_t offset :
       {uint64_t{0}, kManifestPartBytes - 1, kManifestPartBytes + 1,
        2 * kManifestPartBytes}) {
    ManifestParts parts = parts_;
    const absl::Status status = parts.Add(PartOf(directory_, text_, offset));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << offset;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the next byte is 524288"));
  }
}

TEST_F(ManifestPartsTest, MoreThanWasNamedIsRefused) {
  parts_ = ManifestParts(directory_, {kManifestPartBytes - 1, 5});
  EXPECT_EQ(parts_.Add(Answer()).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ManifestPartsTest, SoIsAPartOfAnotherCheckpoint) {
  const absl::Status status = parts_.Add(PartOf("ckpt-00000000008", text_, 0));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ckpt-00000000008"));
}

TEST_F(ManifestPartsTest, WhatTheCoordinatorDoesNotHaveIsNotFound) {
  EXPECT_EQ(parts_.Add(PartOf(directory_, "", 0)).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ManifestPartsTest, AManifestBeyondTheLimitTakesNoMemory) {
  parts_ = ManifestParts(directory_, {kManifestBytesMax + 1, 5});
  EXPECT_EQ(parts_.Add(Answer()).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ManifestPartsTest, AnotherTextOfTheSameLengthIsDataLoss) {
  ASSERT_TRUE(parts_.Add(Answer()).ok());
  text_[kManifestPartBytes + 3] ^= 1;
  ASSERT_TRUE(parts_.Add(Answer()).ok());
  EXPECT_EQ(parts_.Add(Answer()).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace shoal
