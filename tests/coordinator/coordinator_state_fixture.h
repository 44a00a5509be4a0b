#ifndef SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_FIXTURE_H_
#define SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_FIXTURE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checkpoint/checkpoint_directory.h"
#include "coordinator/coordinator_state.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {

// Drives the state by hand: 2 PSs, files of one piece each, batches of 10.
class CoordinatorStateTest : public testing::Test {
 protected:
  CoordinatorStateTest() {
    options_.job = "j";
    options_.config = "a=1\n";
    options_.ps.count = 2;
    options_.num_workers = 2;
    options_.ps_addresses = {"h0:1", "h1:1"};
    options_.batch_size = 10;
    options_.piece_bytes = 0;
    options_.shuffle = false;
    Restart();
  }

  void Restart() {
    now_ = absl::UnixEpoch();
    state_.emplace(options_, now_);
    heard_.clear();
    ended_.clear();
    finished_ = 0;
    to_continue_ = 0;
    commits_.clear();
    replies_.clear();
    manifests_.clear();
    to_score_.clear();
    written_.clear();
    to_read_.clear();
    logs_.clear();
  }

  void Do(CoordinatorActions actions) {
    for (CoordinatorAction& action : actions) {
      EXPECT_EQ(finished_, 0) << "an action after Finished";
      if (auto* send = std::get_if<SendAction>(&action)) {
        EXPECT_EQ(ended_.count(send->session), 0u) << "sent after the end";
        heard_[send->session].push_back(std::move(send->message));
      } else if (auto* end = std::get_if<EndSessionAction>(&action)) {
        EXPECT_TRUE(ended_.emplace(end->session, end->status).second);
      } else if (auto* commit = std::get_if<CommitAction>(&action)) {
        commits_.push_back(std::move(*commit));
      } else if (std::get_if<ContinueAction>(&action) != nullptr) {
        ++to_continue_;
      } else if (auto* reply = std::get_if<SaveReplyAction>(&action)) {
        replies_.push_back(std::move(*reply));
      } else if (auto* score = std::get_if<ScoreAction>(&action)) {
        to_score_.push_back(score->evaluation);
      } else if (auto* write = std::get_if<WritePredictionsAction>(&action)) {
        written_.push_back(std::move(*write));
      } else if (auto* read = std::get_if<ReadFileAction>(&action)) {
        to_read_.push_back(std::move(*read));
      } else if (auto* log = std::get_if<LogAction>(&action)) {
        logs_.push_back(std::move(log->line));
      } else if (std::get_if<FinishedAction>(&action) != nullptr) {
        ++finished_;
      }
    }
    if (scores_at_once_) ScoreAll();
  }
  // Works out the evaluations that are due, as the work strand does.
  void ScoreAll() {
    for (const auto& evaluation : std::exchange(to_score_, {})) {
      Do(state_->OnScored(evaluation->Report(), now_));
    }
  }

  RegisterRequest Request(Role role, int index) const {
    RegisterRequest request;
    request.job = "j";
    request.config = "a=1\n";
    request.role = role;
    request.index = index;
    request.attempt = static_cast<uint64_t>(absl::ToUnixMicros(now_));
    if (role == Role::kPs) {
      request.address = "h" + std::to_string(index) + ":1";
    } else {
      request.train_sources = train_;
      request.eval_sources = eval_;
      const auto host = host_of_worker_.find(index);
      if (host != host_of_worker_.end()) request.host = host->second;
    }
    return request;
  }

  // The session's number.
  uint64_t Join(Role role, int index) {
    const auto reply = state_->Register(Request(role, index), now_);
    EXPECT_TRUE(reply.ok()) << reply.status();
    const uint64_t session = ++sessions_;
    if (reply.ok()) Do(state_->OpenSession(session, reply->life, now_));
    return session;
  }
  // Sessions 1 and 2 are the PSs, 3 and 4 the workers.
  void JoinAll() {
    sessions_ = 0;
    for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
    for (int i = 0; i < 2; ++i) Join(Role::kWorker, i);
  }

  void Tell(uint64_t session, ProcessMessage message) {
    Do(state_->OnMessage(session, std::move(message), now_));
  }
  // Time passes; the sessions given keep talking.
  void Pass(absl::Duration span, std::vector<uint64_t> alive = {1, 2, 3, 4}) {
    for (; span > absl::ZeroDuration(); span -= absl::Milliseconds(250)) {
      now_ += absl::Milliseconds(250);
      for (const uint64_t session : alive) Tell(session, Heartbeat{});
      Do(state_->Tick(now_));
    }
  }

  template <typename T>
  std::vector<T> Heard(uint64_t session) {
    std::vector<T> all;
    for (const CoordinatorMessage& message : heard_[session]) {
      if (const T* m = std::get_if<T>(&message)) all.push_back(*m);
    }
    return all;
  }
  // The lease that a new request is answered with at once.
  Lease Ask(uint64_t session) {
    const size_t before = Heard<LeaseGrant>(session).size();
    Tell(session, LeaseRequest{});
    const auto grants = Heard<LeaseGrant>(session);
    EXPECT_EQ(grants.size(), before + 1) << "no lease";
    return grants.empty() ? Lease{} : grants.back().lease;
  }
  void Report(uint64_t session, const Lease& lease, uint64_t examples) {
    Tell(session,
         PieceReport{lease.purpose, lease.epoch, lease.piece.index, examples, 0,
                     static_cast<uint32_t>((examples + 9) / 10), ""});
  }
  void Mark1(uint64_t ps, const Lease& lease, uint32_t index,
             Verdict verdict = Verdict::kApplied) {
    Tell(ps, MarkDelta{{Mark{{lease.epoch, lease.piece.index, index},
                             verdict,
                             lease.number,
                             false}},
                       repeats_[ps]});
  }
  void MarkBoth(const Lease& lease, uint32_t index) {
    Mark1(1, lease, index);
    Mark1(2, lease, index);
  }
  // Trains a piece of `examples` whole.
  void Train(uint64_t session, uint64_t examples) {
    const Lease lease = Ask(session);
    Report(session, lease, examples);
    for (uint32_t i = 0; i < (examples + 9) / 10; ++i) MarkBoth(lease, i);
    Tell(session, LeaseDone{lease.number});
  }

  absl::Status JobStatus() { return state_->Report(now_).status; }
  std::string Why() { return std::string(JobStatus().message()); }
  // The job ended: every process that is there has heard so.
  void ExpectEnded(const std::vector<uint64_t>& sessions) {
    for (const uint64_t session : sessions) {
      EXPECT_THAT(Heard<JobEnd>(session), ::testing::SizeIs(1)) << session;
    }
  }

  CoordinatorOptions options_;
  std::vector<SourceInfo> train_ = {{"a", 100, 1}, {"b", 100, 2}};
  std::vector<SourceInfo> eval_;
  std::map<int, std::string> host_of_worker_;  // RegisterRequest::host
  absl::Time now_;
  std::optional<CoordinatorState> state_;
  uint64_t sessions_ = 0;
  std::map<uint64_t, std::vector<CoordinatorMessage>> heard_;
  std::map<uint64_t, absl::Status> ended_;
  int finished_ = 0;
  int to_continue_ = 0;  // ContinueActions that were not answered
  std::vector<CommitAction> commits_;
  std::vector<SaveReplyAction> replies_;
  std::vector<Manifest> manifests_;  // that were committed
  bool scores_at_once_ = true;
  std::vector<std::shared_ptr<const Evaluation>> to_score_;
  std::vector<WritePredictionsAction> written_;
  std::vector<ReadFileAction> to_read_;
  std::vector<std::string> logs_;
  std::map<uint64_t, uint64_t> repeats_;  // refused so far, by PS
};

}  // namespace shoal

#endif  // SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_FIXTURE_H_
