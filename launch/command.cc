#include "launch/command.h"

namespace shoal {

std::string CommandName(Command command) {
  switch (command) {
    case Command::kTrain:
      return "shoal train";
    case Command::kRun:
      return "shoal run";
    case Command::kPs:
      return "shoal-ps";
    case Command::kWorker:
      return "shoal-worker";
    case Command::kEval:
      return "shoal eval";
    case Command::kInfer:
      return "shoal infer";
  }
  return "shoal";
}

}  // namespace shoal
