#ifndef SHOAL_COORDINATOR_JOB_PIECES_H_
#define SHOAL_COORDINATOR_JOB_PIECES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cluster/job_files.h"
#include "cluster/piece_facts.h"
#include "coordinator/coordinator_options.h"

namespace shoal {

// The files of one purpose, cut into pieces.
struct CutFiles {
  PieceFacts pieces;
  std::vector<int> hosts;  // by piece, as LeaseTableOptions::hosts
  std::vector<bool> uncut;  // by piece, as PiecesToDeal::uncut
};
struct JobPieces {
  CutFiles train;  // empty unless the job trains
  CutFiles eval;
};

// Cuts the files that the workers list into the pieces of the job. Errors:
// INVALID_ARGUMENT (all files are empty; more pieces than a checkpoint's
// manifest can hold or, over all epochs, than a server's marks can hold), and
// those of BuildPieceTable. The messages say what to give instead.
//
// `train_row_bytes` is RegisterRequest::train_row_bytes, the largest of all
// workers. Without --piece_bytes the pieces to train depend on it, and a job
// that goes on from a checkpoint takes the pieces of the checkpoint.
absl::StatusOr<JobPieces> CutJob(const CoordinatorOptions& options,
                                 const JobFiles& files,
                                 uint32_t train_row_bytes = 0);

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_PIECES_H_
