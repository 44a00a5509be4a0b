#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/telemetry.h"
#include "gtest/gtest.h"
#include "job/coordinator_part.h"
#include "job/ps_part.h"
#include "job/worker_part.h"
#include "models/create_model.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/scripted_cluster.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

// Keeps what processes say of themselves.
class Registrations : public ScriptedCluster {
 public:
  using ScriptedCluster::ScriptedCluster;

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override {
    heard.push_back(request);
    ScriptedCluster::Register(std::move(request), timeout, std::move(done));
  }

  std::vector<RegisterRequest> heard;
};

JobPlan SmallPlan() {
  JobPlan plan;
  plan.job = "j";
  plan.config = "c";
  plan.model.model = "lr";
  plan.model.feature_size = 8;
  plan.model.field_size = 2;
  plan.spec = *MakeModelSpec(plan.model);
  plan.map = *BuildShardMap(plan.spec, plan.partition, 2);
  plan.ps.count = 2;
  return plan;
}

class PartsTest : public testing::Test {
 protected:
  PsLoopDependencies PsDependencies() {
    PsLoopDependencies deps;
    deps.cluster = &cluster_;
    deps.logger = &logger_;
    deps.control = &control_;
    deps.completions = &control_;
    deps.usage = [] { return ResourceUsage{}; };
    return deps;
  }

  WorkerLoopDependencies WorkerDependencies() {
    WorkerLoopDependencies deps;
    deps.cluster = &cluster_;
    deps.logger = &logger_;
    deps.train = &train_;
    deps.control = &control_;
    deps.connect = [](const ClusterView&, const Life&) {
      return std::vector<std::shared_ptr<ParameterService>>{};
    };
    deps.usage = [] { return ResourceUsage{}; };
    return deps;
  }

  void Settle() { simulator_.RunFor(absl::Milliseconds(1)); }

  Simulator simulator_;
  SimulatedExecutor control_{&simulator_};
  SimulatedExecutor train_{&simulator_};
  Logger logger_{{"", LogLevel::kError}};
  Registrations cluster_{&control_};
  const JobPlan plan_ = SmallPlan();
};

TEST_F(PartsTest, APsRegistersAsWhatItIs) {
  PsPart part(plan_, 1, "h:7", PsLoopOptions{}, PsDependencies(),
              /*telemetry=*/nullptr);
  EXPECT_EQ(part.shard(), nullptr);
  int served = 0;
  part.Start([&](const PsPart& of) { served += of.shard() != nullptr; },
             [](MemberEnd) {});
  Settle();
  ASSERT_EQ(cluster_.heard.size(), 1u);
  const RegisterRequest& request = cluster_.heard[0];
  EXPECT_EQ(request.role, Role::kPs);
  EXPECT_EQ(request.index, 1);
  EXPECT_EQ(request.address, "h:7");
  EXPECT_EQ(request.job, "j");
  EXPECT_EQ(request.config, "c");
  EXPECT_EQ(served, 1);
  EXPECT_EQ(part.service(), part.shard()) << "nothing is measured";
}

TEST_F(PartsTest, APsDoesNotComeBackForANewLife) {
  absl::Status end;
  PsPart part(plan_, 0, "h:7", PsLoopOptions{}, PsDependencies(), nullptr);
  part.Start(nullptr, [&](MemberEnd at) { end = at.status; });
  Settle();
  cluster_.EndSession(absl::AbortedError("your life is over"));
  simulator_.RunFor(absl::Minutes(1));
  EXPECT_EQ(cluster_.heard.size(), 1u);
  EXPECT_FALSE(end.ok());
}

TEST_F(PartsTest, AMeasuredShardOutlivesItsPart) {
  Telemetry telemetry;
  auto part = std::make_unique<PsPart>(plan_, 0, "h:7", PsLoopOptions{},
                                       PsDependencies(), &telemetry);
  part->Start(nullptr, [](MemberEnd) {});
  Settle();
  const std::shared_ptr<ParameterService> service = part->service();
  EXPECT_NE(service, part->shard());
  part = nullptr;
  absl::StatusCode code = absl::StatusCode::kUnknown;
  service->Pull(
      PullRequest{}, absl::Seconds(1),
      [&](absl::StatusOr<PullReply> reply) { code = reply.status().code(); });
  Settle();
  EXPECT_NE(code, absl::StatusCode::kUnknown) << "it was answered";
}

TEST_F(PartsTest, AWorkerRegistersWithItsFilesAndComesBack) {
  const FakeFileSystem files;
  WorkerPartOptions options;
  options.backend = "reference";
  options.sources.train.resize(2);
  options.sources.eval.resize(1);
  auto part = WorkerPart::Create(plan_, 3, std::move(options),
                                 WorkerDependencies(), &files);
  ASSERT_TRUE(part.ok()) << part.status();
  (*part)->Start([](MemberEnd) {});
  Settle();
  ASSERT_EQ(cluster_.heard.size(), 1u);
  const RegisterRequest& request = cluster_.heard[0];
  EXPECT_EQ(request.role, Role::kWorker);
  EXPECT_EQ(request.index, 3);
  EXPECT_EQ(request.job, "j");
  EXPECT_EQ(request.config, "c");
  EXPECT_EQ(request.train_sources.size(), 2u);
  EXPECT_EQ(request.eval_sources.size(), 1u);
  cluster_.EndSession(absl::AbortedError("your life is over"));
  simulator_.RunFor(absl::Minutes(1));
  EXPECT_GE(cluster_.heard.size(), 2u);
}

TEST_F(PartsTest, AWorkerWithoutItsBackendIsNone) {
  const FakeFileSystem files;
  WorkerPartOptions options;
  options.backend = "abacus";
  const auto part = WorkerPart::Create(plan_, 0, std::move(options),
                                       WorkerDependencies(), &files);
  EXPECT_FALSE(part.ok());
}

TEST_F(PartsTest, TheCoordinatorTakesTheJobOfThePlanAlone) {
  CoordinatorOptions options;
  options.ps = plan_.ps;
  options.num_workers = 1;
  const auto coordinator =
      ComposeCoordinator(plan_, options, {}, &control_, &logger_, nullptr);
  auto answer_to = [&](const std::string& config) {
    RegisterRequest request;
    request.job = "j";
    request.config = config;
    request.role = Role::kPs;
    request.index = 0;
    request.address = "h:7";
    absl::Status answer = absl::UnknownError("none");
    coordinator->Register(
        request, absl::Seconds(1),
        [&](absl::StatusOr<RegisterReply> reply) { answer = reply.status(); });
    Settle();
    return answer;
  };
  EXPECT_FALSE(answer_to("another").ok());
  EXPECT_TRUE(answer_to("c").ok()) << answer_to("c");
}

}  // namespace
}  // namespace shoal
