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
};

// The command as it is typed: "shoal train", "shoal-ps", …
std::string CommandName(Command command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_COMMAND_H_
