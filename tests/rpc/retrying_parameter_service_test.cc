#include "rpc/retrying_parameter_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

// Answers each call with the next status of a script, after a while.
class ScriptedService : public ParameterService {
 public:
  struct Log {
    std::vector<absl::Time> calls;
    std::vector<BatchId> batches;
    std::vector<absl::Duration> timeouts;
    int alive = 0;
  };

  ScriptedService(Executor* executor, absl::Duration latency,
                  std::vector<absl::Status> script, Log* log)
      : executor_(executor),
        latency_(latency),
        script_(std::move(script)),
        log_(log) {
    ++log_->alive;
  }
  ~ScriptedService() override { --log_->alive; }

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    Answer<PullReply>(timeout, std::move(done));
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    log_->batches.push_back(request.batches[0].id);
    Answer<PushReply>(timeout, std::move(done));
  }
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    Answer<StatsReply>(timeout, std::move(done));
  }

 private:
  template <typename Reply>
  void Answer(absl::Duration timeout, Done<Reply> done) {
    log_->calls.push_back(executor_->Now());
    log_->timeouts.push_back(timeout);
    absl::Status status = script_.empty()
                              ? absl::UnavailableError("still not there")
                              : script_.front();
    if (!script_.empty()) script_.erase(script_.begin());
    executor_->PostAfter(latency_, [status, done = std::move(done)]() mutable {
      if (status.ok()) {
        std::move(done)(Reply());
      } else {
        std::move(done)(status);
      }
    });
  }

  Executor* const executor_;
  const absl::Duration latency_;
  std::vector<absl::Status> script_;
  Log* const log_;
};

class RetryingParameterServiceTest : public testing::Test {
 protected:
  void Make(std::vector<absl::Status> script,
            absl::Duration latency = absl::Milliseconds(1)) {
    RetryOptions options;
    options.backoff.jitter = 0;
    service_ = std::make_unique<RetryingParameterService>(
        std::make_unique<ScriptedService>(&executor_, latency,
                                          std::move(script), &log_),
        options, /*seed=*/7, &executor_);
  }

  void Push(absl::Duration timeout, uint64_t step = 0) {
    PushRequest request;
    request.step = step;
    request.batches = {{.id = {1, 2, 3}}};
    service_->Push(std::move(request), timeout,
                   [this](absl::StatusOr<PushReply> reply) {
                     ++completions_;
                     status_ = reply.status();
                     completed_at_ = simulator_.Now();
                   });
  }

  Simulator simulator_;
  SimulatedExecutor executor_{&simulator_};
  ScriptedService::Log log_;
  std::unique_ptr<RetryingParameterService> service_;
  int completions_ = 0;
  absl::Status status_;
  absl::Time completed_at_;
};

TEST_F(RetryingParameterServiceTest, SendsTheSameBatchUntilItIsThrough) {
  Make({absl::UnavailableError("a"), absl::DeadlineExceededError("b"),
        absl::ResourceExhaustedError("c"), absl::OkStatus()});
  Push(absl::Seconds(10));
  simulator_.RunUntilIdle();
  EXPECT_EQ(completions_, 1);
  EXPECT_TRUE(status_.ok()) << status_;
  EXPECT_THAT(log_.batches, testing::Each(BatchId{1, 2, 3}));
  ASSERT_EQ(log_.calls.size(), 4);
  // A millisecond of latency and then 20, 40 and 80 of backoff.
  const absl::Time start = log_.calls[0];
  EXPECT_EQ(log_.calls[1] - start, absl::Milliseconds(21));
  EXPECT_EQ(log_.calls[2] - start, absl::Milliseconds(62));
  EXPECT_EQ(log_.calls[3] - start, absl::Milliseconds(143));
}

TEST_F(RetryingParameterServiceTest, OtherErrorsComeThroughAtOnce) {
  Make({absl::InvalidArgumentError("unknown table 7")});
  Push(absl::Seconds(10));
  simulator_.RunUntilIdle();
  EXPECT_EQ(completions_, 1);
  EXPECT_EQ(status_, absl::InvalidArgumentError("unknown table 7"));
  EXPECT_EQ(log_.calls.size(), 1);
}

TEST_F(RetryingParameterServiceTest, GivesUpByTheCallersDeadline) {
  Make({});
  const absl::Time start = simulator_.Now();
  Push(absl::Seconds(3));
  simulator_.RunUntilIdle();
  EXPECT_EQ(completions_, 1);
  EXPECT_EQ(status_.code(), absl::StatusCode::kUnavailable)
      << "out of reach, and not silent";
  EXPECT_THAT(std::string(status_.message()),
              testing::HasSubstr("still not there"));
  EXPECT_LE(completed_at_ - start, absl::Seconds(3));
  for (size_t i = 0; i < log_.calls.size(); ++i) {
    EXPECT_LE(log_.calls[i] + log_.timeouts[i], start + absl::Seconds(3));
  }
}

// The server parks it until the other workers are there.
TEST_F(RetryingParameterServiceTest, AnAttemptOfAPushForAStepHasAllTheTime) {
  Make({absl::UnavailableError("the connection broke"), absl::OkStatus(),
        absl::OkStatus()});
  Push(absl::Seconds(60), /*step=*/3);
  simulator_.RunUntilIdle();
  EXPECT_TRUE(status_.ok()) << status_;
  Push(absl::Seconds(60));
  simulator_.RunUntilIdle();
  EXPECT_THAT(log_.timeouts,
              testing::ElementsAre(absl::Seconds(60),
                                   absl::Seconds(60) - absl::Milliseconds(21),
                                   RetryOptions().attempt_timeout));
}

TEST_F(RetryingParameterServiceTest, AServerThatStaysFullIsFullInTheEnd) {
  Make(std::vector<absl::Status>(100,
                                 absl::ResourceExhaustedError("table full")));
  Push(absl::Seconds(3));
  simulator_.RunUntilIdle();
  EXPECT_EQ(completions_, 1);
  EXPECT_EQ(status_.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status_.message()), testing::HasSubstr("table full"));
}

TEST_F(RetryingParameterServiceTest, ItsEndCompletesACallThatWaits) {
  Make({});
  Push(absl::Seconds(10));
  // The first attempt has failed and the second is due later.
  simulator_.RunFor(absl::Milliseconds(5));
  ASSERT_EQ(completions_, 0);
  service_.reset();
  EXPECT_EQ(log_.alive, 0);
  simulator_.RunUntilIdle();
  EXPECT_EQ(completions_, 1);
  EXPECT_EQ(status_.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(log_.calls.size(), 1);
}

TEST_F(RetryingParameterServiceTest, ItsEndLeavesNoCallInFlightUncompleted) {
  Make({}, /*latency=*/absl::Milliseconds(50));
  Push(absl::Seconds(10));
  simulator_.RunFor(absl::Milliseconds(5));
  service_.reset();
  simulator_.RunUntilIdle();
  EXPECT_EQ(completions_, 1);
  EXPECT_FALSE(status_.ok());
  EXPECT_EQ(log_.calls.size(), 1);
}

}  // namespace
}  // namespace shoal
