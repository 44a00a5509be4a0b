#include "job/own_replica.h"

#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

// Answers every call at once, on the executor.
class Echo final : public ParameterService {
 public:
  explicit Echo(Executor* executor) : executor_(executor) {}

  void Pull(PullRequest, absl::Duration, Done<PullReply> done) override {
    executor_->Post([done = std::move(done)]() mutable {
      PullReply reply;
      reply.version.count = 7;
      std::move(done)(std::move(reply));
    });
  }
  void Push(PushRequest, absl::Duration, Done<PushReply> done) override {
    executor_->Post([done = std::move(done)]() mutable {
      std::move(done)(PushReply{});
    });
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply> done) override {
    executor_->Post([done = std::move(done)]() mutable {
      std::move(done)(StatsReply{});
    });
  }

 private:
  Executor* const executor_;
};

class OwnReplicaTest : public testing::Test {
 protected:
  // The result of a pull.
  absl::StatusOr<PullReply> Pull(ParameterService* service) {
    std::optional<absl::StatusOr<PullReply>> result;
    service->Pull({}, absl::Seconds(1),
                  [&result](absl::StatusOr<PullReply> reply) {
                    EXPECT_FALSE(result.has_value());
                    result = std::move(reply);
                  });
    EXPECT_FALSE(result.has_value()) << "done ran inside the call";
    simulator_.RunUntilIdle();
    return result.value_or(absl::InternalError("no answer"));
  }

  Simulator simulator_;
  SimulatedExecutor executor_{&simulator_};
};

TEST_F(OwnReplicaTest, CallsMayBeRepeatedUntilThereIsAShard) {
  OwnReplica replica(&executor_);
  const std::unique_ptr<ParameterService> worker = replica.Connect();
  EXPECT_TRUE(absl::IsUnavailable(Pull(worker.get()).status()));
  replica.Attach(std::make_shared<Echo>(&executor_), nullptr);
  const auto reply = Pull(worker.get());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->version.count, 7u);
}

TEST_F(OwnReplicaTest, AConnectionOutlivesTheReplica) {
  std::unique_ptr<ParameterService> worker;
  {
    OwnReplica replica(&executor_);
    replica.Attach(std::make_shared<Echo>(&executor_), nullptr);
    worker = replica.Connect();
  }
  EXPECT_TRUE(Pull(worker.get()).ok());
}

}  // namespace
}  // namespace shoal
