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
// Those that start a whole job, and those that are one process of a job.
constexpr unsigned kWholeJobs =
    static_cast<unsigned>(Command::kTrain) | kRunAlone;
constexpr unsigned kProcesses =
    kPsAlone | static_cast<unsigned>(Command::kWorker);
constexpr unsigned kOverNetwork = kRunAlone | kProcesses;
// What shoal-ps and shoal-worker take is the same as far as it can be, also
// where one of them has no use for it: a script then has one list of flags.
constexpr unsigned kAllCommands = kWholeJobs | kProcesses;

// Whether a flag is part of the text by which the processes of a job agree
// (JobFlags::CanonicalConfig), which checkpoints hold too: it is where it
// decides the variables, the arithmetic or the batches. Paths, ports, threads
// and deadlines do not.
enum class Canonical {
  // Each process may have a value of its own.
  kNo,
  // A process with another value is refused. A job that goes on from a
  // checkpoint may have another one: it says how fast the job learns from there
  // on, or how the job is run.
  kInJob,
  // A checkpoint is refused too by a job with another value, which would change
  // what its marks and slots mean.
  kInCheckpoint,
};

// Whether a launcher hands the value that it was given down to each process
// that takes the flag (HandedDownFlags).
enum class HandedDown {
  kYes,
  // Each process gets a value of its own, or has no use for one.
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
  // Some help texts depend on the command that is asked.
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
