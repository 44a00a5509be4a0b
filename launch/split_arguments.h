#ifndef SHOAL_LAUNCH_SPLIT_ARGUMENTS_H_
#define SHOAL_LAUNCH_SPLIT_ARGUMENTS_H_

#include <string>
#include <vector>

#include "launch/flag_set.h"

namespace shoal {

// The arguments of a command that takes the flags of a job beside its own.
struct SplitArguments {
  std::vector<std::string> own;
  std::vector<std::string> job;
};

// Those of flags that the set has, with --help and -h, and the rest, each in
// the order in which they were typed. An argument without -- goes where the
// flag before it went, since it may be its value; without such a flag it is the
// command's. Pure.
SplitArguments SplitByFlagSet(const FlagSet& own,
                              const std::vector<std::string>& args);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_SPLIT_ARGUMENTS_H_
