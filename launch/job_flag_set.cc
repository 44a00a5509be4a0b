#include "launch/job_flag_set.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "launch/flag_value.h"
#include "launch/scoring_flags.h"

namespace shoal {
namespace {

std::string About(Command command) {
  switch (command) {
    case Command::kTrain:
      return "Trains a model in this one process, without a network. With "
             "--workers=1, the default, runs are reproducible bit for bit.";
    case Command::kRun:
      return "Trains a model with parameter servers and workers, each a "
             "process of its own on this host, and stays until the job has "
             "ended.";
    case Command::kPs:
      return "A parameter server: holds one shard of all variables. Start one "
             "on every host, with the same flags everywhere but --task_index; "
             "any order will do. Task 0 also coordinates the job.";
    case Command::kWorker:
      return "A worker: reads its share of the data, pulls the rows that it "
             "needs, computes gradients and pushes them. Start one on every "
             "host, before or after the parameter servers.";
    case Command::kEval:
      return "Evaluates the model of a checkpoint on --val_data_dir, in this "
             "one process. The model's flags come from the checkpoint.";
    case Command::kInfer:
      return "Predicts for --val_data_dir by the model of a checkpoint, in "
             "this one process. The model's flags come from the checkpoint.";
  }
  return "";
}

// True if --help of the command lists the flag.
bool Lists(Command command, const JobFlagRow& row) {
  return OnlyScores(command)
             ? UseInScoring(command, row) == ScoringUse::kShown
             : row.TakenBy(command);
}

// The names of the commands that list a flag: "shoal-ps, shoal-worker".
std::string Takers(const JobFlagRow& row) {
  std::vector<std::string> names;
  for (const Command command :
       {Command::kTrain, Command::kRun, Command::kPs, Command::kWorker,
        Command::kEval, Command::kInfer}) {
    if (Lists(command, row)) names.push_back(CommandName(command));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

JobFlagRows AllJobFlagRows(JobFlags* flags) {
  JobFlagRows rows(flags->command);
  flags->model.AddRows(&rows);
  flags->optimizers.AddRows(&rows);
  flags->training.AddRows(&rows);
  flags->modes.AddRows(&rows);
  flags->compute.AddRows(&rows);
  flags->data.AddRows(&rows);
  flags->checkpoints.AddRows(&rows);
  flags->evaluation.AddRows(&rows);
  flags->cluster.AddRows(&rows);
  flags->limits.AddRows(&rows);
  flags->deadlines.AddRows(&rows);
  flags->output.AddRows(&rows);
  flags->config_files.AddRows(&rows);
  flags->monitoring.AddRows(&rows);
  return rows;
}

FlagSet JobFlagSet(JobFlags* flags) {
  FlagSet set(CommandName(flags->command), About(flags->command));
  const JobFlagRows rows = AllJobFlagRows(flags);
  const bool scores = OnlyScores(flags->command);
  for (const JobFlagRow& row : rows.rows()) {
    if (scores ? UseInScoring(flags->command, row) != ScoringUse::kNone
               : row.TakenBy(flags->command)) {
      set.Group(row.group);
      set.Add(scores ? ScoringFlag(flags->command, row) : row.flag);
    } else {
      set.AddForeign(row.flag.name, Takers(row));
    }
  }
  return set;
}

std::vector<std::string> HandedDownFlags(const FlagSet& set, Command command) {
  JobFlags process(command);
  const JobFlagRows rows = AllJobFlagRows(&process);
  std::vector<std::string> args;
  for (const JobFlagRow& row : rows.rows()) {
    if (!row.TakenBy(command) || row.handed_down == HandedDown::kNo) continue;
    const Flag* const flag = set.Find(row.flag.name);
    if (flag == nullptr || !set.given(flag->name)) continue;
    args.push_back(absl::StrCat("--", flag->name, "=",
                                PrintFlagValue(flag->target, flag->limits)));
  }
  return args;
}

}  // namespace shoal
