#ifndef SHOAL_LAUNCH_COMMAND_H_
#define SHOAL_LAUNCH_COMMAND_H_

#include <string>

namespace shoal {

// The commands that run a job or a part of one.
enum class Command : unsigned {
  kTrain = 1,   // shoal train: a whole job in one process
  kRun = 2,     // shoal run: a whole job of processes on this host
  kPs = 4,      // shoal-ps
  kWorker = 8,  // shoal-worker
  kEval = 16,   // shoal eval: scores data by a checkpoint, in one process
  kInfer = 32,  // shoal infer: predicts by a checkpoint, in one process
};

// True for the commands that only score: they take their model, with its flags,
// from a checkpoint (launch/scoring_flags.h) and write nothing beside it.
constexpr bool OnlyScores(Command command) {
  return command == Command::kEval || command == Command::kInfer;
}

// True for the commands whose whole job is one process.
constexpr bool IsOneProcess(Command command) {
  return command == Command::kTrain || OnlyScores(command);
}

// The command as it is typed: "shoal train", "shoal-ps", …
std::string CommandName(Command command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_COMMAND_H_
