#include "gtest/gtest.h"
#include "plan/mode_shape.h"
#include "plan/prediction.h"
#include "plan/step_demand.h"
#include "tests/plan/cluster_simulation.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

struct Case {
  const char* mode;
  double cores;
  double gbit;
  int depth = 1;
  // Largest error of the time of a step, and of the wait in it, both as shares
  // of the step.
  double tolerance = .05;
  int workers_per_host = 1;
  int ssp_bound = 2;
  double latency = ClusterDescription::kUsualLatency;
};

// What the formulas say of the time of a step and of the wait in it must be
// what a simulation of every message and task says.
void Compare(const Case& c, int hosts) {
  const Calibration calibration = ExampleCalibration();
  const ModeShape& mode = *FindModeShape(c.mode);
  PlannedJob job = MeasuredJob(calibration);
  job.workers_per_host = c.workers_per_host;
  const StepDemand demand = DemandOf(mode, calibration, job, hosts);
  SimulatedCluster cluster;
  cluster.workers_per_host = c.workers_per_host;
  cluster.ssp_bound = c.ssp_bound;
  cluster.hosts = ExampleCluster(hosts, c.gbit * .95);
  cluster.hosts.cores = c.cores;
  cluster.hosts.latency_seconds = c.latency;
  cluster.step_times = calibration.step_times;
  cluster.pipeline_depth = c.depth;
  // Rings of many hosts are most of the events, and vary little.
  cluster.steps = hosts < 32 ? 100 : mode.ring() ? 8 : 24;
  const SimulatedRun run = Simulate(mode, demand, cluster);
  StepSetting setting;
  setting.cluster = cluster.hosts;
  setting.step_times = cluster.step_times;
  setting.pipeline_depth = c.depth;
  setting.workers_per_host = c.workers_per_host;
  setting.ssp_bound = c.ssp_bound;
  const StepPrediction p = PredictStep(mode, demand, setting);
  SCOPED_TRACE(::testing::Message()
               << c.mode << ", " << hosts << " hosts of " << c.cores
               << " cores, " << c.gbit << " Gbit/s, depth " << c.depth << ", "
               << c.workers_per_host << " workers a host, bound "
               << c.ssp_bound << ", latency " << c.latency);
  const double step = run.step_seconds;
  EXPECT_NEAR(p.step_seconds / step, 1, c.tolerance);
  EXPECT_NEAR((p.wait_seconds - run.wait_seconds) / step, 0, c.tolerance);
}

// By the number of hosts.
class StepFormulasTest : public ::testing::TestWithParam<int> {};

TEST_P(StepFormulasTest, AsyncIsAsSimulated) {
  for (const double gbit : {1, 3, 10, 100}) {
    Compare({"async", 4, gbit}, GetParam());
  }
}

TEST_P(StepFormulasTest, AsyncThatPullsAheadIsAsSimulated) {
  Compare({"async", 4, 10, 2}, GetParam());
  // At a full link (docs/planning.md).
  if (GetParam() <= 16) Compare({"async", 4, 1, 2, .07}, GetParam());
}

TEST_P(StepFormulasTest, SspIsAsSimulated) {
  for (const double gbit : {1, 3, 10, 100}) {
    Compare({"ssp", 4, gbit}, GetParam());
  }
}

TEST_P(StepFormulasTest, EveryBoundOfSspIsAsSimulated) {
  for (const int bound : {0, 1, 8}) {
    for (const double gbit : {1, 10}) {
      Compare({"ssp", 4, gbit, 1, .05, 1, bound}, GetParam());
    }
  }
}

TEST_P(StepFormulasTest, SeveralWorkersOnAHostAreAsSimulated) {
  if (GetParam() > 16) return;
  for (const char* const mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    for (const double gbit : {1, 3, 25}) {
      Compare({mode, 8, gbit, 1, .1, 2}, GetParam());
    }
  }
}

TEST_P(StepFormulasTest, SyncIsAsSimulated) {
  for (const double gbit : {1, 3, 10, 100}) {
    Compare({"sync", 4, gbit}, GetParam());
  }
}

TEST_P(StepFormulasTest, RingIsAsSimulated) {
  for (const double gbit : {1, 3, 10, 100}) {
    Compare({"ring", 4, gbit}, GetParam());
  }
}

TEST_P(StepFormulasTest, HybridIsAsSimulated) {
  for (const double gbit : {1, 3, 10, 100}) {
    Compare({"hybrid", 4, gbit}, GetParam());
  }
}

TEST_P(StepFormulasTest, OtherLatenciesAreAsSimulated) {
  for (const char* const mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    for (const double latency : {5e-6, 1e-3}) {
      Case one = {mode, 4, 10};
      one.latency = latency;
      // Rings (docs/planning.md).
      if (FindModeShape(mode)->ring()) one.tolerance = .08;
      Compare(one, GetParam());
    }
  }
}

// All threads of a host share its only core.
TEST_P(StepFormulasTest, HostsOfOneCoreAreAsSimulated) {
  for (const char* const mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    for (const double gbit : {1, 3, 10, 30}) {
      Compare({mode, 1, gbit}, GetParam());
    }
  }
}

// The server, the network and the worker's threads have a core each, and no
// more.
TEST_P(StepFormulasTest, HostsOfTwoCoresAreAsSimulated) {
  for (const char* const mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    for (const double gbit : {1, 3, 10, 100}) {
      Compare({mode, 2, gbit}, GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, StepFormulasTest,
                         ::testing::Values(2, 4, 8, 16, 32, 64));

TEST(StepFormulasAloneTest, HostsOfHalfACoreAreAsSimulated) {
  for (const int hosts : {2, 4, 8}) {
    for (const char* const mode : {"async", "sync", "ring", "hybrid"}) {
      Compare({mode, .5, 1}, hosts);
    }
  }
}

// A worker's own bound, where no network and no other worker matters.
TEST(StepFormulasAloneTest, OneHostTakesWhatItsThreadsTake) {
  const Calibration calibration = ExampleCalibration();
  for (const ModeShape& mode : ModeShapes()) {
    const StepDemand d =
        DemandOf(mode, calibration, MeasuredJob(calibration), 1);
    SimulatedCluster cluster;
    cluster.hosts = ExampleCluster(1, 1);
    const SimulatedRun run = Simulate(mode, d, cluster);
    StepSetting setting;
    setting.cluster = cluster.hosts;
    EXPECT_NEAR(PredictStep(mode, d, setting).step_seconds / run.step_seconds,
                1, .05)
        << mode.name;
  }
}

void ExpectGrowth(const StepSetting& setting) {
  // The slowest worker's wait for pushes is looked for at a few points.
  constexpr double kExact = 1e-3;
  const Calibration calibration = ExampleCalibration();
  PlannedJob job = MeasuredJob(calibration);
  job.workers_per_host = setting.workers_per_host;
  for (const ModeShape& mode : ModeShapes()) {
    SCOPED_TRACE(::testing::Message()
                 << mode.name << ", " << setting.cluster.cores << " cores, "
                 << setting.cluster.bits_per_second << " bit/s, depth "
                 << setting.pipeline_depth << ", " << setting.workers_per_host
                 << " workers a host");
    const StepDemand d =
        DemandOf(mode, calibration, job, setting.cluster.hosts);
    const double before = PredictStep(mode, d, setting).step_seconds;
    for (double StepDemand::*const part :
         {&StepDemand::compute, &StepDemand::pull_server,
          &StepDemand::push_server, &StepDemand::reply_bytes,
          &StepDemand::push_bytes, &StepDemand::reduce_bytes,
          &StepDemand::gather_bytes, &StepDemand::apply_worker}) {
      for (const double times : {1.1, 2.0}) {
        StepDemand more = d;
        more.*part *= times;
        EXPECT_GE(PredictStep(mode, more, setting).step_seconds,
                  before * (1 - kExact));
      }
    }
    StepSetting faster = setting;
    faster.cluster.bits_per_second *= 2;
    EXPECT_LE(PredictStep(mode, d, faster).step_seconds, before * (1 + kExact));
  }
}

// More of anything that costs never makes a step shorter.
TEST(StepFormulasAloneTest, AStepGrowsWithItsDemands) {
  StepSetting setting;
  setting.step_times = UsualTimes();
  for (const double gbit : {1, 3, 10}) {
    for (const double cores : {1, 2, 4}) {
      for (const int workers : {1, 2}) {
        for (const int depth : {1, 2}) {
          setting.cluster = ExampleCluster(8, gbit);
          setting.cluster.cores = cores;
          setting.workers_per_host = workers;
          setting.pipeline_depth = depth;
          ExpectGrowth(setting);
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal
