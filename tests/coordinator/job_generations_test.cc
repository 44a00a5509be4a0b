#include "coordinator/job_generations.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"
#include "tests/coordinator/sent_to.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A ring of workers 0 to 2 (sessions 1 to 3) with a replica each.
class JobGenerationsTest : public testing::Test {
 protected:
  explicit JobGenerationsTest(PsMembers ps = Replicas())
      : membership_(MembershipOptions{.ps = ps}) {
    options_.ring = true;
    options_.lanes = true;
    options_.num_workers = 3;
    options_.ps = ps;
    start_.emplace(options_);
    for (int i = 0; i < 3; ++i) {
      workers_.push_back(Join(Role::kWorker, i,
                              static_cast<uint64_t>(i) + 1, &membership_));
    }
    TrainingBookOptions book;
    book.num_members = ps.count;
    book.batch_size = 10;
    book_ = TrainingBook(
        book, PieceFacts("training", {{"a", 100, 1}}, {{0, 0, 0, 100}}, 10));
    generations_.emplace(options_, membership_);
  }

  static PsMembers Replicas() { return {.count = 3, .replicated = 0}; }
  JobGenerations::View View() {
    return {membership_, book_,   *start_,      JobPhase::kTraining,
            now_,        nullptr, newest_lease_};
  }
  void Lose(int worker) {
    generations_->OnLost(workers_[worker]);
    membership_.Remove(workers_[worker].life);
  }
  JobEffects Ready(int worker, uint64_t number) {
    auto effects =
        generations_->OnReady(workers_[worker], {number, "h:9", 0});
    EXPECT_TRUE(effects.ok()) << effects.status();
    return generations_->Step(View());
  }
  JobEffects Level(int worker, uint64_t number, uint64_t batches) {
    const auto effects =
        generations_->OnLevel(workers_[worker], {number, batches});
    EXPECT_TRUE(effects.ok()) << effects.status();
    return generations_->Step(View());
  }
  std::string Waits() { return generations_->WaitingFor(View()); }

  CoordinatorOptions options_;
  Membership membership_;
  std::optional<JobStart> start_;
  std::vector<Member> workers_;
  TrainingBook book_;
  absl::Time now_ = absl::UnixEpoch();
  uint64_t newest_lease_ = 0;
  std::optional<JobGenerations> generations_;
};

TEST_F(JobGenerationsTest, AChangeWaitsForEveryAnswerAndEveryMark) {
  EXPECT_TRUE(generations_->steady());
  EXPECT_FALSE(generations_->EndIsDue(now_, false));
  EXPECT_EQ(Waits(), "");
  Lose(1);
  ASSERT_TRUE(generations_->EndIsDue(now_, true));
  NewGeneration told;
  EXPECT_THAT(SentTo<NewGeneration>(generations_->End(View()), &told),
              ElementsAre(1, 3));
  EXPECT_EQ(told.number, 2u);
  EXPECT_FALSE(generations_->steady());
  EXPECT_FALSE(generations_->EndIsDue(now_, false));
  EXPECT_EQ(Waits(), "the workers change: worker 0, worker 2 did not end the "
                     "step that was open");
  EXPECT_THAT(Ready(0, 2).actions, IsEmpty());
  ClusterView view;
  EXPECT_THAT(SentTo<ClusterView>(Ready(2, 2).actions, &view),
              ElementsAre(1, 3));
  EXPECT_EQ(view.generation, 2u);
  EXPECT_THAT(view.ranks, SizeIs(2));
  EXPECT_EQ(Waits(),
            "the workers change: worker 0, worker 2 did not join the new ring");
  Level(0, 2, 1);
  Level(2, 2, 1);
  EXPECT_EQ(Waits(), "the workers change: worker 0, worker 2 did not report "
                     "all batches");
  for (const int member : {0, 2}) {
    EXPECT_FALSE(generations_->steady());
    ASSERT_TRUE(
        book_.AddMark(member, {{0, 0, 0}, Verdict::kApplied, 1, false}, now_)
            .ok());
    generations_->Step(View());
  }
  EXPECT_TRUE(generations_->steady());
}

// A ring beside two servers, sessions 4 and 5.
class HybridGenerationsTest : public JobGenerationsTest {
 protected:
  HybridGenerationsTest()
      : JobGenerationsTest({.count = 5, .replicated = 2}) {
    for (int s = 0; s < 2; ++s) {
      servers_.push_back(Join(Role::kPs, s, static_cast<uint64_t>(s) + 4,
                              &membership_));
    }
  }
  std::vector<Member> servers_;
};

TEST_F(HybridGenerationsTest, ServersEndTheLeasesThatThereWere) {
  newest_lease_ = 9;
  Lose(1);
  EXPECT_THAT(SentTo<NewGeneration>(generations_->End(View())),
              ElementsAre(1, 3));
  const auto server_ready = [&](int s, uint64_t number) {
    EXPECT_TRUE(generations_->OnReady(servers_[s], {number, "", 0}).ok());
    generations_->Step(View());
  };
  server_ready(0, 2);  // not asked yet
  Ready(0, 2);
  GenerationBegan began;
  EXPECT_THAT(SentTo<GenerationBegan>(Ready(2, 2).actions, &began),
              ElementsAre(4, 5))
      << "when no worker pushes any more";
  EXPECT_EQ(began.number, 2u);
  EXPECT_EQ(began.leases, 9u);
  EXPECT_THAT(began.workers,
              ElementsAre(workers_[0].life, workers_[2].life));
  server_ready(0, 2);
  Level(0, 2, 0);
  Level(2, 2, 0);
  EXPECT_FALSE(generations_->steady());
  EXPECT_EQ(Waits(), "the workers change: ps 1 (h1:1) did not report all "
                     "batches");
  // The next change asks again.
  Lose(0);
  generations_->End(View());
  server_ready(1, 2);
  EXPECT_THAT(SentTo<GenerationBegan>(Ready(2, 3).actions), ElementsAre(4, 5));
  Level(2, 3, 0);
  server_ready(1, 2);
  server_ready(1, 3);
  EXPECT_FALSE(generations_->steady());
  server_ready(0, 3);
  EXPECT_TRUE(generations_->steady());
}

TEST_F(JobGenerationsTest, ALossBetweenStepsBeginsAgain) {
  Lose(1);
  generations_->End(View());
  Ready(0, 2);
  Ready(2, 2);
  Level(2, 2, 0);
  Lose(2);
  ASSERT_TRUE(generations_->EndIsDue(now_, false));
  generations_->End(View());
  EXPECT_EQ(generations_->number(), 3u);
  Level(0, 2, 0);
  Ready(0, 2);
  EXPECT_THAT(Waits(), HasSubstr("worker 0 did not end the step"));
  Ready(0, 3);
  Level(0, 3, 0);
  EXPECT_TRUE(generations_->steady());
  ASSERT_THAT(generations_->ranks(), SizeIs(1));
  JobReport report;
  generations_->Fill(&report);
  EXPECT_EQ(report.generations, 3u);
  EXPECT_EQ(report.ranks_lost, 2u);
}

TEST_F(JobGenerationsTest, LeasesOfAWorkerThatHasNotAnsweredAreOver) {
  const ProcessMessage words[] = {LeaseRequest{}, LeaseDone{}, LeaseFailed{},
                                  EvalResult{}, StepsFinished{}};
  for (const ProcessMessage& word : words) {
    EXPECT_FALSE(generations_->Ignores(workers_[0], word));
  }
  Lose(1);
  generations_->End(View());
  for (const ProcessMessage& word : words) {
    EXPECT_TRUE(generations_->Ignores(workers_[0], word));
  }
  EXPECT_FALSE(generations_->Ignores(workers_[0], PieceReport{}))
      << "it is about the data";
  EXPECT_FALSE(generations_->Ignores(workers_[0], Heartbeat{}));
  Ready(0, 2);
  EXPECT_FALSE(generations_->Ignores(workers_[0], words[0]));
  EXPECT_TRUE(generations_->Ignores(workers_[2], words[0]));
}

TEST_F(JobGenerationsTest, WhatCannotBeBreaksTheProtocol) {
  Lose(1);
  generations_->End(View());
  EXPECT_TRUE(absl::IsInvalidArgument(
      generations_->OnReady(workers_[0], {3, "h:9", 0}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      generations_->OnLevel(workers_[0], {3, 0}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      generations_
          ->OnBroken(workers_[0], {3, 2, absl::UnavailableError("x")}, View())
          .status()));
  EXPECT_THAT(std::string(generations_->OnReady(workers_[0], {2, "", 0})
                              .status()
                              .message()),
              HasSubstr("gives no address for the ring"));
}

TEST_F(JobGenerationsTest, AWorkerThatHasJoinedWaitsForASave) {
  membership_.Remove(workers_[1].life);
  generations_->OnLost(workers_[1]);
  generations_->End(View());
  Ready(0, 2);
  Ready(2, 2);
  Level(0, 2, 0);
  Level(2, 2, 0);
  generations_->OnJoined(workers_[0]);
  EXPECT_FALSE(generations_->EndIsDue(now_, false)) << "it is a rank already";
  generations_->OnJoined(Join(Role::kWorker, 1, 9, &membership_));
  EXPECT_FALSE(generations_->EndIsDue(now_, true));
  EXPECT_TRUE(generations_->EndIsDue(now_, false));
  EXPECT_THAT(SentTo<NewGeneration>(generations_->End(View())),
              ElementsAre(1, 9, 3));
}

TEST_F(JobGenerationsTest, ABreakOfAnotherGenerationCountsForNothing) {
  const auto broken = [&](uint64_t number) {
    const auto effects = generations_->OnBroken(
        workers_[0], {number, 7, absl::UnavailableError("reset")}, View());
    EXPECT_TRUE(effects.ok());
    return effects->actions;
  };
  ASSERT_THAT(broken(1), SizeIs(1));
  EXPECT_THAT(broken(1), IsEmpty()) << "told once";
  EXPECT_FALSE(generations_->EndIsDue(now_, false));
  EXPECT_TRUE(generations_->EndIsDue(now_ + absl::Seconds(1), true));
  generations_->End(View());
  EXPECT_THAT(broken(2), IsEmpty()) << "no ring is there yet";
  EXPECT_THAT(broken(1), IsEmpty());
  EXPECT_FALSE(generations_->EndIsDue(now_ + absl::Seconds(9), false));
}

}  // namespace
}  // namespace shoal
