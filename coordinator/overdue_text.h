#ifndef SHOAL_COORDINATOR_OVERDUE_TEXT_H_
#define SHOAL_COORDINATOR_OVERDUE_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "cluster/job_progress.h"
#include "cluster/loaded_marks.h"
#include "cluster/membership.h"
#include "cluster/piece_facts.h"
#include "cluster/piece_leases.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/job_clock.h"

namespace shoal {

// Messages about what a job waits for.

// The expected processes that have no session: "ps 1, worker 0", and the number
// of others if there are many.
std::string MissingProcesses(const CoordinatorOptions& options,
                             const Membership& membership);

// The parts of a job that TooLate reads. All must outlive the call.
struct OverdueView {
  const CoordinatorOptions& options;
  const Membership& membership;
  const LoadedMarks& loaded;
  const JobProgress& progress;
  // The pieces that are trained or scored now.
  const PieceFacts& facts;
  const PieceLeases& leases;
  const std::string& last_lease_failure;  // empty: none
  // "step 12 waits for ranks 1, 3", or what a change of the ranks waits for;
  // empty: no step of all ranks is open.
  std::string open_step = {};
};
// DEADLINE_EXCEEDED: names what has not come, and the time that it had.
absl::Status TooLate(Overdue what, const OverdueView& view);

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_OVERDUE_TEXT_H_
