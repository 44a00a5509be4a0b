#ifndef SHOAL_TESTS_CLUSTER_COORDINATOR_STATE_SAVE_FIXTURE_H_
#define SHOAL_TESTS_CLUSTER_COORDINATOR_STATE_SAVE_FIXTURE_H_

#include <string>
#include <vector>

#include "checkpoint/manifest_parts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cluster/coordinator_state_fixture.h"

namespace shoal {

// A job that saves checkpoints, whose processes do what a save wants of them.
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

  // The newest of these messages to a session; fails if there is none since.
  template <typename T>
  T Newest(uint64_t session) {
    const auto all = Heard<T>(session);
    EXPECT_THAT(all, ::testing::Not(::testing::IsEmpty())) << session;
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
  void WriteShards() {
    for (const uint64_t ps : {1, 2}) {
      Tell(ps, ShardSaved{Newest<SaveShard>(ps).number, absl::OkStatus(),
                          Entry(static_cast<int>(ps) - 1)});
    }
  }
  std::string Entry(int shard) {
    ShardEntry entry;
    entry.shard = shard;
    entry.marks = Marks();
    entry.marks_digest = 5;
    entry.file.file = ShardFileName(shard, 2);
    return ShardEntryToText(entry);
  }
  void CommitIt() {
    ASSERT_THAT(commits_, ::testing::SizeIs(1));
    const uint64_t number = commits_[0].number;
    manifests_.push_back(commits_[0].manifest);
    commits_.clear();
    Do(state_->OnCommitted(number, TextOf("manifest"), now_));
  }
  void SaveAll() {
    HoldWorkers({3, 4});
    HoldShards();
    WriteShards();
    CommitIt();
  }
};

}  // namespace shoal

#endif  // SHOAL_TESTS_CLUSTER_COORDINATOR_STATE_SAVE_FIXTURE_H_
