#ifndef SHOAL_TESTS_CLUSTER_STEP_SIMULATION_H_
#define SHOAL_TESTS_CLUSTER_STEP_SIMULATION_H_

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

#include "cluster/lane_table.h"
#include "cluster/step_closer.h"

namespace shoal {

// Bugs that the simulation must find.
enum class StepBug {
  kNone,
  kEachShardCloses,  // by what it has itself
  kHoldByTime,  // each rank stops when it hears of the hold
  kPushesDuringHold,  // shards park pushes after the last step before a hold
  kDropForgotten,  // a lane's end is taken for the end of its batches
  kDealByArrival,  // a rank that asks gets the next lease of any lane
};

// A job of --mode=sync in which all messages are late by random times: ranks
// that lease, pull, compute and push, shards that park pushes and apply closed
// steps, and the LaneTable and the StepCloser between them. Pushes are taken
// out and parked anew, holds are asked for, ranks keep the steps that shards
// refuse during a hold, and batches that were dropped are dealt again until
// none is left. One thread, and a pure function of two seeds.
class StepSimulation {
 public:
  // `shape` decides on the ranks, shards, batches and backup workers; `delays`
  // decides on everything that time decides. `backup`: false for a job without
  // backup workers.
  StepSimulation(uint64_t shape, uint64_t delays, StepBug bug,
                 bool backup = true);

  // Runs the job to its end. Returns the first promise that is broken, or "".
  std::string Run();
  // The batches of each step. Without backup workers they do not depend on
  // `delays`.
  const std::map<uint64_t, std::vector<StepBatch>>& steps() const {
    return steps_;
  }
  uint64_t dropped() const { return answered_.size(); }
  int holds() const { return holds_; }

 private:
  struct Push {
    uint64_t step = 0;
    BatchId batch;
  };
  struct Rank {
    std::deque<BatchId> lane;  // batches of its lease
    uint64_t lease = 0;        // 0: none
    bool ended = false;  // its lane, as the coordinator knows it
    bool idle = false;   // held, or at the end of its lane
    bool told = false;   // to stand still
    bool keeps = false;  // its step, which all shards refused during a hold
    int replies = 0;     // to its pull
    int answers = 0;     // to its push
    int drops = 0;       // among the answers
    std::set<size_t> refused;  // by these shards
    uint64_t least = 0;  // count in the replies to its pull
    Push push;
  };
  struct Shard {
    uint64_t count = 0;
    uint64_t newest = 0;  // step that it knows to be closed
    bool hold = false;    // `newest` was closed with a hold, not released yet
    std::map<uint64_t, CloseStep> closed;
    std::map<int, Push> parked;  // by rank
    std::set<BatchId> marks;
  };

  enum class Answered { kDone, kDropped, kRefused };

  uint64_t Draw(uint64_t below) { return random_() % below; }
  void After(uint64_t most, std::function<void()> task);
  // As After, in order with the other messages of `channel`.
  void Send(const std::string& channel, std::function<void()> task);
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  StepCloser& CloserOf(size_t shard) {
    return closers_[bug_ == StepBug::kEachShardCloses ? shard : 0];
  }

  // Ranks.
  void Begin(int rank);
  // `lease` 0: there is none for the rank.
  void OnLease(int rank, uint64_t lease, const std::vector<BatchId>& batches);
  void OnReply(int rank, size_t shard);
  void PushStep(int rank, uint64_t compute);
  void OnAnswer(size_t shard, int rank, Answered answer);
  void PushAgain(size_t shard, int rank);
  void StandStill(int rank);
  void Resume(int rank);
  // Shards.
  void OnPush(size_t shard, int rank, Push push);
  void TakeOut(size_t shard, int rank, Push push);
  void OnClose(size_t shard, const CloseStep& close);
  void Apply(size_t shard);
  void RefuseParked(size_t shard);
  void Answer(size_t shard, int rank, Answered answer);
  // The coordinator.
  void Deal();
  void OnRequest(int rank, uint64_t done);
  std::optional<HeldLease> Take(int rank);
  std::vector<BatchId> BatchesOf(const HeldLease& held) const;
  std::vector<PieceTrained> Trained() const;
  void ReportParked(size_t shard, int rank, Push push);
  void ReportTakenOut(size_t shard, int rank, Push push);
  void StepClosers();
  void Do(size_t closer, const CloserAction& action);
  void AskForHold();
  void TellToStand();
  void CheckHeld();
  void EndHold();
  bool Left() const;

  const StepBug bug_;
  std::mt19937_64 random_;
  uint64_t now_ = 0;
  std::multimap<uint64_t, std::function<void()>> tasks_;
  std::map<std::string, uint64_t> channels_;  // time of the newest message
  std::optional<LaneTable> table_;
  uint64_t leases_ = 0;  // that were asked for
  std::vector<StepCloser> closers_;
  std::vector<Rank> ranks_;
  std::vector<Shard> shards_;
  std::vector<BatchId> all_;
  std::vector<uint32_t> pieces_;  // their batches
  std::map<uint64_t, std::vector<StepBatch>> steps_;  // as they were closed
  std::set<std::pair<uint64_t, BatchId>> reported_;  // StepDropped
  std::set<std::pair<uint64_t, BatchId>> answered_;  // `dropped`
  bool holding_ = false;
  bool held_ = false;  // StepHeld was returned
  int holds_ = 0;
  std::string failure_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_CLUSTER_STEP_SIMULATION_H_
