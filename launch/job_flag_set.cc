#include "launch/job_flag_set.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "launch/flag_value.h"

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
  }
  return "";
}

// The names of a set of commands: "shoal-ps, shoal-worker".
std::string Names(unsigned commands) {
  std::vector<std::string> names;
  for (const Command command :
       {Command::kTrain, Command::kRun, Command::kPs, Command::kWorker}) {
    if ((commands & static_cast<unsigned>(command)) != 0) {
      names.push_back(CommandName(command));
    }
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

JobFlagRows AllJobFlagRows(JobFlags* flags) {
  JobFlagRows rows(flags->command);
  flags->model.AddRows(&rows);
  flags->optimizers.AddRows(&rows);
  flags->training.AddRows(&rows);
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
  for (const JobFlagRow& row : rows.rows()) {
    if (row.TakenBy(flags->command)) {
      set.Group(row.group);
      set.Add(row.flag);
    } else {
      set.AddForeign(row.flag.name, Names(row.takers));
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
