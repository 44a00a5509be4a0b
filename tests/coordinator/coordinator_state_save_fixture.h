#ifndef SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_SAVE_FIXTURE_H_
#define SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_SAVE_FIXTURE_H_

#include <string>
#include <utility>
#include <vector>

#include "checkpoint/manifest_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_fixture.h"

namespace shoal {

// A job that saves into the model directory "m", at its end alone.
class CoordinatorStateSaveTest : public CoordinatorStateTest {
 protected:
  CoordinatorStateSaveTest() {
    options_.checkpoints.save = true;
    options_.checkpoints.model_dir = "m";
    // The manifest's parts are checkpoint/'s own tests' business.
    options_.checkpoints.map.num_shards = 2;
    Restart();
  }

  uint64_t Marks() { return state_->Report(now_).batches; }

  // The newest of these messages to a session; fails if none has come since.
  template <typename T>
  T Newest(uint64_t session) {
    const auto all = Heard<T>(session);
    EXPECT_FALSE(all.empty()) << session;
    return all.empty() ? T{} : all.back();
  }
  // The live ones of these sessions do what a save wants of them.
  void HoldWorkers(const std::vector<uint64_t>& sessions) {
    for (const uint64_t session : sessions) {
      Tell(session, Held{Newest<Hold>(session).number, {}});
    }
  }
  void HoldShards() {
    for (const uint64_t ps : {1, 2}) {
      Tell(ps, Held{Newest<Hold>(ps).number, {Marks(), 0, 5}});
    }
  }
  // The shards are written: their bytes are on their way to the disk.
  void WriteShards() {
    cut_marks_ = Marks();
    for (const uint64_t ps : {1, 2}) {
      Tell(ps, ShardWritten{Newest<SaveShard>(ps).number});
    }
  }
  void SyncShard(uint64_t ps) {
    Tell(ps, ShardSaved{Newest<SaveShard>(ps).number, absl::OkStatus(),
                        Entry(static_cast<int>(ps) - 1)});
  }
  void SyncShards() {
    for (const uint64_t ps : {1, 2}) SyncShard(ps);
  }
  std::string Entry(int shard) {
    ShardEntry entry;
    entry.shard = shard;
    entry.marks = cut_marks_;
    entry.marks_digest = 5;
    entry.file.file = ShardFileName(shard, 2);
    return ShardEntryToText(entry);
  }
  void CommitIt() {
    ASSERT_EQ(commits_.size(), 1u);
    const uint64_t number = commits_[0].number;
    manifests_.push_back(commits_[0].manifest);
    commits_.clear();
    Do(state_->OnCommitted(number, TextOf("manifest"), now_));
  }
  void SaveAll() {
    HoldWorkers({3, 4});
    HoldShards();
    WriteShards();
    SyncShards();
    CommitIt();
  }

  uint64_t cut_marks_ = 0;  // of the newest WriteShards
};

}  // namespace shoal

#endif  // SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_SAVE_FIXTURE_H_
