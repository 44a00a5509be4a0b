#include "coordinator/save_policy.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// A job that trains and saves into the model directory "m".
class SavePolicyTest : public testing::Test {
 protected:
  SavePolicyTest() {
    options_.save = true;
    options_.model_dir = "m";
    options_.deadline = absl::Seconds(100);
    options_.stop_deadline = absl::Seconds(20);
    view_.phase = JobPhase::kTraining;
  }

  SavePolicy Make() const { return SavePolicy(options_); }

  void Do(JobEffects outcome) {
    for (CoordinatorAction& action : outcome.actions) {
      if (auto* reply = std::get_if<SaveReplyAction>(&action)) {
        replies_.emplace_back(reply->request, reply->saved.status());
      } else if (auto* log = std::get_if<LogAction>(&action)) {
        logs_.push_back(log->line);
      }
    }
    if (outcome.end.has_value()) {
      ends_.push_back(outcome.end->status);
      EXPECT_EQ(outcome.end->first, "ps 1") << "the process that was stopped";
    }
  }
  // A save begins and is cut at this step.
  void BeginAt(SavePolicy& policy, uint64_t step) {
    policy.Begin();
    view_.busy = true;
    view_.step = step;
    policy.OnCut(step, view_.sound);
  }
  void Done(SavePolicy& policy, absl::Status status, uint64_t step = 0) {
    view_.busy = view_.late = false;
    Do(policy.OnDone({std::move(status), "d", step, true, absl::Seconds(1)},
                     view_, now_));
  }
  void Late(SavePolicy& policy, uint64_t step) {
    view_.late = true;
    Do(policy.OnLate({step, absl::Seconds(100), "ps 1 to sync"}, true));
  }

  CheckpointOptions options_;
  SavePolicy::View view_;
  absl::Time now_ = absl::UnixEpoch();
  std::vector<std::pair<uint64_t, absl::Status>> replies_;
  std::vector<std::string> logs_;
  std::vector<absl::Status> ends_;
};

// ---- Divergence

TEST_F(SavePolicyTest, NamesTheNewestCheckpointFromBeforeTheDivergence) {
  auto from = std::make_shared<Manifest>();
  from->step = 100;
  options_.resume = from;
  options_.resume_name = "ckpt-100";
  SavePolicy policy = Make();
  policy.OnDiverged(99);
  EXPECT_EQ(policy.report().before_divergence, "") << "none is so old";
  policy.OnDiverged(150);
  EXPECT_EQ(policy.report().before_divergence, "m/ckpt-100");
  for (const uint64_t step : {200, 300}) {
    BeginAt(policy, step);
    Done(policy, absl::OkStatus(), step);
  }
  BeginAt(policy, 400);
  Done(policy, absl::UnavailableError("full"));
  policy.OnDiverged(299);
  EXPECT_EQ(policy.report().before_divergence, "m/d");
  EXPECT_EQ(policy.report().before_divergence_step, 200u);
  policy.OnDiverged(450);
  EXPECT_EQ(policy.report().before_divergence_step, 300u);
}

TEST_F(SavePolicyTest, ACheckpointThatIsNotKeptIsNotNamed) {
  options_.keep = 2;
  SavePolicy policy = Make();
  for (const uint64_t step : {100, 200, 300}) {
    BeginAt(policy, step);
    Done(policy, absl::OkStatus(), step);
  }
  policy.OnDiverged(199);
  EXPECT_EQ(policy.report().before_divergence, "");
  policy.OnDiverged(200);
  EXPECT_EQ(policy.report().before_divergence_step, 200u);
}

TEST_F(SavePolicyTest, ACheckpointThatWasSavedWhileItDivergedIsNotNamed) {
  auto from = std::make_shared<Manifest>();
  from->step = 71;
  from->notes[kDivergingNote] = "true";
  options_.resume = from;
  options_.resume_name = "ckpt-71";
  SavePolicy policy = Make();
  policy.OnDiverged(75);
  EXPECT_EQ(policy.report().before_divergence, "");
  options_.sound_path = "m/ckpt-40";
  options_.sound_step = 40;
  SavePolicy knows = Make();
  knows.OnDiverged(75);
  EXPECT_EQ(knows.report().before_divergence, "m/ckpt-40");
  EXPECT_EQ(knows.report().before_divergence_step, 40u);
  // Its own checkpoints may have replaced it.
  view_.sound = false;
  BeginAt(knows, 100);
  Done(knows, absl::OkStatus(), 100);
  knows.OnDiverged(150);
  EXPECT_EQ(knows.report().before_divergence, "");
  view_.sound = true;
  BeginAt(knows, 120);
  Done(knows, absl::OkStatus(), 120);
  knows.OnDiverged(150);
  EXPECT_EQ(knows.report().before_divergence_step, 120u);
}

TEST_F(SavePolicyTest, WhileItLooksDivergingOnlyWhatIsAskedForIsSaved) {
  options_.save_steps = 100;
  options_.save_every = absl::Seconds(60);
  SavePolicy policy = Make();
  view_.phase = JobPhase::kTraining;
  view_.sound = false;
  EXPECT_FALSE(policy.Due(view_, now_));
  view_.step = 150;
  now_ += absl::Seconds(90);
  EXPECT_FALSE(policy.Due(view_, now_));
  Do(policy.Request(1, view_));
  EXPECT_TRUE(policy.Due(view_, now_));
  policy.Begin();
  EXPECT_FALSE(policy.Due(view_, now_));
  view_.sound = true;
  EXPECT_TRUE(policy.Due(view_, now_));
  view_.sound = false;
  Do(policy.Stop(absl::CancelledError("stopped"), "ps 0", view_, now_));
  EXPECT_TRUE(policy.Due(view_, now_));
}

// ---- When one is due

TEST_F(SavePolicyTest, EveryKStepsCountedFromTheLastThatWasSaved) {
  options_.save_steps = 10;
  SavePolicy policy = Make();
  view_.step = 9;
  EXPECT_FALSE(policy.Due(view_, now_));
  view_.step = 12;
  EXPECT_TRUE(policy.Due(view_, now_));
  BeginAt(policy, 12);
  EXPECT_FALSE(policy.Due(view_, now_)) << "one at a time";
  view_.step = 25;  // training went on while the disks synced
  Done(policy, absl::OkStatus(), 12);
  EXPECT_TRUE(policy.Due(view_, now_)) << "20 is behind us";
  BeginAt(policy, 25);
  Done(policy, absl::UnavailableError("full"));
  EXPECT_FALSE(policy.Due(view_, now_))
      << "a void one is tried again at 30 only";
  view_.step = 30;
  EXPECT_TRUE(policy.Due(view_, now_));
}

TEST_F(SavePolicyTest, AJobThatGoesOnCountsFromItsCheckpoint) {
  options_.save_steps = 10;
  SavePolicy policy = Make();
  policy.GoOnFrom(20, 200);
  view_.step = 29;
  EXPECT_FALSE(policy.Due(view_, now_));
  view_.step = 30;
  EXPECT_TRUE(policy.Due(view_, now_));
  EXPECT_EQ(policy.report().resumed_samples, 200u);
}

TEST_F(SavePolicyTest, NothingIsDueOutsideTraining) {
  options_.save_steps = 1;
  view_.step = 5;
  for (const JobPhase phase : {JobPhase::kGathering, JobPhase::kRestoring,
                               JobPhase::kReporting, JobPhase::kEnding}) {
    view_.phase = phase;
    EXPECT_FALSE(Make().Due(view_, now_));
  }
  view_.phase = JobPhase::kEvaluating;
  EXPECT_TRUE(Make().Due(view_, now_));
}

// ---- By time

TEST_F(SavePolicyTest, AnIntervalBeginsWithTrainingAndWithTheEndOfASave) {
  options_.save_every = absl::Seconds(600);
  SavePolicy policy = Make();
  // The servers load for an hour.
  view_.phase = JobPhase::kRestoring;
  EXPECT_FALSE(policy.Due(view_, now_));
  now_ += absl::Hours(1);
  view_.phase = JobPhase::kTraining;
  EXPECT_FALSE(policy.Due(view_, now_));
  now_ += absl::Seconds(599);
  EXPECT_FALSE(policy.Due(view_, now_));
  now_ += absl::Seconds(1);
  EXPECT_TRUE(policy.Due(view_, now_));
  BeginAt(policy, 12);
  now_ += absl::Seconds(50);
  EXPECT_FALSE(policy.Due(view_, now_)) << "one at a time";
  Done(policy, absl::OkStatus(), 12);
  now_ += absl::Seconds(599);
  EXPECT_FALSE(policy.Due(view_, now_));
  now_ += absl::Seconds(1);
  EXPECT_TRUE(policy.Due(view_, now_));
}

TEST_F(SavePolicyTest, ASlowSaveIsNotFollowedByAnotherAtOnce) {
  options_.save_every = absl::Seconds(10);
  SavePolicy policy = Make();
  policy.Due(view_, now_);
  BeginAt(policy, 1);
  now_ += absl::Seconds(100);
  Done(policy, absl::UnavailableError("full"), 1);
  EXPECT_FALSE(policy.Due(view_, now_));
  now_ += absl::Seconds(10);
  EXPECT_TRUE(policy.Due(view_, now_)) << "a void one is tried again by then";
}

TEST_F(SavePolicyTest, EverySaveBeginsTheIntervalAnew) {
  options_.save_every = absl::Seconds(10);
  options_.save_steps = 100;
  SavePolicy policy = Make();
  policy.Due(view_, now_);
  now_ += absl::Seconds(9);
  view_.step = 100;
  EXPECT_TRUE(policy.Due(view_, now_)) << "by steps";
  BeginAt(policy, 100);
  Done(policy, absl::OkStatus(), 100);
  now_ += absl::Seconds(9);
  EXPECT_FALSE(policy.Due(view_, now_));
  now_ += absl::Seconds(1);
  EXPECT_TRUE(policy.Due(view_, now_)) << "by time";
}

TEST_F(SavePolicyTest, WithoutAnIntervalTimeIsNotCounted) {
  SavePolicy policy = Make();
  EXPECT_FALSE(policy.Due(view_, now_));
  now_ += absl::Hours(1000);
  EXPECT_FALSE(policy.Due(view_, now_));
  options_.save_every = absl::Seconds(1);
  options_.save = false;
  SavePolicy other = Make();
  other.Due(view_, now_);
  now_ += absl::Hours(1);
  EXPECT_FALSE(other.Due(view_, now_));
}

// ---- Requests

TEST_F(SavePolicyTest, ARequestIsAnsweredByTheNextSaveThatBegins) {
  SavePolicy policy = Make();
  EXPECT_FALSE(policy.Due(view_, now_));
  Do(policy.Request(1, view_));
  EXPECT_TRUE(policy.Due(view_, now_));
  BeginAt(policy, 3);
  Do(policy.Request(2, view_));
  Done(policy, absl::OkStatus(), 3);
  EXPECT_THAT(replies_, ElementsAre(Pair(1, absl::OkStatus())));
  EXPECT_TRUE(policy.Due(view_, now_));
  BeginAt(policy, 4);
  Done(policy, absl::UnavailableError("full"));
  EXPECT_THAT(replies_, ElementsAre(Pair(1, absl::OkStatus()),
                                    Pair(2, absl::UnavailableError("full"))));
}

TEST_F(SavePolicyTest, ARequestIsRefusedWhereNothingCanBeSaved) {
  SavePolicy policy = Make();
  uint64_t request = 0;
  for (const JobPhase phase : {JobPhase::kGathering, JobPhase::kRestoring,
                               JobPhase::kReporting, JobPhase::kEnding}) {
    view_.phase = phase;
    Do(policy.Request(++request, view_));
    ASSERT_THAT(replies_, SizeIs(request));
    EXPECT_EQ(replies_.back().second.code(),
              absl::StatusCode::kFailedPrecondition);
  }
  view_.phase = JobPhase::kTraining;
  options_.save = false;
  SavePolicy other = Make();
  Do(other.Request(9, view_));
  EXPECT_THAT(replies_.back().second.message(), HasSubstr("--model_dir"));
}

TEST_F(SavePolicyTest, SoManyRequestsMayWaitAndTheEndRefusesThem) {
  SavePolicy policy = Make();
  for (uint64_t i = 0; i < 65; ++i) Do(policy.Request(i, view_));
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_EQ(replies_[0].second.code(), absl::StatusCode::kResourceExhausted);
  Do(policy.RefuseAll());
  EXPECT_THAT(replies_, SizeIs(65));
}

// ---- The end

TEST_F(SavePolicyTest, TheEndIsSettledOnceItsSaveIsOver) {
  for (const absl::Status& status :
       {absl::OkStatus(), absl::UnavailableError("full")}) {
    SavePolicy policy = Make();
    view_.step = 7;
    view_.trained = true;
    EXPECT_TRUE(policy.EndDue(view_, now_));
    EXPECT_FALSE(policy.settled());
    BeginAt(policy, 7);
    EXPECT_FALSE(policy.EndDue(view_, now_));
    Done(policy, status, 7);
    EXPECT_TRUE(policy.settled());
    EXPECT_EQ(policy.end_status().code(), status.code());
    EXPECT_FALSE(policy.EndDue(view_, now_));
  }
}

TEST_F(SavePolicyTest, AnEarlierSaveIsNotTheEnds) {
  SavePolicy policy = Make();
  BeginAt(policy, 5);
  view_.step = 7;
  view_.trained = true;
  EXPECT_FALSE(policy.EndDue(view_, now_));
  Done(policy, absl::OkStatus(), 5);
  EXPECT_FALSE(policy.settled());
  EXPECT_TRUE(policy.EndDue(view_, now_));
}

TEST_F(SavePolicyTest, AJobThatSavesNothingIsSettled) {
  options_.save = false;
  EXPECT_TRUE(Make().settled());
}

// ---- Disks that hang

TEST_F(SavePolicyTest, WhoWaitsHearsThatTheDisksAreLate) {
  SavePolicy policy = Make();
  Do(policy.Request(1, view_));
  BeginAt(policy, 3);
  Do(policy.Request(2, view_));
  Late(policy, 3);
  ASSERT_THAT(replies_, SizeIs(2));
  EXPECT_EQ(replies_[0].second.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(replies_[1].second.code(), absl::StatusCode::kFailedPrecondition);
  Do(policy.Request(3, view_));
  ASSERT_THAT(replies_, SizeIs(3));
  EXPECT_THAT(replies_[2].second.message(), HasSubstr("ps 1 to sync"));
}

TEST_F(SavePolicyTest, TheEndDoesNotWaitForTheDisksOfItsOwnSave) {
  SavePolicy policy = Make();
  BeginAt(policy, 7);
  view_.trained = true;
  Late(policy, 7);
  Do(policy.Step(view_, now_));
  EXPECT_TRUE(policy.settled());
  EXPECT_EQ(policy.end_status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(SavePolicyTest, TheEndWaitsTheDeadlineForAnEarlierSave) {
  SavePolicy policy = Make();
  BeginAt(policy, 5);
  Late(policy, 5);
  view_.step = 7;
  view_.trained = true;
  EXPECT_FALSE(policy.EndDue(view_, now_));
  now_ += absl::Seconds(99);
  EXPECT_FALSE(policy.EndDue(view_, now_));
  Do(policy.Step(view_, now_));
  EXPECT_FALSE(policy.settled());
  now_ += absl::Seconds(1);
  Do(policy.Step(view_, now_));
  EXPECT_TRUE(policy.settled());
}

// ---- Stops

TEST_F(SavePolicyTest, AStopSavesAndThenEndsTheJob) {
  for (const absl::Status& saved :
       {absl::OkStatus(), absl::UnavailableError("full")}) {
    ends_.clear();
    SavePolicy policy = Make();
    Do(policy.Stop(absl::CancelledError("SIGTERM"), "ps 1", view_, now_));
    EXPECT_THAT(ends_, IsEmpty());
    EXPECT_EQ(policy.stop_deadline(), now_ + absl::Seconds(20));
    EXPECT_TRUE(policy.Due(view_, now_));
    BeginAt(policy, 3);
    Done(policy, saved, 3);
    ASSERT_THAT(ends_, SizeIs(1));
    EXPECT_EQ(ends_[0].code(), saved.ok() ? absl::StatusCode::kCancelled
                                          : absl::StatusCode::kAborted);
    EXPECT_THAT(ends_[0].message(),
                HasSubstr(saved.ok() ? "SIGTERM; saved m/d at step 3"
                                     : "checkpoint is lost: full"));
  }
}

TEST_F(SavePolicyTest, WhatWasTrainedSinceASavesCutIsSavedBeforeAStop) {
  SavePolicy policy = Make();
  BeginAt(policy, 3);
  Do(policy.Stop(absl::CancelledError("SIGTERM"), "ps 1", view_, now_));
  view_.step = 4;
  Done(policy, absl::OkStatus(), 3);
  EXPECT_THAT(ends_, IsEmpty());
  EXPECT_TRUE(policy.Due(view_, now_));
}

TEST_F(SavePolicyTest, AStopDoesNotOutwaitItsDeadline) {
  SavePolicy policy = Make();
  Do(policy.Stop(absl::CancelledError("SIGTERM"), "ps 1", view_, now_));
  BeginAt(policy, 3);
  Late(policy, 3);
  now_ += absl::Seconds(19);
  Do(policy.Step(view_, now_));
  EXPECT_THAT(ends_, IsEmpty());
  now_ += absl::Seconds(1);
  Do(policy.Step(view_, now_));
  ASSERT_THAT(ends_, SizeIs(1));
  EXPECT_EQ(ends_[0].code(), absl::StatusCode::kAborted);
}

TEST_F(SavePolicyTest, WhereNothingCanBeSavedAStopIsTheEnd) {
  for (const JobPhase phase : {JobPhase::kGathering, JobPhase::kReporting}) {
    view_.phase = phase;
    ends_.clear();
    SavePolicy policy = Make();
    Do(policy.Stop(absl::CancelledError("SIGTERM"), "ps 1", view_, now_));
    EXPECT_THAT(ends_, ElementsAre(absl::CancelledError("SIGTERM")));
    EXPECT_EQ(policy.stop_deadline(), absl::InfiniteFuture());
  }
}

TEST_F(SavePolicyTest, AStopAfterALastSaveThatFailedEndsWithItsFailure) {
  for (const absl::Status& saved :
       {absl::OkStatus(), absl::UnavailableError("ps 0: gone")}) {
    view_ = {};
    view_.phase = JobPhase::kTraining;
    view_.trained = true;
    ends_.clear();
    SavePolicy policy = Make();
    ASSERT_TRUE(policy.EndDue(view_, now_));
    BeginAt(policy, 7);
    Done(policy, saved, 7);
    ASSERT_TRUE(policy.settled());
    view_.phase = JobPhase::kReporting;
    Do(policy.Stop(absl::CancelledError("SIGTERM"), "ps 1", view_, now_));
    EXPECT_THAT(
        ends_,
        ElementsAre(saved.ok() ? absl::CancelledError("SIGTERM")
                               : absl::AbortedError(
                                     "SIGTERM; everything was trained, but the "
                                     "last checkpoint was not saved: ps 0: "
                                     "gone")));
  }
}

// ---- Full disks

TEST_F(SavePolicyTest, TheLastSaveIsTriedAgainWhileTheDiskIsFull) {
  options_.retry_for = absl::Seconds(60);
  options_.retry_pause = absl::Seconds(2);
  SavePolicy policy = Make();
  view_.step = 7;
  view_.trained = true;
  ASSERT_TRUE(policy.EndDue(view_, now_));
  for (int i = 0; i < 29; ++i) {
    BeginAt(policy, 7);
    Done(policy, absl::ResourceExhaustedError("No space left"), 7);
    ASSERT_FALSE(policy.settled()) << i;
    EXPECT_THAT(logs_.back(),
                HasSubstr(absl::StrCat(
                    "tried again in 2s, and for another ",
                    absl::FormatDuration(absl::Seconds(60 - 2 * i)),
                    " at most")));
    EXPECT_FALSE(policy.EndDue(view_, now_));
    now_ += absl::Seconds(2);
    ASSERT_TRUE(policy.EndDue(view_, now_));
  }
  BeginAt(policy, 7);
  SavePolicy saved = policy;
  Done(saved, absl::OkStatus(), 7);
  EXPECT_TRUE(saved.settled());
  EXPECT_TRUE(saved.end_status().ok());
  Done(policy, absl::ResourceExhaustedError("No space left"), 7);
  EXPECT_TRUE(policy.settled()) << "58 s have passed, and 2 s are too late";
  EXPECT_EQ(policy.end_status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(SavePolicyTest, AStopTriesAgainUntilItsDeadline) {
  options_.retry_pause = absl::Seconds(8);
  SavePolicy policy = Make();
  Do(policy.Stop(absl::CancelledError("SIGTERM"), "ps 1", view_, now_));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(policy.Due(view_, now_));
    BeginAt(policy, 3);
    Done(policy, absl::ResourceExhaustedError("No space left"), 3);
    EXPECT_THAT(ends_, IsEmpty());
    EXPECT_FALSE(policy.Due(view_, now_));
    now_ += absl::Seconds(8);
  }
  ASSERT_TRUE(policy.Due(view_, now_));
  BeginAt(policy, 3);
  Done(policy, absl::ResourceExhaustedError("No space left"), 3);
  ASSERT_THAT(ends_, SizeIs(1));
  EXPECT_EQ(ends_[0].code(), absl::StatusCode::kAborted);
}

TEST_F(SavePolicyTest, ACheckpointOnTheWayIsNotTriedAgain) {
  options_.save_steps = 10;
  SavePolicy policy = Make();
  BeginAt(policy, 10);
  Done(policy, absl::ResourceExhaustedError("No space left"), 10);
  now_ += absl::Seconds(30);
  EXPECT_FALSE(policy.Due(view_, now_)) << "but at step 20";
  EXPECT_THAT(logs_, SizeIs(1));
}

// ---- What people read

TEST_F(SavePolicyTest, AVoidOneSaysWhichIsTheNewest) {
  auto manifest = std::make_shared<Manifest>();
  manifest->step = 2;
  options_.resume = manifest;
  options_.resume_name = "c2";
  SavePolicy policy = Make();
  EXPECT_EQ(policy.report().resumed_from, "m/c2");
  EXPECT_EQ(policy.report().resumed_step, 2u);
  BeginAt(policy, 3);
  Done(policy, absl::UnavailableError("full"));
  EXPECT_THAT(logs_.back(),
              HasSubstr("was not saved: full; the newest is m/c2"));
  BeginAt(policy, 4);
  Done(policy, absl::OkStatus(), 4);
  BeginAt(policy, 5);
  Done(policy, absl::UnavailableError("full"));
  EXPECT_THAT(logs_.back(), HasSubstr("the newest is m/d"));
  EXPECT_EQ(policy.report().saved, 1u);
  EXPECT_EQ(policy.report().voided, 2u);
  EXPECT_EQ(policy.report().all_seconds, 3);
}

// ---- The workers change

TEST_F(SavePolicyTest, ASaveThatWasInterruptedIsDueAgainAndAnswersLater) {
  SavePolicy policy = Make();
  Do(policy.Request(5, view_));
  BeginAt(policy, 10);
  Do(policy.Request(6, view_));
  view_.busy = false;
  Do(policy.OnInterrupted({absl::AbortedError("they changed"), "d", 10, true,
                           absl::Seconds(1), false, true}));
  EXPECT_THAT(replies_, IsEmpty());
  EXPECT_THAT(logs_, ElementsAre(HasSubstr("saved later: they changed")));
  EXPECT_EQ(policy.report().voided, 0);
  EXPECT_TRUE(policy.Due(view_, now_));
  BeginAt(policy, 12);
  Done(policy, absl::OkStatus(), 12);
  EXPECT_THAT(replies_, ElementsAre(Pair(5, absl::OkStatus()),
                                    Pair(6, absl::OkStatus())));
  EXPECT_FALSE(policy.Due(view_, now_));
}

TEST_F(SavePolicyTest, APeriodicSaveThatWasInterruptedIsDueAtOnce) {
  options_.save_steps = 10;
  SavePolicy policy = Make();
  view_.step = 10;
  ASSERT_TRUE(policy.Due(view_, now_));
  BeginAt(policy, 10);
  view_.busy = false;
  Do(policy.OnInterrupted({absl::AbortedError("they changed"), "d", 10}));
  EXPECT_TRUE(policy.Due(view_, now_));
  policy.Begin();
  Done(policy, absl::OkStatus(), 11);
  EXPECT_FALSE(policy.Due(view_, now_));
}

}  // namespace
}  // namespace shoal
