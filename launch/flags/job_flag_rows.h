#ifndef SHOAL_LAUNCH_FLAGS_JOB_FLAG_ROWS_H_
#define SHOAL_LAUNCH_FLAGS_JOB_FLAG_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "launch/command.h"
#include "launch/flag_set.h"

namespace shoal {

// Sets of commands: bits of Command.
constexpr unsigned kRunAlone = static_cast<unsigned>(Command::kRun);
constexpr unsigned kPsAlone = static_cast<unsigned>(Command::kPs);
// The commands that start a whole job, and those that are one process of a job.
constexpr unsigned kWholeJobs =
    static_cast<unsigned>(Command::kTrain) | kRunAlone;
constexpr unsigned kProcesses =
    kPsAlone | static_cast<unsigned>(Command::kWorker);
constexpr unsigned kOverNetwork = kRunAlone | kProcesses;
constexpr unsigned kScoring = static_cast<unsigned>(Command::kEval) |
                              static_cast<unsigned>(Command::kInfer);
// shoal-ps and shoal-worker take the same flags as far as possible, also flags
// that only one of them uses: a script then needs one list of flags.
// launch/scoring_flags.h says which of these flags shoal eval and shoal infer
// take too.
constexpr unsigned kAllCommands = kWholeJobs | kProcesses;

// Whether a flag is part of the canonical config (JobFlags::CanonicalConfig),
// the text that must be equal on all processes of a job and that checkpoints
// hold too. A flag is part of this text if it decides the variables, the
// arithmetic or the batches. Paths, ports, threads and deadlines do not.
enum class Canonical {
  // Each process may have another value.
  kNo,
  // A process with another value is refused. A job that resumes from a
  // checkpoint may have another value than the checkpoint: the flag decides how
  // fast the job learns from there on, or how the job is run.
  kInJob,
  // As kInJob, but a job also refuses a checkpoint with another value, which
  // would change the meaning of the checkpoint's marks and slots.
  kInCheckpoint,
  // As kInCheckpoint, but the text has the flag only if its value is not the
  // default. For a flag that is younger than the checkpoints of a release, all
  // of which have the default.
  kInCheckpointIfSet,
};

// Whether a launcher passes the value that it was given on to the processes
// that take the flag (HandedDownFlags).
enum class HandedDown {
  kYes,
  // The launcher chooses a value for each process, or the processes have no use
  // for the flag.
  kNo,
};

// A row of the table of a job's flags.
struct JobFlagRow {
  std::string group;  // title in --help
  unsigned takers;    // the commands that take the flag
  Canonical canonical;
  Flag flag;
  HandedDown handed_down;

  bool TakenBy(Command command) const {
    return (takers & static_cast<unsigned>(command)) != 0;
  }
};

// The table: every flag of every command, in the order of --help.
// Thread-compatible.
class JobFlagRows {
 public:
  // `command` is the one whose flags are wanted: some help texts depend on it.
  explicit JobFlagRows(Command command) : command_(command) {}

  Command command() const { return command_; }

  // Rows added from here on stand under this title.
  void Group(std::string title) { group_ = std::move(title); }
  void Add(unsigned takers, Canonical canonical, Flag flag,
           HandedDown handed_down = HandedDown::kYes) {
    rows_.push_back({group_, takers, canonical, std::move(flag), handed_down});
  }

  const std::vector<JobFlagRow>& rows() const { return rows_; }

 private:
  const Command command_;
  std::string group_;
  std::vector<JobFlagRow> rows_;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_JOB_FLAG_ROWS_H_
