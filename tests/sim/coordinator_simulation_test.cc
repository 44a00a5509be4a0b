// The coordinator with simulated workers and shards. A failing seed is run
// again alone by
//   coordinator_simulation_test --gtest_filter='*/<seed>'
// and many seeds by coordinator_soak.

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/coordinator_complaints.h"
#include "tests/sim/coordinator_world.h"

namespace shoal {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSeeds = 20;

class CoordinatorSimulationTest : public testing::TestWithParam<uint64_t> {
 protected:
  CoordinatorWorldOptions Options() const {
    CoordinatorWorldOptions options;
    options.seed = GetParam();
    options.ps = 1 + GetParam() % 4;
    options.workers = 1 + GetParam() % 5;
    options.epochs = 2 + GetParam() % 2;
    options.eval_every_epochs = GetParam() % 3;
    return options;
  }
};

TEST_P(CoordinatorSimulationTest, EveryBatchIsAppliedOnceWhateverBefalls) {
  const CoordinatorWorldOptions options = Options();
  const CoordinatorWorldResult result = RunCoordinatorWorld(options);
  EXPECT_THAT(Complaints(options, result), IsEmpty());
}

TEST_P(CoordinatorSimulationTest, WhereNothingBefallsNothingIsRepeated) {
  CoordinatorWorldOptions options = Options();
  options.kills = options.freezes = 0;
  options.session_drops = options.slowdowns = 0;
  options.push_drop = options.push_duplicate = 0;
  const CoordinatorWorldResult result = RunCoordinatorWorld(options);
  EXPECT_THAT(Complaints(options, result), IsEmpty());
  EXPECT_EQ(result.report.mended, 0u);
  EXPECT_EQ(result.report.recomputed, 0u);
  EXPECT_EQ(result.report.repeats_refused, 0u);
}

TEST_P(CoordinatorSimulationTest, AWorkersOwnWordTrainsNothing) {
  CoordinatorWorldOptions options = Options();
  options.done_too_early = true;
  options.push_drop = 0.2;
  const CoordinatorWorldResult result = RunCoordinatorWorld(options);
  EXPECT_THAT(Complaints(options, result), IsEmpty());
}

TEST_P(CoordinatorSimulationTest, AKilledPsEndsTheJobByItsName) {
  CoordinatorWorldOptions options = Options();
  options.ps = 3;
  options.kill_ps = true;
  const CoordinatorWorldResult result = RunCoordinatorWorld(options);
  ASSERT_TRUE(result.finished);
  EXPECT_EQ(result.report.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      std::string(result.report.status.message()),
      AnyOf(HasSubstr("ps 1 (sim:1) died"), HasSubstr("ps 2 (sim:2) died")));
  EXPECT_LT(result.end_took, absl::Seconds(30));
  EXPECT_EQ(result.left_behind, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CoordinatorSimulationTest,
                         testing::Range<uint64_t>(1, kSeeds + 1),
                         [](const auto& info) {
                           return absl::StrCat(info.param);
                         });

// ---- Planted bugs: the simulator must find them

// The complaints of all seeds together, one for each seed that has any.
std::vector<std::string> FirstComplaints(CoordinatorWorldOptions options) {
  std::vector<std::string> found;
  for (options.seed = 1; options.seed <= kSeeds; ++options.seed) {
    const auto complaints = Complaints(options, RunCoordinatorWorld(options));
    if (!complaints.empty()) found.push_back(complaints[0]);
  }
  return found;
}

TEST(PlantedBugTest, APushKnownByItsSenderIsAppliedTwice) {
  CoordinatorWorldOptions options;
  options.shard_kind = ShardKind::kBySenderAndSequence;
  const std::vector<std::string> found = FirstComplaints(options);
  EXPECT_EQ(found.size(), kSeeds);
  for (const std::string& complaint : found) {
    EXPECT_THAT(complaint, HasSubstr("times"));
  }
}

TEST(PlantedBugTest, SenderAndSequenceSufficeOnlyWhereNobodyDies) {
  CoordinatorWorldOptions options;
  options.shard_kind = ShardKind::kBySenderAndSequence;
  options.kills = options.freezes = 0;
  options.session_drops = options.slowdowns = 0;
  EXPECT_THAT(FirstComplaints(options), IsEmpty());
}

TEST(PlantedBugTest, AShardThatForgetsMarksIsFoundOut) {
  CoordinatorWorldOptions options;
  options.shard_kind = ShardKind::kForgetsMarks;
  const std::vector<std::string> found = FirstComplaints(options);
  EXPECT_EQ(found.size(), kSeeds);
  for (const std::string& complaint : found) {
    EXPECT_THAT(complaint, HasSubstr("a repeat of a batch it has not marked"));
  }
}

}  // namespace
}  // namespace shoal
