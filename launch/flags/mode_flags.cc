#include "launch/flags/mode_flags.h"

#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "launch/choice.h"
#include "launch/flag_value.h"
#include "launch/job_flags.h"

namespace shoal {
namespace {

// The modes that each setting is for, from the first to the last of this range
// of kTrainingModes, in the order of AddRows.
struct ModeRange {
  TrainingMode first;
  TrainingMode last;

  bool Has(TrainingMode mode) const { return first <= mode && mode <= last; }
};
constexpr ModeRange kModesOf[] = {
    {TrainingMode::kSsp, TrainingMode::kSsp},
    {TrainingMode::kSync, TrainingMode::kSync},
    {TrainingMode::kRing, TrainingMode::kHybrid},
    {TrainingMode::kRing, TrainingMode::kHybrid}};
static_assert(std::size(kTrainingModes) == 5);  // none is between the last two

// "--mode=ring or --mode=hybrid".
std::string ModesText(const ModeRange& modes) {
  std::vector<std::string> words;
  for (const TrainingModeRow& row : kTrainingModes) {
    if (!modes.Has(row.value)) continue;
    words.push_back(absl::StrCat("--mode=", row.word));
  }
  return absl::StrJoin(words, " or ");
}

// The settings, as flags. `flags` is not changed.
JobFlagRows Rows(Command command, ModeFlags* flags) {
  JobFlagRows rows(command);
  flags->AddRows(&rows);
  return rows;
}

}  // namespace

void ModeFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Modes");
  rows->Add(kAllCommands, Canonical::kInJob,
            {"ssp_bound", &ssp_bound,
             "Number of steps that a worker may be ahead of the slowest worker "
             "with --mode=ssp. --pipeline_depth is added to it. 0: all workers "
             "do a step before a worker does the next one.",
             IntRange{0, 1 << 20}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"backup_workers", &backup_workers,
             "Number of workers for which a step does not wait with "
             "--mode=sync. The batches of the slowest workers are then dropped "
             "from the step and trained later in the epoch. 0: a step waits "
             "for all workers.",
             IntRange{0, 1 << 16}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"reduction", ChoiceTarget(&reduction, kReductions),
             absl::StrCat("Sum of the dense gradient with --mode=ring and "
                          "hybrid: ",
                          ChoiceHelp(kReductions), ".")});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"bucket_bytes", &bucket_bytes,
             "Size in bytes of the parts in which the dense gradient is added "
             "up with --mode=ring and hybrid. Smaller parts begin earlier "
             "during the computation, and cost more messages.",
             ByteRange{4096, int64_t{1} << 30}});
}

absl::Status ModeFlags::Validate(const JobFlags& job) const {
  ModeFlags own = *this, defaults;
  const JobFlagRows rows = Rows(job.command, &own);
  const JobFlagRows default_rows = Rows(job.command, &defaults);
  for (size_t i = 0; i < rows.rows().size(); ++i) {
    const Flag& flag = rows.rows()[i].flag;
    const std::string value = PrintFlagValue(flag.target);
    if (kModesOf[i].Has(job.training.mode) ||
        value == PrintFlagValue(default_rows.rows()[i].flag.target)) {
      continue;
    }
    const std::string modes = ModesText(kModesOf[i]);
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag.name, "=", value, " is for ", modes,
        ", and this is --mode=", job.training.ModeName(), "; give ", modes,
        ", or leave --", flag.name, " out"));
  }
  // A worker alone does not know how many workers the job has.
  if (job.command != Command::kWorker && backup_workers > 0 &&
      backup_workers >= job.cluster.workers) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--backup_workers=", backup_workers, " must be smaller than the "
        "number of workers, which is ", job.cluster.workers));
  }
  return absl::OkStatus();
}

}  // namespace shoal
