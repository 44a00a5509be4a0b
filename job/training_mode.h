#ifndef SHOAL_JOB_TRAINING_MODE_H_
#define SHOAL_JOB_TRAINING_MODE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/logger.h"
#include "core/collective.h"
#include "core/model_spec.h"
#include "core/rank_board.h"
#include "core/reduction.h"
#include "core/training_mode.h"
#include "worker/client/sharded_client.h"
#include "worker/train/gradient_exchange.h"
#include "worker/train/train_step.h"

namespace shoal {

struct CoordinatorOptions;
struct JobFlags;

// How the workers of a ring sum their gradients.
struct AllReduceSettings {
  Reduction reduction = Reduction::kFast;
  uint64_t bucket_bytes = 512 << 10;  // as RingRoundOptions
};

// What all exchanges of one worker are made of. It outlives the exchanges.
struct ExchangeSetup {
  Executor* strand = nullptr;  // the trainer's
  Logger* logger = nullptr;
  const ModelSpec* model = nullptr;  // the model's variables, without canaries
  bool clips = false;                // gradients are clipped (--clip_norm)
  AllReduceSettings ring;
  // In a ring whose ranks may change (RingExchangeOptions): what the replica
  // has, and the rank for people.
  bool renews = false;
  std::function<uint64_t()> marked;
  std::function<std::string(int rank)> rank_name;
  RankBoard* board = nullptr;  // may be nullptr
};

// What one exchange is made of.
struct ExchangeParts {
  ExchangeSetup setup;
  ShardedClient* shards = nullptr;  // outlives the exchange
  // This worker's end of the ring of all workers; nullptr in a mode without
  // one. Its executor is the strand.
  std::unique_ptr<Collective> collective;
  ExchangeStart start;
};

// Everything that a mode of training asks of the parts of a job. The one place
// that depends on the mode is the table in training_mode.cc; to add a mode, add
// a row there and its name in core/training_mode.h. A part of a job is given
// its row, or plain facts in its options, and never the mode: launch/ and this
// file alone may name TrainingMode (tools/tidy.py).
struct TrainingModeKind {
  TrainingMode mode;
  // Makes the exchange that takes the gradients of one worker life, or of one
  // generation of it.
  std::unique_ptr<GradientExchange> (*make_exchange)(ExchangeParts parts);
  // Fills in what the mode asks of the coordinator. REQUIRES: flags.Validate()
  // was OK.
  void (*compose)(const JobFlags& flags, CoordinatorOptions* options);
  // The loss whose gradient the exchange takes (LeaseTrainerOptions::loss).
  StepLoss loss = StepLoss::kMean;
  // True if the shards apply pushes step by step (PsLoopOptions::steps).
  bool steps = false;
  // True if the workers are a ring of ranks: each has a PS of its own with a
  // copy of variables, and a Collective (TrainingModeRow::copies).
  bool ring = false;
  // False if these copies are of all variables, and no server has any
  // (TrainingModeRow::servers).
  bool servers = true;
};

// The row of `mode`. Every mode has one.
const TrainingModeKind& KindOf(TrainingMode mode);
// The row of a job whose flags name no mode.
const TrainingModeKind& DefaultKind();

}  // namespace shoal

#endif  // SHOAL_JOB_TRAINING_MODE_H_
