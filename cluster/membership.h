#ifndef SHOAL_CLUSTER_MEMBERSHIP_H_
#define SHOAL_CLUSTER_MEMBERSHIP_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cluster/job_files.h"
#include "cluster/members_view.h"
#include "core/ids.h"
#include "core/ps_members.h"
#include "core/registration.h"

namespace shoal {

struct MembershipOptions {
  std::string job;
  std::string config;     // canonical text; see RegisterRequest::config
  StartNumber start = 1;  // start number of the job
  PsMembers ps;           // the PSs that the job has, by index
  // Set: the workers that the job has, by index. Not set: more may join.
  std::optional<int> fixed_workers;
  // False: a worker that is lost once the job has begun cannot be replaced.
  bool workers_return = true;
  FileScopes scopes;      // the files that are by host (job_files.h)
  KnownIds trained;       // as for JobFiles
  absl::Duration silent_after = absl::Seconds(5);
};

// A process that is in the job: alive, as far as is known.
struct Member {
  Role role = Role::kWorker;
  int index = 0;
  int shard = -1;  // shard that a PS holds; replicas share one
  int first_copy = 0;  // index of the PS that is the copy of rank 0
  Life life;
  std::string address;   // address of a PS; empty if it has no port
  // True for the PS in the process of a rank, which has no address. It lives
  // and dies with the worker there.
  bool in_rank = false;
  std::string ring_address;  // of the port for the newest ring of a rank
  // RegisterRequest::ring_address, which listens as long as the process lives.
  std::string first_ring_address;
  uint64_t process = 0;  // RegisterRequest::process and attempt
  uint64_t attempt = 0;
  uint64_t session = 0;    // 0: the session is not open yet
  bool suspended = false;  // no connection carries the session at present
  absl::Time heard;        // newest message, or when the connection broke

  // The rank of the process that a PS with in_rank is in.
  int rank() const { return index - first_copy; }
  // True while the session is open, suspended or not.
  bool open() const { return session != 0; }
  // "worker 1", "ps 0 (host:port)". A PS in the process of a rank is told by
  // the name of that worker.
  std::string Name() const;
  // The same without the address.
  std::string Process() const;
};

// The processes of a job. Pure logic: the caller brings events and the time.
// Processes may come in any order. A process whose connection breaks is
// suspended; it may come back with its life within silent_after. A process that
// dies and returns, or that was silent too long, gets a new life, and its old
// life is unknown from then on. Thread-compatible.
class Membership {
 public:
  // REQUIRES: options.ps.valid().
  explicit Membership(MembershipOptions options);

  // Gives the process a life. If an earlier request of this role and index got
  // a life that has no session yet, that life ends: its answer came too late.
  // Errors:
  //   FAILED_PRECONDITION  other protocol version, job or flags (both sides are
  //                        named), or a PS in the place of one that was in the
  //                        job when it began: its shard's state is lost; or a
  //                        worker likewise, without workers_return
  //   ALREADY_EXISTS       a live process has this role and index (Suspended
  //                        says whether its life may be ended for this one), or
  //                        this process has sent a later request
  //   INVALID_ARGUMENT     the job has no such index
  //   and those of JobFiles::Check
  absl::StatusOr<Life> Register(const RegisterRequest& request, absl::Time now);

  // The member whose place the process wants and whose connection is broken: it
  // has died, or has given up its life. nullptr if there is no such member, if
  // the request would be refused anyhow, or if it comes late. No clock decides
  // this, since the clocks of two hosts differ.
  const Member* Suspended(const RegisterRequest& request) const;

  // Opens the session of a life; `session` is not 0. FAILED_PRECONDITION: the
  // life is not known, or not any more. ALREADY_EXISTS: the life has a session.
  absl::StatusOr<const Member*> Open(uint64_t session, Life life,
                                     absl::Time now);

  // The member of this life, which wants to go on with its session. Errors:
  // FAILED_PRECONDITION (the life is not known any more), NOT_FOUND (the life
  // has no session yet).
  absl::StatusOr<const Member*> Returning(Life life) const;
  // The connection of a session broke; another connection carries the session.
  void Suspend(uint64_t session, absl::Time now);
  void Resume(uint64_t session, absl::Time now);

  // nullptr if there is no such member. Valid until the member is removed.
  const Member* FindSession(uint64_t session) const;
  const Member* FindLife(Life life) const;
  const Member* Find(Role role, int index) const;

  // The member has a new port for the ring.
  void SetRingAddress(Life life, std::string address);

  // A message came on the session.
  void Heard(uint64_t session, absl::Time now);

  // Members that sent no message for longer than silent_after, or whose
  // connection has been broken for longer than that. Looks at all members.
  std::vector<Member> Silent(absl::Time now) const;

  // The process is gone; its life is never known again. Before the job begins
  // another process may take the place of a PS, since it can make or load the
  // same state.
  void Remove(Life life);

  // Copies of all members, by role (PSs first) and index.
  std::vector<Member> members() const;
  // Live members of a role whose session is open, by index.
  MembersView Open(Role role) const {
    return MembersView(open_[role == Role::kPs ? 0 : 1]);
  }
  bool empty() const { return members_.empty(); }

  // The files that the workers listed.
  const JobFiles& files() const { return files_; }
  // The job begins: its files are fixed from now on, and only the PSs that are
  // in the job have the state of its shards.
  void Begin() {
    files_.Pin();
    begun_ = true;
  }

 private:
  using Key = std::pair<Role, int>;

  absl::Status Check(const RegisterRequest& request) const;
  // The error that refuses a process which cannot come back.
  absl::Status CheckReturn(const RegisterRequest& request) const;
  // Makes open_ anew, after a session was opened or a member is gone.
  void ListOpen();
  void SetSuspended(uint64_t session, bool suspended, absl::Time now);

  const MembershipOptions options_;
  uint32_t next_life_ = 1;
  std::map<Key, Member> members_;
  absl::flat_hash_map<Life, Member*> by_life_;  // into members_
  absl::flat_hash_map<uint64_t, Member*> by_session_;
  std::array<std::vector<const Member*>, 2> open_;  // PSs, workers
  bool begun_ = false;
  std::map<Key, Life> opened_ps_;  // the life that got the shard's first state
  JobFiles files_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_MEMBERSHIP_H_
