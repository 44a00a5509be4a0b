#ifndef SHOAL_COORDINATOR_MEMBER_LOSS_H_
#define SHOAL_COORDINATOR_MEMBER_LOSS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cluster/membership.h"
#include "coordinator/coordinator_actions.h"
#include "coordinator/job_effects.h"
#include "coordinator/job_phase.h"
#include "core/mark_run.h"
#include "core/ps_members.h"

namespace shoal {

// The ways in which connections and lives end without a Bye, and the effect of
// each on the job, as pure functions.
//
//   open --its connection breaks--> suspended --it resumes its session--> open
//   open, suspended --any of the losses below--> lost, and removed by the owner
//
// A broken connection does not end the life. The life is suspended: messages to
// the process wait (session_table.h), a worker's pieces may be copied to others
// at once, and the process has silent_after to resume its session. Its life
// ends at once if another process registers in its place, or if the address of
// a PS refuses connections.

// Returns the log line about the connection of `member`, which broke with this
// status. `fixed_workers` as in IsRankLoss.
CoordinatorActions AfterBreak(const Member& member, const absl::Status& status,
                              absl::Duration silent_after,
                              bool fixed_workers = false);
// Looks at the ports of processes whose connection is broken: those of PSs, and
// the ports that ranks had for their first ring, which listen as long as the
// process lives. A worker without a port is lost when it is silent. The PS in
// the process of a rank is lost with the worker there.
CoordinatorActions Probes(const Membership& membership);

// The end of a life.
struct MemberLoss {
  Member member;
  absl::Status why;  // ends its session
  std::string how;   // for people: completes "worker 1 …"
};

// The member's connection is broken, and another process has its place.
MemberLoss Replaced(const Member& member);
// The member's connection is broken, and its address refuses connections.
MemberLoss PortClosed(const Member& member);
// The member's session ended with this status, which may be OK.
MemberLoss SessionEnded(const Member& member, const absl::Status& status);
// The member said nothing for silent_after, over a connection or without one.
MemberLoss Silent(const Member& member, absl::Duration silent_after);
// The member sent a message that the protocol does not allow.
MemberLoss BrokeProtocol(const Member& member, const absl::Status& status);
// The member is a PS that comes back with fewer marks than the job has complete
// batches, each of which has a mark of every shard. nullopt: no mark is lost.
std::optional<MemberLoss> LostMarks(const Member& member,
                                    const MarkTotals& marks, uint64_t complete);

// The host on which `member`, a worker that is not in `membership` any more,
// was the last worker, if the host has files of its own; otherwise "".
std::string HostLeftAlone(const Member& member, const Membership& membership);

// True if the process is a rank that the other ranks wait for in this phase: it
// is a worker of a job whose workers are fixed when it begins
// (CoordinatorOptions::lanes), or the PS in the process of such a worker. If it
// is lost, a generation without it begins (job_generations.h).
bool IsRankLoss(const Member& member, JobPhase phase, bool fixed_workers);

// The members in the process of `member`, which are lost together, the worker
// first: a worker and the PS with its replica (Member::in_rank), or `member`
// alone.
std::vector<Member> MembersOfProcess(const Member& member,
                                     const Membership& membership,
                                     const PsMembers& ps);

// While the job gathers nothing was leased, so nothing was pushed: another
// process may take the place of a PS within `left_to_start`. Later the job ends
// with the state of a PS's shard (UNAVAILABLE). A worker's pieces are leased to
// other workers, and the job goes on; the pieces of `host_left_alone`, which
// may be "", wait for a worker there. If IsRankLoss, the job goes on with the
// other ranks, unless none of them can read the files of `host_left_alone`:
// then it ends (UNAVAILABLE). Once everything is trained and scored, a rank may
// be missing. A job that is ending has no use for the process.
JobEffects AfterLoss(const MemberLoss& loss, JobPhase phase,
                     absl::Duration left_to_start,
                     const std::string& host_left_alone = "",
                     bool fixed_workers = false);

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_MEMBER_LOSS_H_
