#include "coordinator/job_saves.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// One PS (session 1) and two workers (sessions 2 and 3) train one piece of 20
// rows in batches of 10.
class JobSavesTest : public testing::Test {
 protected:
  JobSavesTest() : membership_(MembershipOptions{}) {
    options_.batch_size = 10;
    options_.checkpoints.save = true;
    options_.checkpoints.model_dir = "m";
    options_.checkpoints.map.num_shards = 1;
    Join(Role::kPs, 0);
    Join(Role::kWorker, 0);
    Join(Role::kWorker, 1);
    membership_.Begin();
    TrainingBookOptions book;
    book.batch_size = 10;
    book_ = TrainingBook(
        book, PieceFacts("training", {{"a", 100, 1}}, {{0, 0, 0, 100}}, 10));
    saves_.emplace(options_);
  }

  void Join(Role role, int index) {
    RegisterRequest request;
    request.role = role;
    request.index = index;
    if (role == Role::kPs) {
      request.address = "h:1";
    } else {
      request.train_sources = {{"a", 100, 1}};
    }
    const Life life = membership_.Register(request, now_).value();
    EXPECT_TRUE(membership_.Open(++sessions_, life, now_).ok());
  }
  const Member& Of(uint64_t session) const {
    return *membership_.FindSession(session);
  }

  JobSaves::View View() {
    JobSaves::View view{membership_, book_, desk_, phase_, now_, now_};
    if (steps_.has_value()) view.steps = &*steps_;
    return view;
  }
  // The workers are ranks whose lanes are open: their one piece is dealt.
  void BeginSteps() {
    TrainingBookOptions book;
    book.batch_size = 10;
    book.lanes.ranks = {{Of(2).life, 0}, {Of(3).life, 0}};
    book_ = TrainingBook(
        book, PieceFacts("training", {{"a", 100, 1}}, {{0, 0, 0, 100}}, 10));
    EXPECT_TRUE(book_.DealLanes(false).ok());
    steps_.emplace(std::vector<Life>{Of(2).life, Of(3).life}, 0);
  }
  // PS 0 has parked a push of the worker for step 1.
  void Park(uint64_t worker, uint32_t index) {
    const auto parked = steps_->OnParked(
        Of(1), {1, Of(worker).life, {{0, 0, index}, worker, 10, false}});
    EXPECT_TRUE(parked.ok()) << parked.status();
    for (CoordinatorAction& action :
         steps_->Step({membership_, book_.open_lanes()})) {
      sent_.push_back(std::get<SendAction>(action));
    }
    Step();
  }
  void Do(JobEffects effects) {
    for (CoordinatorAction& action : effects.actions) {
      if (auto* send = std::get_if<SendAction>(&action)) {
        sent_.push_back(std::move(*send));
      } else if (auto* commit = std::get_if<CommitAction>(&action)) {
        commits_.push_back(std::move(*commit));
      } else if (auto* reply = std::get_if<SaveReplyAction>(&action)) {
        replies_.push_back(reply->saved.status());
      }
    }
    released_ += effects.released;
    if (effects.end.has_value()) ends_.push_back(effects.end->status);
  }
  void Step() { Do(saves_->Step(View())); }
  // The sessions that were sent one of these, and the last of them.
  template <typename T>
  std::vector<uint64_t> To(T* last = nullptr) const {
    std::vector<uint64_t> sessions;
    for (const SendAction& send : sent_) {
      const T* message = std::get_if<T>(&send.message);
      if (message == nullptr) continue;
      sessions.push_back(send.session);
      if (last != nullptr) *last = *message;
    }
    return sessions;
  }
  // The workers and then the shard stand still.
  void HoldAll(uint64_t marks) {
    Hold hold;
    To(&hold);
    for (const uint64_t worker : {2, 3}) {
      saves_->OnHeld(Of(worker), {hold.number, {}});
    }
    Step();
    To(&hold);
    saves_->OnHeld(Of(1), {hold.number, {marks, 0, 5}});
    Step();
  }

  CoordinatorOptions options_;
  absl::Time now_ = absl::UnixEpoch();
  uint64_t sessions_ = 0;
  Membership membership_;
  TrainingBook book_;
  LeaseDesk desk_;
  JobPhase phase_ = JobPhase::kTraining;
  std::optional<JobSaves> saves_;
  std::optional<JobSteps> steps_;
  std::vector<SendAction> sent_;
  std::vector<CommitAction> commits_;
  std::vector<absl::Status> replies_;
  std::vector<absl::Status> ends_;
  int released_ = 0;
};

TEST_F(JobSavesTest, ARequestBecomesACheckpoint) {
  Step();
  EXPECT_THAT(sent_, IsEmpty()) << "nothing is due";
  Do(saves_->Request(1, View()));
  Step();
  EXPECT_THAT(To<Hold>(), ElementsAre(2, 3));
  EXPECT_TRUE(saves_->withholds());
  HoldAll(0);
  SaveShard save;
  EXPECT_THAT(To(&save), ElementsAre(1));
  saves_->OnWritten(Of(1), {save.number});
  Step();
  EXPECT_EQ(released_, 1);
  EXPECT_FALSE(saves_->withholds());
  ShardEntry entry;
  entry.marks_digest = 5;
  entry.file.file = ShardFileName(0, 1);
  ShardSaved saved{save.number, absl::OkStatus(), ShardEntryToText(entry)};
  saves_->OnSaved(Of(1), saved);
  Step();
  ASSERT_THAT(commits_, SizeIs(1));
  EXPECT_EQ(commits_[0].manifest.data.pieces.size(), 1u);
  saves_->OnCommitted(commits_[0].number, TextOf("manifest"));
  Step();
  EXPECT_THAT(replies_, ElementsAre(absl::OkStatus()));
  EXPECT_EQ(saves_->Answer({commits_[0].directory, 0}).text, "manifest");
  EXPECT_EQ(saves_->report().saved, 1u);
}

TEST_F(JobSavesTest, NothingIsSavedOutsideTraining) {
  Do(saves_->Request(1, View()));
  phase_ = JobPhase::kGathering;
  Step();
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(JobSavesTest, TheEndIsSettledByItsSave) {
  Do(saves_->SaveEnd(View()));
  EXPECT_THAT(To<Hold>(), ElementsAre(2, 3));
  EXPECT_FALSE(saves_->settled());
}

TEST_F(JobSavesTest, AJobThatEndsGivesUpWhatIsUnderWay) {
  Do(saves_->Request(1, View()));
  Step();
  Do(saves_->Request(2, View()));
  phase_ = JobPhase::kEnding;
  Do(saves_->End(View()));
  EXPECT_THAT(To<Resume>(), ElementsAre(2, 3));
  ASSERT_THAT(replies_, SizeIs(2));
  for (const absl::Status& reply : replies_) {
    EXPECT_THAT(reply.message(), HasSubstr("the job is ending"));
  }
  EXPECT_THAT(ends_, IsEmpty());
}

TEST_F(JobSavesTest, AStopEndsTheJobOnceItIsVoidOrSaved) {
  Do(saves_->Stop(absl::CancelledError("SIGTERM"), "ps 1", View()));
  Step();
  EXPECT_THAT(To<Hold>(), SizeIs(2));
  now_ += options_.checkpoints.stop_deadline;
  Step();
  ASSERT_THAT(ends_, SizeIs(1));
  EXPECT_EQ(ends_[0].code(), absl::StatusCode::kAborted);
}

// ---- Steps of all workers

TEST_F(JobSavesTest, WorkersAreHeldOnceTheirStepIsClosed) {
  BeginSteps();
  Do(saves_->Request(1, View()));
  Step();
  EXPECT_THAT(To<Hold>(), IsEmpty());
  EXPECT_FALSE(saves_->withholds()) << "a worker may need a lease for its step";
  Park(2, 0);
  EXPECT_THAT(To<Hold>(), IsEmpty());
  Park(3, 1);
  StepClosed closed;
  EXPECT_THAT(To<StepClosed>(&closed), ElementsAre(1));
  EXPECT_TRUE(closed.hold);
  EXPECT_THAT(To<Hold>(), ElementsAre(2, 3));
  EXPECT_TRUE(saves_->withholds());
  EXPECT_THAT(To<StepsReleased>(), IsEmpty());
  Do(saves_->End(View()));
  EXPECT_THAT(To<StepsReleased>(), ElementsAre(1));
  EXPECT_EQ(released_, 1);
}

TEST_F(JobSavesTest, WhereNoLaneIsOpenWorkersAreHeldAtOnce) {
  BeginSteps();
  for (const uint64_t worker : {2, 3}) {
    const Life life = Of(worker).life;
    ASSERT_TRUE(book_.leases().Take(life, 0, worker, now_).has_value());
    book_.leases().Done(worker, life, now_);
  }
  Do(saves_->Request(1, View()));
  Step();
  EXPECT_THAT(To<Hold>(), ElementsAre(2, 3));
}

TEST_F(JobSavesTest, AStepThatIsNotClosedInTimeVoidsTheSave) {
  BeginSteps();
  Park(2, 0);
  Do(saves_->Request(1, View()));
  Step();
  now_ += options_.checkpoints.deadline;
  Step();
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_THAT(std::string(replies_[0].message()),
              HasSubstr("waiting for the workers to end their common step"));
  EXPECT_THAT(To<Hold>(), IsEmpty());
  EXPECT_EQ(released_, 1);
  Park(3, 1);
  StepClosed closed;
  EXPECT_THAT(To<StepClosed>(&closed), ElementsAre(1));
  EXPECT_FALSE(closed.hold) << "the steps go on";
}

}  // namespace
}  // namespace shoal
