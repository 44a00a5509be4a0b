#include "core/patient_time.h"

#include "gtest/gtest.h"

namespace shoal {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

TEST(PatientTimeTest, KeepsUpWithAClockThatIsReadOftenEnough) {
  PatientTime time(kStart, absl::Seconds(1));
  for (int i = 1; i <= 10; ++i) time.Advance(kStart + i * absl::Seconds(1));
  EXPECT_EQ(time.now(), kStart + absl::Seconds(10));
  EXPECT_EQ(time.clock(), time.now());
}

TEST(PatientTimeTest, AFreezeCountsAsOneStep) {
  PatientTime time(kStart, absl::Seconds(1));
  time.Advance(kStart + absl::Seconds(30));
  EXPECT_EQ(time.now(), kStart + absl::Seconds(1));
  EXPECT_EQ(time.clock(), kStart + absl::Seconds(30));
  time.Advance(kStart + absl::Milliseconds(30'250));
  EXPECT_EQ(time.now(), kStart + absl::Milliseconds(1250));
}

TEST(PatientTimeTest, AClockThatGoesBackIsIgnored) {
  PatientTime time(kStart, absl::Seconds(1));
  time.Advance(kStart + absl::Seconds(1));
  time.Advance(kStart);
  EXPECT_EQ(time.now(), kStart + absl::Seconds(1));
  EXPECT_EQ(time.clock(), kStart + absl::Seconds(1));
}

}  // namespace
}  // namespace shoal
