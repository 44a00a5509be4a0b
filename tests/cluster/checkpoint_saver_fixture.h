#ifndef SHOAL_TESTS_CLUSTER_CHECKPOINT_SAVER_FIXTURE_H_
#define SHOAL_TESTS_CLUSTER_CHECKPOINT_SAVER_FIXTURE_H_

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/checkpoint_saver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {

// Two PSs, lives 1.1 and 1.2, and two workers, 1.3 and 1.4.
class CheckpointSaverTest : public testing::Test {
 protected:
  CheckpointSaverTest() {
    for (int i = 0; i < 2; ++i) {
      ps_.push_back(MemberOf(Role::kPs, i, i + 1));
      workers_.push_back(MemberOf(Role::kWorker, i, i + 3));
    }
    step_ = 7;
  }

  static Member MemberOf(Role role, int index, uint32_t life) {
    Member member;
    member.role = role;
    member.index = index;
    member.life = {1, life};
    member.session = life;
    return member;
  }

  // Valid until the next one.
  CheckpointSaver::View View() {
    members_.clear();
    for (const Member& member : ps_) members_.push_back(&member);
    for (const Member& member : workers_) members_.push_back(&member);
    const auto members = absl::MakeConstSpan(members_);
    CheckpointSaver::View view;
    view.ps = MembersView(members.first(ps_.size()));
    view.workers = MembersView(members.subspan(ps_.size()));
    view.members = members_of_;
    view.step = step_;
    view.trained = trained_;
    view.half_marked = half_marked_;
    return view;
  }

  void Do(SaverActions actions) {
    for (SaverAction& action : actions) {
      if (auto* send = std::get_if<SaverSend>(&action)) {
        sent_.push_back(std::move(*send));
      } else if (auto* mend = std::get_if<SaverMend>(&action)) {
        mends_.push_back(*mend);
      } else if (auto* cut = std::get_if<SaverCut>(&action)) {
        cuts_.push_back(*cut);
      } else if (std::get_if<SaverReleased>(&action) != nullptr) {
        ++released_;
      } else if (auto* late = std::get_if<SaverLate>(&action)) {
        lates_.push_back(std::move(*late));
      } else if (auto* commit = std::get_if<SaverCommit>(&action)) {
        commits_.push_back(std::move(*commit));
      } else if (auto* done = std::get_if<SaverDone>(&action)) {
        done_.push_back(std::move(*done));
      }
    }
  }
  void Begin() { Do(saver_.Begin(View(), absl::InfiniteFuture(), now_)); }
  void Step() { Do(saver_.Step(View(), now_)); }

  // What was sent to a life since the last call for it.
  template <typename T>
  std::vector<T> Take(uint32_t life) {
    std::vector<T> found;
    for (auto it = sent_.begin(); it != sent_.end();) {
      const T* message = std::get_if<T>(&it->message);
      if (it->to.n != life || message == nullptr) {
        ++it;
        continue;
      }
      found.push_back(*message);
      it = sent_.erase(it);
    }
    return found;
  }
  // A worker or PS that was told to hold does.
  void HoldOne(const Member& member, MarkTotals marks = {7, 0, 42}) {
    const auto holds = Take<Hold>(member.life.n);
    ASSERT_THAT(holds, ::testing::SizeIs(1)) << member.Name();
    saver_.OnHeld(member, Held{holds[0].number, marks});
    Step();
  }
  void HoldAll(const std::vector<Member>& members) {
    for (const Member& member : members) HoldOne(member);
  }
  void WriteOne(const Member& ps) {
    const auto saves = Take<SaveShard>(ps.life.n);
    ASSERT_THAT(saves, ::testing::SizeIs(1)) << ps.Name();
    last_save_ = saves[0];
    saver_.OnWritten(ps, ShardWritten{last_save_.number});
    Step();
  }
  // A shard that was written is on the disk, or is not.
  void SyncOne(const Member& ps, absl::Status status = absl::OkStatus()) {
    ShardSaved saved{last_save_.number, status, ps.Name()};
    saver_.OnSaved(ps, saved);
    Step();
  }
  void SaveOne(const Member& ps) {
    WriteOne(ps);
    SyncOne(ps);
  }
  void SaveAll() {
    for (const Member& ps : ps_) SaveOne(ps);
  }
  // Until every shard is written.
  void BeginAndWriteAll() {
    Begin();
    HoldAll(workers_);
    HoldAll(ps_);
    for (const Member& ps : ps_) WriteOne(ps);
  }
  void ExpectVoid(absl::StatusCode code, const std::string& what) {
    ASSERT_THAT(done_, ::testing::SizeIs(1));
    EXPECT_EQ(done_[0].status.code(), code);
    EXPECT_THAT(std::string(done_[0].status.message()),
                ::testing::HasSubstr(what));
    EXPECT_FALSE(saver_.withholds());
    for (const Member& worker : workers_) {
      EXPECT_THAT(Take<Resume>(worker.life.n), ::testing::SizeIs(1))
          << worker.Name();
    }
    EXPECT_THAT(commits_, ::testing::IsEmpty());
  }

  PsMembers members_of_{.count = 2};
  absl::Time now_ = absl::UnixEpoch();
  CheckpointSaver saver_;
  std::vector<Member> ps_;
  std::vector<Member> workers_;
  std::vector<const Member*> members_;  // of View
  uint64_t step_;
  bool trained_ = false;
  std::vector<std::pair<uint32_t, uint32_t>> half_marked_;
  std::vector<SaverSend> sent_;
  std::vector<SaverMend> mends_;
  std::vector<SaverCut> cuts_;
  int released_ = 0;
  std::vector<SaverLate> lates_;
  std::vector<SaverCommit> commits_;
  std::vector<SaverDone> done_;
  SaveShard last_save_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_CLUSTER_CHECKPOINT_SAVER_FIXTURE_H_
