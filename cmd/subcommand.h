#ifndef SHOAL_CMD_SUBCOMMAND_H_
#define SHOAL_CMD_SUBCOMMAND_H_

#include <string>
#include <vector>

#include "job/exit_code.h"
#include "job/job_plan.h"
#include "job/main_wait.h"
#include "launch/job_flags.h"

namespace shoal {

using Args = std::vector<std::string>;

// The subcommands of `shoal`, each in a file of its own. `args` are the
// arguments after the subcommand's name. Each returns an ExitCode.
int TrainCommand(const Args& args);        // train_command.cc
int EvalCommand(const Args& args);         // score_command.cc
int InferCommand(const Args& args);        // score_command.cc
int RunCommand(const Args& args);          // run_command.cc
int DataGenCommand(const Args& args);      // data_gen_command.cc
int DataPrepareCommand(const Args& args);  // data_prepare_command.cc
int DataStatCommand(const Args& args);     // data_stat_command.cc
int CkptLsCommand(const Args& args);       // ckpt_command.cc
int CkptShowCommand(const Args& args);     // ckpt_command.cc
int CkptBalanceCommand(const Args& args);  // ckpt_command.cc
int CkptVerifyCommand(const Args& args);   // ckpt_command.cc
int CkptSaveCommand(const Args& args);     // ckpt_save_command.cc
int BenchAllReduceCommand(const Args& args);  // bench_allreduce_command.cc
int BenchCompareCommand(const Args& args);  // bench_command.cc
int BenchReportCommand(const Args& args);   // bench_report_command.cc
int PlanCommand(const Args& args);         // plan_command.cc
int TokenCommand(const Args& args);        // token_command.cc

// Runs the whole job of these flags, training or not, in this process, and
// reports its end. Errors go to stderr. train_command.cc.
ExitCode RunInOneProcess(const JobFlags& flags, const JobPlan& plan,
                         MainWait* wait);

}  // namespace shoal

#endif  // SHOAL_CMD_SUBCOMMAND_H_
