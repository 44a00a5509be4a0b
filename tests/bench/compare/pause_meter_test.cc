#include "bench/compare/pause_meter.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "bench/compare/cell_figures.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kPairs = 4;
// The runs of a kind of which nothing is known: the first pair does not count.
constexpr size_t kFirstRuns = 2 * (kPairs + 1);

// A host that takes 40 us a sample, and `slow_` times as long if it is paused.
// If it gets more time to make up for that, its pauses are shorter, and cost
// less by `less_`.
class PauseMeterTest : public ::testing::Test {
 protected:
  PauseMeter Make() {
    PauseMeterOptions options;
    options.cores = 2;
    options.pairs = pairs_;
    options.settings = {{"A", "version=1, A"}, {"B", "version=1, B"}};
    options.before = before_;
    options.keep = [this](const std::vector<PausePair>& pairs) {
      kept_ = pairs;
      return keeps_;
    };
    options.run_cell = [this](const Cell& cell, int repeat,
                              double paused_speed) -> absl::StatusOr<CellRun> {
      if (stopped_) return absl::CancelledError("stopped by SIGINT");
      runs_.push_back(absl::StrCat(cell.name, ".", repeat, " ", paused_speed));
      cells_.push_back(cell);
      CellRun run;
      run.ok = true;
      run.paused_speed = paused_speed;
      const double slow = slow_ * (1 - less_ * (1 - paused_speed));
      const double seconds = 40e-6 * (cell.dilation > 1 ? slow : 1);
      // Figures are multiplied back.
      run.cpu_seconds_per_sample = RoleFigures{.75 * seconds * paused_speed,
                                               .25 * seconds * paused_speed};
      if (change_) change_(&run);
      now_ += took_;
      return run;
    };
    options.say = [this](const std::string& line) { said_ += line + "\n"; };
    options.now = [this] { return now_; };
    return PauseMeter(std::move(options));
  }

  static Cell Hosts(int hosts, double dilation) {
    Cell cell;
    cell.model = "A";
    cell.hosts = hosts;
    cell.mode = "async";
    cell.network = "1gbit";
    cell.bits_per_second = 1e9;
    cell.dilation = dilation;
    return cell;
  }

  int pairs_ = kPairs;
  double slow_ = 1.25;
  double less_ = 0;
  absl::Duration took_;  // by a run
  bool stopped_ = false;
  std::vector<PausePair> before_;
  std::vector<PausePair> kept_;
  absl::Status keeps_ = absl::OkStatus();
  std::function<void(CellRun*)> change_;
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  std::vector<std::string> runs_;
  std::vector<Cell> cells_;
  std::string said_;
};

TEST_F(PauseMeterTest, ComparesProcessorTimeWithAndWithoutPauses) {
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  // Each pair has the quota of those before.
  EXPECT_THAT(
      runs_,
      ElementsAre("A_async_h1_unpaused.0 1", "A_async_h1_paused_t8.0 1",
                  "A_async_h1_paused_t8.1 0.8", "A_async_h1_unpaused.1 1",
                  "A_async_h1_unpaused.2 1", "A_async_h1_paused_t8.2 0.8",
                  "A_async_h1_paused_t8.3 0.8", "A_async_h1_unpaused.3 1",
                  "A_async_h1_unpaused.4 1", "A_async_h1_paused_t8.4 0.8"));
  EXPECT_EQ(cells_[0].dilation, 1);
  EXPECT_EQ(cells_[1].dilation, 8);
  EXPECT_EQ(cells_[1].hosts, 1);
  EXPECT_THAT(said_, HasSubstr("at dilation 8"));
  EXPECT_THAT(
      said_,
      HasSubstr(
          "to 0.80 of its speed, so hosts get 1.25 times the processor time"));
}

TEST_F(PauseMeterTest, MeasuresAPairAnewAfterSomeMinutes) {
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  now_ += PauseMeter::kFresh;
  slow_ = 1.75;
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(4, 8))->share, .8);
  EXPECT_EQ(runs_.size(), kFirstRuns);
  now_ += absl::Seconds(1);
  // The four pairs before still count, and so the median is theirs.
  for (size_t pairs = 1; pairs < kPairs; ++pairs) {
    EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(4, 8))->share, .8);
    EXPECT_EQ(runs_.size(), kFirstRuns + 2 * pairs);
    now_ += PauseMeter::kFresh + absl::Seconds(1);
  }
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(4, 8))->share, (.8 + 1 / 1.75) / 2);
  EXPECT_EQ(runs_.size(), kFirstRuns + 2 * kPairs);
  // Now they are too old.
  now_ += PauseMeter::kOldest - 3 * PauseMeter::kFresh;
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(4, 8))->share, 1 / 1.75);
  EXPECT_EQ(runs_.size(), kFirstRuns + 2 * kPairs + 2);
}

// Long runs are so far apart that the pairs before the first one are too old
// when those before the second one still count.
TEST_F(PauseMeterTest, EnoughPairsCountForLongRunsToo) {
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  now_ += absl::Hours(1);
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  EXPECT_EQ(runs_.size(), kFirstRuns + 2);
  now_ += absl::Hours(1);
  slow_ = 1.6;
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .625);
  EXPECT_EQ(runs_.size(), kFirstRuns + 2 + 2 * (kPairs - 1));
  EXPECT_EQ(kept_.size(), 2u * kPairs) << "old ones are kept for people";
}

TEST_F(PauseMeterTest, AQuickLookTakesFewerPairs) {
  pairs_ = 2;
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  EXPECT_EQ(runs_.size(), 6u);
  EXPECT_EQ(kept_.size(), 2u);
}

TEST_F(PauseMeterTest, EachDilationHasItsOwn) {
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  slow_ = 1.6;
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 16))->share, .625);
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  EXPECT_EQ(runs_.size(), 2 * kFirstRuns);
}

TEST_F(PauseMeterTest, SoHasEachModelMeasuredInEachKindOfMode) {
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  EXPECT_EQ(runs_.size(), kFirstRuns);
  slow_ = 1.6;
  Cell cell = Hosts(2, 8);
  for (const char* with_servers : {"ssp", "sync"}) {
    cell.mode = with_servers;
    EXPECT_DOUBLE_EQ(meter.SpeedFor(cell)->share, .8);
  }
  EXPECT_EQ(runs_.size(), kFirstRuns);
  // Four pairs of each kind, which count for both.
  cell.mode = "ring";
  EXPECT_DOUBLE_EQ(meter.SpeedFor(cell)->share, (.8 + .625) / 2);
  EXPECT_EQ(runs_.size(), 2 * kFirstRuns - 2);
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, (.8 + .625) / 2);
  // It begins with the quota that is known. The order of the two runs
  // alternates within a kind.
  EXPECT_EQ(runs_[kFirstRuns], "A_ring_h1_unpaused.5 1");
  EXPECT_EQ(runs_[kFirstRuns + 1], "A_ring_h1_paused_t8.5 0.8");
  EXPECT_EQ(runs_[kFirstRuns + 2], "A_ring_h1_paused_t8.6 0.8");
  cell.mode = "hybrid";
  EXPECT_DOUBLE_EQ(meter.SpeedFor(cell)->share, .625);
  EXPECT_EQ(runs_.size(), 3 * kFirstRuns - 4);
  // One pair anew for all of them, in the mode that is next.
  now_ += PauseMeter::kFresh + absl::Seconds(1);
  cell.mode = "ring";
  EXPECT_DOUBLE_EQ(meter.SpeedFor(cell)->share, .625);
  EXPECT_EQ(runs_.back().substr(0, 7), "A_ring_");
  EXPECT_EQ(runs_.size(), 3 * kFirstRuns - 2);
  cell.mode = "hybrid";
  EXPECT_DOUBLE_EQ(meter.SpeedFor(cell)->share, .625);
  EXPECT_EQ(runs_.size(), 3 * kFirstRuns - 2);
  cell.mode = "async";
  cell.model = "B";
  slow_ = 1.25;
  EXPECT_DOUBLE_EQ(meter.SpeedFor(cell)->share, .8);
  EXPECT_EQ(runs_.back().substr(0, 8), "B_async_");
}

TEST_F(PauseMeterTest, SaysHowLongMissingPairsTake) {
  took_ = absl::Seconds(5);  // each run
  PauseMeter meter = Make();
  Cell sync = Hosts(2, 8);
  sync.mode = "sync";  // measured as async is
  Cell ring = Hosts(2, 8);
  ring.mode = "ring";
  const std::vector<Cell> ahead = {Hosts(2, 8), Hosts(4, 8), sync, Hosts(1, 1)};
  // As long as none was seen, 2 s for each unit of the dilation.
  EXPECT_EQ(meter.TimeAhead(ahead), absl::Seconds((kPairs + 1) * 8 * 2));
  // The pair that does not count comes once for a dilation, whatever follows.
  Cell other_model = Hosts(2, 8);
  other_model.model = "B";
  EXPECT_EQ(meter.TimeAhead({ring, Hosts(2, 8), other_model}),
            absl::Seconds((3 * kPairs + 1) * 8 * 2));
  ASSERT_TRUE(meter.SpeedFor(Hosts(2, 8)).ok());
  EXPECT_EQ(meter.TimeAhead(ahead), absl::ZeroDuration());
  // The pairs took 10 s at dilation 8.
  EXPECT_EQ(meter.TimeAhead({ring}), absl::Seconds(kPairs * 10));
  EXPECT_EQ(meter.TimeAhead({other_model}), absl::Seconds(kPairs * 10));
  EXPECT_EQ(meter.TimeAhead({Hosts(2, 16)}), absl::Seconds((kPairs + 1) * 20));
}

TEST_F(PauseMeterTest, HostsThatAreNotPausedAreNotMeasured) {
  PauseMeter meter = Make();
  EXPECT_EQ(meter.SpeedFor(Hosts(1, 1))->share, 1);
  Cell unlimited = Hosts(2, 8);
  unlimited.cores_per_host = 0;
  EXPECT_EQ(meter.SpeedFor(unlimited)->share, 1);
  EXPECT_THAT(runs_, IsEmpty());
  // Whether there are cores enough is not the meter's to say: SharesOf.
  slow_ = 3;
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(8, 4))->share, 1 / 3.0);
}

TEST_F(PauseMeterTest, AHostIsNotFasterForItsPauses) {
  slow_ = .9;
  PauseMeter meter = Make();
  EXPECT_EQ(meter.SpeedFor(Hosts(2, 8))->share, 1);
}

// How much pauses cost depends on how long they are, and so on the quota.
TEST_F(PauseMeterTest, APairWithoutAKnownQuotaDoesNotCount) {
  less_ = .25;
  const auto slow = [&](double quota) {
    return slow_ * (1 - less_ * (1 - quota));
  };
  double speed = 1 / slow(1);
  std::vector<double> speeds;
  for (int i = 0; i < kPairs; ++i) {
    speeds.push_back(1 / slow(speed));
    speed = SpreadOfValues(speeds)->median;
  }
  {
    PauseMeter meter = Make();
    EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, speed);
    EXPECT_EQ(runs_.size(), kFirstRuns);
  }
  runs_.clear();
  // The first pair is the one that is disturbed.
  change_ = [this](CellRun* run) {
    run->others_cores = runs_.size() == 2 ? 1 : 0;
  };
  {
    PauseMeter meter = Make();
    EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, speed);
    EXPECT_EQ(runs_.size(), kFirstRuns + 2);
  }
  runs_.clear();
  change_ = nullptr;
  // A stop before the last pair: the next command measures it.
  kept_.pop_back();
  before_ = kept_;
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, speed);
  EXPECT_EQ(runs_.size(), 2u);
}

TEST_F(PauseMeterTest, HostsOfOtherCoresAreOfAnotherKind) {
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  slow_ = 1.6;
  Cell cell = Hosts(2, 8);
  cell.cores_per_host = 2;
  EXPECT_DOUBLE_EQ(meter.SpeedFor(cell)->share, .625);
  EXPECT_EQ(runs_.size(), 2 * kFirstRuns);
}

TEST_F(PauseMeterTest, AHostWithManyCoresIsMeasuredWithThoseThatThereAre) {
  PauseMeter meter = Make();
  Cell cell = Hosts(2, 8);
  cell.cores_per_host = 4;
  ASSERT_TRUE(meter.SpeedFor(cell).ok());
  EXPECT_DOUBLE_EQ(cells_[0].cores_per_host, 1.8);
  EXPECT_EQ(cells_[1].cores_per_host, 4);
}

TEST_F(PauseMeterTest, WhatFailedOrWasDisturbedDoesNotCount) {
  PauseMeter meter = Make();
  change_ = [](CellRun* run) { run->others_cores = 1; };
  const auto unknown = meter.SpeedFor(Hosts(2, 8));
  EXPECT_EQ(unknown->share, 1);
  EXPECT_FALSE(unknown->known);
  EXPECT_THAT(said_, HasSubstr("does not count: other programs used"));
  EXPECT_THAT(said_, HasSubstr("it is not known, so hosts get no more"));
  EXPECT_EQ(runs_.size(), 3u);
  // It is not tried before every run.
  EXPECT_EQ(meter.SpeedFor(Hosts(2, 8))->share, 1);
  EXPECT_EQ(runs_.size(), 3u);
  change_ = [](CellRun* run) {
    run->ok = false;
    run->error = "no space left";
  };
  now_ += absl::Hours(1);
  EXPECT_EQ(meter.SpeedFor(Hosts(2, 8))->share, 1);
  EXPECT_THAT(said_, HasSubstr("does not count: no space left"));
  change_ = [](CellRun* run) { run->cpu_seconds_per_sample.reset(); };
  now_ += absl::Hours(1);
  EXPECT_EQ(meter.SpeedFor(Hosts(2, 8))->share, 1);
  EXPECT_THAT(said_, HasSubstr("processor time is not known"));
  // What was known before stays for a while.
  change_ = nullptr;
  now_ += absl::Hours(1);
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  change_ = [](CellRun* run) { run->others_cores = 1; };
  now_ += PauseMeter::kOldest;
  EXPECT_TRUE(meter.SpeedFor(Hosts(2, 8))->known);
  now_ += absl::Hours(1);
  EXPECT_EQ(meter.SpeedFor(Hosts(2, 8))->share, 1);
}

TEST_F(PauseMeterTest, WhatIsNotKnownIsThatOfAnotherModel) {
  PauseMeter meter = Make();
  EXPECT_DOUBLE_EQ(meter.SpeedFor(Hosts(2, 8))->share, .8);
  change_ = [](CellRun* run) { run->others_cores = 1; };
  Cell of_a = Hosts(2, 8);
  of_a.mode = "ring";
  EXPECT_DOUBLE_EQ(meter.SpeedFor(of_a)->share, .8);
  EXPECT_TRUE(meter.SpeedFor(of_a)->known);
  Cell of_b = Hosts(2, 8);
  of_b.model = "B";
  EXPECT_DOUBLE_EQ(meter.SpeedFor(of_b)->share, .8);
  EXPECT_FALSE(meter.SpeedFor(of_b)->known);
  EXPECT_THAT(said_, HasSubstr("it is not known; 0.80 of its speed is taken"));
  EXPECT_EQ(meter.SpeedFor(Hosts(2, 16))->share, 1);
  // Too long ago.
  now_ += PauseMeter::kOldest + absl::Seconds(1);
  EXPECT_EQ(meter.SpeedFor(of_b)->share, 1);
}

TEST_F(PauseMeterTest, AComparisonThatGoesOnKnowsWhatWasMeasured) {
  PauseMeter first = Make();
  EXPECT_DOUBLE_EQ(first.SpeedFor(Hosts(2, 8))->share, .8);
  // Those that count.
  ASSERT_EQ(kept_.size(), kPairs);
  const PauseKind kind = {"version=1, A", true, false, 1, 8};
  EXPECT_TRUE(kept_[0].kind == kind);
  EXPECT_EQ(kept_[0].ended, now_);
  EXPECT_DOUBLE_EQ(kept_[0].unpaused, 40e-6);
  EXPECT_DOUBLE_EQ(kept_[0].paused, 50e-6);
  before_ = kept_;
  for (PausePair of_another : kept_) {
    of_another.kind.settings = "version=2, A";
    of_another.paused = 1;
    before_.push_back(of_another);
  }
  runs_.clear();
  slow_ = 1.6;

  now_ += PauseMeter::kFresh;
  PauseMeter second = Make();
  EXPECT_DOUBLE_EQ(second.SpeedFor(Hosts(2, 8))->share, .8);
  EXPECT_THAT(runs_, IsEmpty());
  EXPECT_DOUBLE_EQ(second.SpeedFor(Hosts(2, 16))->share, .625);
  EXPECT_EQ(kept_.size(), 3u * kPairs);
  runs_.clear();

  // One pair anew, beside the last ones of before.
  now_ += absl::Seconds(1);
  PauseMeter third = Make();
  EXPECT_DOUBLE_EQ(third.SpeedFor(Hosts(2, 8))->share, .8);
  EXPECT_EQ(runs_.size(), 2u);
  runs_.clear();

  // As if nothing had been measured: too long ago, or by a clock that was set
  // back since.
  for (const absl::Duration passed :
       {PauseMeter::kOldest + absl::Seconds(1), -absl::Hours(1)}) {
    now_ = before_[0].ended + passed;
    PauseMeter anew = Make();
    EXPECT_DOUBLE_EQ(anew.SpeedFor(Hosts(2, 8))->share, .625);
    EXPECT_EQ(runs_.size(), kFirstRuns);
    runs_.clear();
  }
}

TEST_F(PauseMeterTest, WhatCannotBeKeptIsAnError) {
  keeps_ = absl::ResourceExhaustedError("no space left");
  PauseMeter meter = Make();
  EXPECT_EQ(meter.SpeedFor(Hosts(2, 8)).status().message(), "no space left");
}

TEST_F(PauseMeterTest, ASignalEndsIt) {
  PauseMeter meter = Make();
  stopped_ = true;
  EXPECT_TRUE(absl::IsCancelled(meter.SpeedFor(Hosts(2, 8)).status()));
}

}  // namespace
}  // namespace shoal
