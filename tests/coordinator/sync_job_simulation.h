#ifndef SHOAL_TESTS_COORDINATOR_SYNC_JOB_SIMULATION_H_
#define SHOAL_TESTS_COORDINATOR_SYNC_JOB_SIMULATION_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/coordinator_state.h"

namespace shoal {

// A whole job of --mode=sync around a real CoordinatorState: ranks that lease,
// pull, compute and push, shards that park pushes and apply closed steps, and
// checkpoints that are asked for at any time. All messages are late by random
// times; those of a session are in order, and calls of shards are not. One
// thread, and a pure function of two seeds.
class SyncJobSimulation {
 public:
  // `shape` decides on the ranks, shards, files, epochs and backup workers;
  // `delays` decides on everything that time decides. `backup`: false for a job
  // without backup workers.
  SyncJobSimulation(uint64_t shape, uint64_t delays, bool backup);

  // Runs the job to its end. Returns the first promise that is broken, or "".
  std::string Run();
  // The batches of each step, in the order of steps.
  const std::vector<std::vector<BatchId>>& steps() const { return steps_; }
  uint64_t dropped() const { return dropped_; }  // batches, by each drop
  int saves() const { return saves_; }           // that made a checkpoint

 private:
  struct File {
    uint32_t batches = 0;
    uint64_t examples = 0;
  };
  struct Push {
    uint64_t step = 0;
    PushedBatch batch;
  };
  enum class Answered { kDone, kDropped, kRefused };
  // idle --the next batch of a lease--> busy --all answers--> idle
  // busy --all shards refuse--> keeps --resumed, or a pause--> busy
  enum class RankState { kIdle, kBusy, kKeeps };
  struct Rank {
    RankState state = RankState::kIdle;
    Life life;
    std::deque<Lease> leases;  // the first is under way
    uint32_t next = 0;         // batch of the first lease
    bool reported = false;     // PieceReport of the first lease
    int asked = 0;             // requests without an answer
    std::optional<uint64_t> hold;
    bool said_held = false;
    Push push;
    int replies = 0;     // to its pull
    uint64_t least = 0;  // count in them
    int answers = 0;     // to its push
    int drops = 0;
    std::set<size_t> refused;  // by these shards
  };
  struct Shard {
    uint64_t count = 0;
    uint64_t newest = 0;  // step that it knows to be closed
    bool hold = false;    // `newest` was closed with a hold, not released yet
    bool sealed = false;
    std::map<uint64_t, StepClosed> closed;
    std::map<size_t, Push> parked;  // by rank
    std::map<BatchId, bool> marks;  // rejected
  };

  uint64_t Draw(uint64_t below) { return random_() % below; }
  absl::Time Now() const;
  void After(uint64_t most, std::function<void()> task);
  // As After, in order with the other messages of `channel`.
  void Send(const std::string& channel, std::function<void()> task);
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  // The coordinator. Sessions are those of the PSs and then the ranks, from 1.
  uint64_t SessionOf(size_t rank) const { return shards_.size() + rank + 1; }
  void Join(Role role, int index, uint64_t session);
  void Tell(uint64_t session, ProcessMessage message);
  void Do(CoordinatorActions actions);
  void Tick();
  void Deliver(uint64_t session, CoordinatorMessage message);
  std::string CheckEnd();

  // Ranks.
  void ToRank(size_t rank, const CoordinatorMessage& message);
  void Advance(size_t rank);
  void Ask(size_t rank);
  void ReportPiece(size_t rank);
  // Begins the step of the next batch of the first lease; false if it has none.
  bool BeginStep(size_t rank);
  void OnReply(size_t rank, size_t shard);
  void PushStep(size_t rank, uint64_t compute);
  void OnAnswer(size_t shard, size_t rank, Answered answer);
  void PushAgain(size_t shard, size_t rank);
  void Keep(size_t rank);

  // Shards.
  void ToShard(size_t shard, const CoordinatorMessage& message);
  void OnPush(size_t shard, size_t rank, const Push& push);
  void TakeOut(size_t shard, size_t rank, uint64_t step);
  void OnClosed(size_t shard, const StepClosed& closed);
  void Apply(size_t shard);
  void ApplyStep(size_t shard, const StepClosed& closed);
  size_t RankOf(const PushedBatch& batch) const;
  void Answer(size_t shard, size_t rank, Answered answer);
  void SayHeld(size_t shard, uint64_t number);
  void Save(size_t shard, const SaveShard& save);

  std::mt19937_64 random_;
  uint64_t now_ = 0;
  std::multimap<uint64_t, std::function<void()>> tasks_;
  std::map<std::string, uint64_t> channels_;  // time of the newest message
  CoordinatorOptions options_;
  std::optional<CoordinatorState> state_;
  std::vector<File> files_;
  std::vector<SourceInfo> sources_;
  std::vector<Rank> ranks_;
  std::vector<Shard> shards_;
  std::map<uint64_t, size_t> rank_of_lease_;
  std::vector<std::vector<BatchId>> steps_;
  uint64_t dropped_ = 0;
  int saves_ = 0;
  bool finished_ = false;
  std::string failure_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_COORDINATOR_SYNC_JOB_SIMULATION_H_
