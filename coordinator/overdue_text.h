#ifndef SHOAL_COORDINATOR_OVERDUE_TEXT_H_
#define SHOAL_COORDINATOR_OVERDUE_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "cluster/job_progress.h"
#include "cluster/lease_table.h"
#include "cluster/loaded_marks.h"
#include "cluster/membership.h"
#include "cluster/piece_facts.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/job_clock.h"

namespace shoal {

// What a job waits for, for people.

// The processes that have no session, of those that are expected: "ps 1, worker
// 0", and how many more there are.
std::string MissingProcesses(const CoordinatorOptions& options,
                             const Membership& membership);

// What TooLate looks at; all outlive the call.
struct OverdueView {
  const CoordinatorOptions& options;
  const Membership& membership;
  const LoadedMarks& loaded;
  const JobProgress& progress;
  // Of what is trained or scored now.
  const PieceFacts& facts;
  const LeaseTable& leases;
  const std::string& last_lease_failure;  // empty: none
};
// DEADLINE_EXCEEDED, which names what has not come and how long it had.
absl::Status TooLate(Overdue what, const OverdueView& view);

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_OVERDUE_TEXT_H_
