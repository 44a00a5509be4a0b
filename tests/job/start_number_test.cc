#include "job/start_number.h"

#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "checkpoint/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixMillis(1'800'000'000'123);

TEST(MakeStartNumber, HasTheTimeAboveAndRandomBitsBelow) {
  const StartNumber a = MakeStartNumber(kNow, 7, 0);
  EXPECT_EQ(a >> 22, 1'800'000'000'123u);
  EXPECT_EQ(a & 0x3fffff, 7u);
  // No random bit reaches into the time.
  EXPECT_EQ(MakeStartNumber(kNow, ~uint64_t{0}, 0) >> 22, a >> 22);
  EXPECT_LT(a, MakeStartNumber(kNow + absl::Milliseconds(1), 0, 0));
}

TEST(MakeStartNumber, IsLargerThanTheLastOneWhateverTheClockSays) {
  const StartNumber last = MakeStartNumber(kNow, 5, 0);
  EXPECT_EQ(MakeStartNumber(kNow - absl::Hours(24), 5, last), last + 1);
  EXPECT_EQ(MakeStartNumber(kNow, 5, last), last + 1);
  EXPECT_EQ(MakeStartNumber(kNow, 9, last), last + 4);
}

class DrawStartNumberTest : public testing::Test {
 protected:
  DrawStartNumberTest() { EXPECT_TRUE(files_.CreateDirectories("m").ok()); }

  absl::StatusOr<StartNumber> Draw(absl::Time now = kNow) {
    return DrawStartNumber(files_, flags_, checkpoints_, now);
  }
  std::string Kept() { return files_.Contents("m/START").value_or(""); }

  FakeFileSystem files_;
  JobFlags flags_{Command::kTrain};
  CheckpointOptions checkpoints_;
};

TEST_F(DrawStartNumberTest, NoTwoAreEqualWithoutAModelDirectory) {
  std::set<StartNumber> drawn;
  for (int i = 0; i < 100; ++i) drawn.insert(*Draw());
  EXPECT_GE(drawn.size(), 99u);  // of 2^22 in one millisecond
  EXPECT_EQ(Kept(), "");
}

TEST_F(DrawStartNumberTest, AModelDirectoryKeepsTheNewestAndItGrows) {
  flags_.checkpoints.model_dir = "m";
  const StartNumber first = *Draw();
  EXPECT_EQ(Kept(), absl::StrCat(absl::Hex(first, absl::kZeroPad16), "\n"));
  // No checkpoint was made, and the clock was set back by a day.
  const StartNumber second = *Draw(kNow - absl::Hours(24));
  EXPECT_EQ(second, first + 1);
  EXPECT_EQ(Kept(), absl::StrCat(absl::Hex(second, absl::kZeroPad16), "\n"));
}

TEST_F(DrawStartNumberTest, ItIsLargerThanThatOfTheCheckpoint) {
  flags_.checkpoints.model_dir = "m";
  auto manifest = std::make_shared<Manifest>();
  manifest->start = 0xf000'0000'0000'0000;
  checkpoints_.resume = manifest;
  EXPECT_EQ(*Draw(), manifest->start + 1);
  EXPECT_EQ(*Draw(), manifest->start + 2);
}

TEST_F(DrawStartNumberTest, AnEvaluationKeepsNone) {
  flags_.checkpoints.model_dir = "m";
  flags_.training.task_type = JobTask::kEvaluate;
  EXPECT_TRUE(Draw().ok());
  EXPECT_EQ(Kept(), "");
}

TEST_F(DrawStartNumberTest, AFileOfSomethingElseIsNamed) {
  flags_.checkpoints.model_dir = "m";
  for (const std::string& text :
       {std::string(), std::string("12\n"), std::string("0123456789abcdeg\n"),
        std::string("0123456789abcdef\n\n"), std::string(17, '7')}) {
    files_.AddFile("m/START", text);
    const absl::Status status = Draw().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("m/START"));
  }
}

}  // namespace
}  // namespace shoal
