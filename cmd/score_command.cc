// shoal eval and shoal infer: score data by the model of a checkpoint, in this
// process.

#include <memory>

#include "base/file_system.h"
#include "base/logger.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "job/main_wait.h"
#include "job/options_from_flags.h"
#include "job/scored_checkpoint.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

int Score(Command command, const Args& args) {
  MainWait wait;
  JobFlags flags(command);
  FlagSet set = JobFlagSet(&flags);
  const auto take_checkpoint = [&] {
    Logger logger({"", flags.output.log_level});
    return TakeCheckpoint(*NewPosixFileSystem(), &logger, &flags, &set);
  };
  if (const auto exit = ParseJobOrExit(&flags, &set, args, take_checkpoint)) {
    return *exit;
  }
  const absl::StatusOr<JobPlan> plan = PlanJob(flags);
  if (!plan.ok()) return Complain(set.command(), plan.status(), kExitUsage);
  return RunInOneProcess(flags, *plan, &wait);
}

}  // namespace

int EvalCommand(const Args& args) { return Score(Command::kEval, args); }

int InferCommand(const Args& args) { return Score(Command::kInfer, args); }

}  // namespace shoal
