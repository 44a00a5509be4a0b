#include "bench/compare/cell_flags.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/dilation.h"
#include "core/compute_source.h"
#include "core/training_mode.h"

namespace shoal {
namespace {

// Steps of each worker before a job's steady part begins.
constexpr int kWarmUpSteps = 12;

struct Owned {
  const char* flag;
  const char* instead;
};

// Flags that a comparison gives to its jobs.
constexpr Owned kOwned[] = {
    {"mode", "give --modes"},
    {"batch_size", "give --batch_sizes"},
    {"ps", "give --hosts, which are numbers of hosts here"},
    {"workers", "give --hosts, which are numbers of hosts here"},
    {"worker_per_host", "a host has one worker here"},
    {"backup_workers", "give --modes=sync+1"},
    {"compute", "give --replay_hosts"},
    {"compute_profile", "the comparison records one"},
    {"compute_scale", "the comparison chooses it"},
    {"record_compute", "the comparison records below --out"},
    {"summary", "the figures of each run are below --out"},
    {"model_dir", "jobs of a comparison save nothing"},
    {"task_type", "jobs of a comparison train"},
    {"metrics_port", "the figures of each run are below --out"},
    {"max_restarts", "a job that fails is a failed run"},
    {"max_job_restarts", "a job that fails is a failed run"},
    {"progress_every", "the comparison shows its own progress"},
    {"write_config", "each job has other flags"},
};

// Times of a job that a played cluster has longer, by its dilation.
struct StretchedTime {
  const char* flag;
  absl::Duration DeadlineFlags::*value;
};
constexpr StretchedTime kStretched[] = {
    {"silent_after", &DeadlineFlags::silent_after},
    {"worker_lease", &DeadlineFlags::worker_lease},
    {"ps_lease", &DeadlineFlags::ps_lease},
    {"mark_interval", &DeadlineFlags::mark_interval},
    {"pull_timeout", &DeadlineFlags::pull_timeout},
    {"push_timeout", &DeadlineFlags::push_timeout},
    {"worker_grace", &DeadlineFlags::worker_grace},
    {"speculate_after", &DeadlineFlags::speculate_after},
    {"progress_timeout", &DeadlineFlags::progress_timeout},
    {"stall_after", &DeadlineFlags::stall_after}};

// Flags that all models have in common, beside these times: those of the data,
// of the hosts and of modes.
constexpr const char* kCommon[] = {
    "bucket_bytes",      "config",       "ps_port",       "reduction",
    "remote_bin",        "seed",         "ssh_command",   "ssp_bound",
    "training_data_dir", "val_data_dir", "val_data_scope"};

// A deadline of the played cluster, on the clock of this machine.
std::string Stretched(absl::Duration deadline, double dilation) {
  const absl::Duration most = absl::Hours(24);
  return absl::StrCat(
      absl::ToInt64Milliseconds(std::min(most, deadline * dilation)), "ms");
}

// Erases the flags that the mode does not take.
void LeaveOutOtherModes(const TrainingModeRow& row, FlagMap* flags) {
  if (row.value != TrainingMode::kSsp) flags->erase("ssp_bound");
  if (!row.copies) {
    flags->erase("reduction");
    flags->erase("bucket_bytes");
  }
  if (row.depth_is_fixed) flags->erase("pipeline_depth");
}

void Set(FlagMap* flags, const char* name, std::string value) {
  (*flags)[name] = std::move(value);
}

// More epochs than there is time for, and no evaluation.
void RunOn(int epochs, FlagMap* flags) {
  for (const char* flag : kUnusedIfStopped) flags->erase(flag);
  Set(flags, "num_epochs", absl::StrCat(epochs));
}

}  // namespace

absl::Status CheckJobFlags(const FlagMap& job) {
  for (const Owned& owned : kOwned) {
    const auto given = job.find(owned.flag);
    if (given == job.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", owned.flag, "=", given->second,
                     " is not for a comparison: ", owned.instead));
  }
  return absl::OkStatus();
}

absl::Status CheckModelFlags(const FlagMap& model) {
  std::vector<absl::string_view> common(std::begin(kCommon), std::end(kCommon));
  for (const StretchedTime& time : kStretched) common.push_back(time.flag);
  for (const absl::string_view flag : common) {
    const auto given = model.find(std::string(flag));
    if (given == model.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, "=", given->second,
                     " must be the same for all models: give it outside of "
                     "--models"));
  }
  return absl::OkStatus();
}

FlagMap FlagsOfModel(const FlagMap& job) {
  FlagMap flags = job;
  LeaveOutOtherModes(kTrainingModes[0], &flags);
  return flags;
}

FlagMap FlagsOfCell(const Cell& cell, const FlagMap& job,
                    const DeadlineFlags& deadlines, const CellPlace& place) {
  const TrainingModeRow& row = ModeRowOf(cell);
  FlagMap flags = job;
  LeaveOutOtherModes(row, &flags);
  Set(&flags, "mode", cell.mode);
  Set(&flags, "batch_size", absl::StrCat(cell.batch_size));
  Set(&flags, "max_restarts", "0");
  Set(&flags, "max_job_restarts", "0");
  if (cell.learning_rate > 0) {
    Set(&flags, "learning_rate", absl::StrFormat("%.17g", cell.learning_rate));
  }
  if (row.value == TrainingMode::kSsp) {
    Set(&flags, "ssp_bound", absl::StrCat(cell.ssp_bound));
  }
  if (cell.backup_workers > 0) {
    Set(&flags, "backup_workers", absl::StrCat(cell.backup_workers));
  }
  if (flags.count("warmup_steps") == 0) {
    Set(&flags, "warmup_steps", absl::StrCat(kWarmUpSteps * cell.hosts));
  }
  uint64_t warmup = 0;
  if (absl::SimpleAtoi(flags["warmup_steps"], &warmup) &&
      warmup < place.least_warmup_steps) {
    Set(&flags, "warmup_steps", absl::StrCat(place.least_warmup_steps));
  }
  if (place.hosts.empty()) {
    if (row.servers) Set(&flags, "ps", absl::StrCat(cell.hosts));
    Set(&flags, "workers", absl::StrCat(cell.hosts));
  } else {
    Set(&flags, "hosts", place.hosts);
  }
  if (place.epochs > 0) RunOn(place.epochs, &flags);
  if (place.seed.has_value()) Set(&flags, "seed", absl::StrCat(*place.seed));
  if (cell.replayed()) {
    // A played host has a quota of processor time, and a replayed worker has to
    // use its part of it. On loopback many workers may share a few cores.
    const bool played = cell.cores_per_host > 0;
    Set(&flags, "compute",
        ChoiceWord(kComputeSources,
                   played ? ComputeSource::kBusy : ComputeSource::kReplay));
    Set(&flags, "compute_profile", place.profile);
  }
  double slowest = 1;
  for (int host = 0; host < cell.hosts; ++host) {
    slowest = std::max(slowest, ComputeScaleOf(cell, host, place.paused_speed));
  }
  if (slowest > 1) {
    // The command of each host gets its own (CellLauncher).
    Set(&flags, "compute_scale",
        absl::StrFormat("%.17g", ComputeScaleOf(cell, 0, place.paused_speed)));
  }
  if (!place.record.empty()) Set(&flags, "record_compute", place.record);
  if (cell.dilation > 1) {
    for (const StretchedTime& time : kStretched) {
      Set(&flags, time.flag, Stretched(deadlines.*time.value, cell.dilation));
    }
  }
  return flags;
}

std::vector<std::string> Arguments(const FlagMap& flags) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : flags) {
    arguments.push_back(absl::StrCat("--", name, "=", value));
  }
  return arguments;
}

}  // namespace shoal
