#ifndef SHOAL_LAUNCH_ENVIRONMENT_RANK_ENVIRONMENT_H_
#define SHOAL_LAUNCH_ENVIRONMENT_RANK_ENVIRONMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "launch/environment/environment.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"
#include "launch/launched_rank.h"

namespace shoal {

// Reads the place that a launcher of ranks has given this process, or returns
// nullopt if none has. These are the launchers and their variables, where the
// first one that is there wins:
//
//   Open MPI     OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
//   MPICH, PMI   PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
//   PMIx alone   PMIX_RANK, without a size
//   Slurm        SLURM_PROCID, SLURM_STEP_NUM_TASKS (or SLURM_NTASKS),
//                SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE of SLURM_NODEID
//
// mpirun and mpiexec inside a Slurm job start their helpers by srun, so their
// variables come before Slurm's. PMI and PMIx that srun itself has set up are
// Slurm's. Slurm's variables count in the tasks of a step that srun has
// started, which SLURM_STEP_ID tells: not in the script of sbatch and not in
// the shell of salloc, where SLURM_PROCID may be 0 too. A variable without a
// value counts as not set.
//
// INVALID_ARGUMENT names a variable whose value is not a number in its range,
// or a rank and a size that contradict each other.
absl::StatusOr<std::optional<LaunchedRank>> RankFromEnvironment(
    const Environment& environment);

// The variables that say a rank. Without them RankFromEnvironment finds none.
std::vector<std::string> RankVariables();

// Fills --task_index by the rank if it was not given, and flags->cluster
// .launched, if this process is a worker of a mode without parameter servers:
// only there the index of a process is its rank. A launcher that has started
// one process alone says nothing if --task_index was given: its processes are
// started one by one. `set` is bound to *flags, which has the mode already.
// Errors: as RankFromEnvironment.
absl::Status FillRank(const Environment& environment, JobFlags* flags,
                      FlagSet* set);

// INVALID_ARGUMENT: --task_index is left out in a mode with parameter servers,
// although a launcher has given this process a rank. Call when all flags are
// filled.
absl::Status CheckIndexBesideRank(const Environment& environment,
                                  const JobFlags& flags, const FlagSet& set);

// A line for the user if a launcher has started several times what runs a whole
// job alone; otherwise empty. Only the first of the processes has the line.
std::string WholeJobsWarning(const Environment& environment, Command command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_ENVIRONMENT_RANK_ENVIRONMENT_H_
