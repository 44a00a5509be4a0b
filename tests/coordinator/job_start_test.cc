#include "coordinator/job_start.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"
#include "tests/coordinator/sent_to.h"

namespace shoal {
namespace {

using ::testing::EndsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Two PSs (sessions 1 and 2) and a worker (session 3). The file "a" is one
// piece, of 20 rows in batches of 10.
class JobStartTest : public testing::Test {
 protected:
  JobStartTest() : membership_(MembershipOptions{.ps = {.count = 2}}) {
    options_.ps.count = 2;
    options_.batch_size = 10;
    files_.files = {{"a", 100, 1}};
    TrainingBookOptions book;
    book.num_members = 2;
    book.batch_size = 10;
    book_ = TrainingBook(
        book, PieceFacts("training", files_.files, {{0, 0, 0, 100}}, 10));
  }

  // The job begins with a checkpoint of one batch.
  void Resume() {
    auto manifest = std::make_shared<Manifest>();
    manifest->step = 1;
    manifest->data.sources = files_.files;
    manifest->data.pieces = {{0, 0, 100, SavedPieceFacts{20, 0, 2}}};
    options_.checkpoints.model_dir = "m";
    options_.checkpoints.resume = std::move(manifest);
    options_.checkpoints.resume_name = "ckpt-1";
    options_.checkpoints.resume_text = TextOf("{}");
  }
  void JoinAll() {
    for (int i = 0; i < 2; ++i) {
      ps_.push_back(
          Join(Role::kPs, i, static_cast<uint64_t>(i) + 1, &membership_));
    }
    worker_ = Join(Role::kWorker, 0, 3, &membership_);
  }
  JobStart::View View() const { return {membership_, phase_}; }

  CoordinatorOptions options_;
  FileList files_;
  TrainingBook book_;
  Membership membership_;
  JobPhase phase_ = JobPhase::kGathering;
  std::vector<Member> ps_;
  Member worker_;
  const MarkTotals totals_ = {1, 0, 5};
  const MarkRuns runs_ = {0, {{0, 0, 0, 1, Verdict::kApplied}}, false};
};

TEST_F(JobStartTest, ServersOfANewJobHaveTheInitialValues) {
  JobStart start(options_);
  EXPECT_FALSE(start.goes_on());
  RegisterReply reply;
  start.Direct(&reply);
  EXPECT_TRUE(reply.initialise);
  EXPECT_FALSE(reply.load.has_value());
  JoinAll();
  EXPECT_THAT(start.OnOpen(ps_[0], View()), IsEmpty());
  EXPECT_FALSE(start.AllPs(membership_));
  EXPECT_THAT(start.OnOpen(worker_, View()), IsEmpty());
  EXPECT_THAT(SentTo<ClusterView>(start.OnOpen(ps_[1], View())),
              ElementsAre(1, 2, 3));
  EXPECT_TRUE(start.AllPs(membership_));
}

TEST_F(JobStartTest, AWorkerThatComesLaterIsToldTheServers) {
  JobStart start(options_);
  JoinAll();
  start.OnOpen(ps_[0], View());
  start.OnOpen(ps_[1], View());
  EXPECT_THAT(SentTo<ClusterView>(start.OnOpen(worker_, View())),
              ElementsAre(3));
}

TEST_F(JobStartTest, TheViewOfARingHasAllRanksAndGoesToAllAtOnce) {
  options_.ring = true;
  options_.num_workers = 2;
  JobStart start(options_);
  JoinAll();
  start.OnOpen(ps_[0], View());
  EXPECT_THAT(start.OnOpen(ps_[1], View()), IsEmpty());
  EXPECT_THAT(start.OnOpen(worker_, View()), IsEmpty());
  const Member second = Join(Role::kWorker, 1, 4, &membership_);
  const CoordinatorActions actions = start.OnOpen(second, View());
  EXPECT_THAT(SentTo<ClusterView>(actions), ElementsAre(1, 2, 3, 4));
  for (const CoordinatorAction& action : actions) {
    const auto& view =
        std::get<ClusterView>(std::get<SendAction>(action).message);
    ASSERT_THAT(view.ranks, SizeIs(2));
    EXPECT_EQ(view.ranks[0].ring_address, "h0:7");
    EXPECT_EQ(view.ranks[0].life, worker_.life);
    EXPECT_EQ(view.ranks[1].ring_address, "h1:7");
    EXPECT_EQ(view.ranks[1].life, second.life);
  }
}

TEST_F(JobStartTest, ARingIsNotThereBeforeTheLastServerHasItsState) {
  Resume();
  options_.ring = true;
  JobStart start(options_);
  JoinAll();
  for (const Member& ps : ps_) start.OnOpen(ps, View());
  EXPECT_THAT(start.OnOpen(worker_, View()), IsEmpty());
  ASSERT_TRUE(start.OnLoaded(ps_[0], {totals_}, View()).ok());
  ASSERT_TRUE(start.OnLoaded(ps_[1], {totals_}, View()).ok());
  const auto marks = start.OnMarks(ps_[0], runs_, View());
  ASSERT_TRUE(marks.ok()) << marks.status();
  EXPECT_THAT(SentTo<ClusterView>(marks->actions), ElementsAre(1, 2, 3));
}

TEST_F(JobStartTest, AServerThatGoesTakesItsStateWithIt) {
  JobStart start(options_);
  JoinAll();
  start.OnOpen(ps_[0], View());
  start.OnOpen(ps_[1], View());
  membership_.Remove(ps_[1].life);
  EXPECT_THAT(start.OnGone(ps_[1], View()), IsEmpty());
  EXPECT_FALSE(start.AllPs(membership_));
  EXPECT_FALSE(start.loaded().has(1));
}

TEST_F(JobStartTest, NoServerLoadsACheckpointUnasked) {
  JobStart start(options_);
  JoinAll();
  EXPECT_TRUE(
      absl::IsInvalidArgument(start.OnLoaded(ps_[0], {}, View()).status()));
}

TEST_F(JobStartTest, WeightsAloneNeedNoMarks) {
  Resume();
  options_.checkpoints.resume_training = false;
  JobStart start(options_);
  EXPECT_FALSE(start.goes_on());
  RegisterReply reply;
  start.Direct(&reply);
  EXPECT_FALSE(reply.initialise);
  ASSERT_TRUE(reply.load.has_value());
  EXPECT_EQ(reply.load->directory, "ckpt-1");
  JoinAll();
  EXPECT_THAT(start.OnLoaded(ps_[0], {totals_}, View())->actions, IsEmpty());
  const auto last = start.OnLoaded(ps_[1], {totals_}, View());
  EXPECT_THAT(SentTo<ClusterView>(last->actions), ElementsAre(1, 2, 3));
}

TEST_F(JobStartTest, TheFirstServerIsAskedForTheMarks) {
  Resume();
  JobStart start(options_);
  EXPECT_TRUE(start.goes_on());
  JoinAll();
  const auto first = start.OnLoaded(ps_[1], {totals_}, View());
  EXPECT_THAT(SentTo<MarkRunsRequest>(first->actions), ElementsAre(2));
  EXPECT_THAT(start.OnLoaded(ps_[0], {totals_}, View())->actions, IsEmpty());
  const auto told = start.OnMarks(ps_[1], runs_, View());
  EXPECT_THAT(SentTo<ClusterView>(told->actions), ElementsAre(1, 2, 3));
  EXPECT_TRUE(start.AllPs(membership_));
}

TEST_F(JobStartTest, AnotherServerIsAskedWhereTheFirstGoes) {
  Resume();
  JobStart start(options_);
  JoinAll();
  EXPECT_TRUE(start.OnLoaded(ps_[0], {totals_}, View()).ok());
  EXPECT_TRUE(start.OnLoaded(ps_[1], {totals_}, View()).ok());
  membership_.Remove(ps_[0].life);
  EXPECT_THAT(SentTo<MarkRunsRequest>(start.OnGone(ps_[0], View())),
              ElementsAre(2));
  // Once the job is past gathering, no marks are asked for.
  phase_ = JobPhase::kTraining;
  membership_.Remove(ps_[1].life);
  EXPECT_THAT(start.OnGone(ps_[1], View()), IsEmpty());
  EXPECT_THAT(start.OnMarks(ps_[1], runs_, View())->actions, IsEmpty());
}

TEST_F(JobStartTest, ShardsOfTwoStatesEndTheJob) {
  Resume();
  JobStart start(options_);
  JoinAll();
  EXPECT_TRUE(start.OnLoaded(ps_[0], {totals_}, View()).ok());
  const auto other = start.OnLoaded(ps_[1], {{2, 0, 6}}, View());
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(other->end.has_value());
  EXPECT_TRUE(absl::IsDataLoss(other->end->status));
}

TEST_F(JobStartTest, MarksThatNoServerWasAskedForBreakTheProtocol) {
  Resume();
  JobStart start(options_);
  JoinAll();
  EXPECT_TRUE(
      absl::IsInvalidArgument(start.OnMarks(ps_[0], runs_, View()).status()));
}

TEST_F(JobStartTest, TheBookIsRestoredToTheCheckpoint) {
  Resume();
  JobStart start(options_);
  JoinAll();
  for (const Member& ps : ps_) {
    EXPECT_TRUE(start.OnLoaded(ps, {totals_}, View()).ok());
  }
  EXPECT_TRUE(start.OnMarks(ps_[0], runs_, View()).ok());
  ASSERT_EQ(start.StartRestoring(files_, &book_), absl::OkStatus());
  CoordinatorActions actions;
  const auto done = start.Restore(&book_, &actions);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_TRUE(*done);
  EXPECT_EQ(book_.totals().batches, 1u);
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(std::get<LogAction>(actions[0]).line,
            "resumed from m/ckpt-1, step 1, epoch 1 of 1, 10 samples trained");
}

TEST_F(JobStartTest, TheLogNamesBothModesIfTheyDiffer) {
  Resume();
  auto manifest = std::make_shared<Manifest>(*options_.checkpoints.resume);
  manifest->config = "batch_size=9\nmode=async\n";
  options_.checkpoints.resume = std::move(manifest);
  options_.config = "batch_size=9\nmode=ring\n";
  JobStart start(options_);
  JoinAll();
  for (const Member& ps : ps_) {
    EXPECT_TRUE(start.OnLoaded(ps, {totals_}, View()).ok());
  }
  EXPECT_TRUE(start.OnMarks(ps_[0], runs_, View()).ok());
  ASSERT_EQ(start.StartRestoring(files_, &book_), absl::OkStatus());
  CoordinatorActions actions;
  ASSERT_TRUE(start.Restore(&book_, &actions).ok());
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_THAT(std::get<LogAction>(actions[0]).line,
              EndsWith("10 samples trained with --mode=async, and the job "
                       "goes on with --mode=ring"));
}

TEST_F(JobStartTest, OneContinueIsAskedForAtATime) {
  // More runs than one event restores, each of one batch of one piece.
  constexpr uint32_t kRuns = 300'000;
  Resume();
  auto manifest = std::make_shared<Manifest>(*options_.checkpoints.resume);
  manifest->step = kRuns;
  std::vector<Piece> pieces;
  manifest->data.pieces.clear();
  files_.files = {{"a", kRuns, 1}};
  manifest->data.sources = files_.files;
  for (uint32_t i = 0; i < kRuns; ++i) {
    pieces.push_back({i, 0, i, i + 1});
    manifest->data.pieces.push_back({0, i, i + 1, {}});
  }
  options_.checkpoints.resume = manifest;
  TrainingBookOptions book;
  book.num_members = 2;
  book.batch_size = 10;
  book_ = TrainingBook(
      book, PieceFacts("training", files_.files, std::move(pieces), 10));
  JobStart start(options_);
  JoinAll();
  for (const Member& ps : ps_) {
    EXPECT_TRUE(start.OnLoaded(ps, {{kRuns, 0, 5}}, View()).ok());
  }
  for (uint32_t at = 0; at < kRuns;) {
    MarkRuns part;
    part.offset = at;
    for (; at < kRuns && part.runs.size() < kRunsPerMessage; ++at) {
      part.runs.push_back({0, at, 0, 1, Verdict::kApplied});
    }
    part.more = at < kRuns;
    ASSERT_TRUE(start.OnMarks(ps_[0], std::move(part), View()).ok());
  }
  ASSERT_EQ(start.StartRestoring(files_, &book_), absl::OkStatus());
  CoordinatorActions actions;
  EXPECT_FALSE(*start.Restore(&book_, &actions));
  EXPECT_FALSE(*start.Restore(&book_, &actions));
  ASSERT_THAT(actions, SizeIs(1)) << "the first has no answer yet";
  EXPECT_TRUE(std::holds_alternative<ContinueAction>(actions[0]));
  start.OnContinue();
  EXPECT_FALSE(*start.Restore(&book_, &actions));
  EXPECT_THAT(actions, SizeIs(2));
}

TEST_F(JobStartTest, OtherDataThanTheCheckpointsIsRefused) {
  Resume();
  JobStart start(options_);
  JoinAll();
  for (const Member& ps : ps_) {
    EXPECT_TRUE(start.OnLoaded(ps, {totals_}, View()).ok());
  }
  EXPECT_TRUE(start.OnMarks(ps_[0], runs_, View()).ok());
  files_.files[0].size = 200;
  const absl::Status status = start.StartRestoring(files_, &book_);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("a"));
}

}  // namespace
}  // namespace shoal
