#ifndef SHOAL_CLUSTER_MEMBERSHIP_H_
#define SHOAL_CLUSTER_MEMBERSHIP_H_

#include <array>
#include <cstdint>
#include <map>
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
#include "core/registration.h"

namespace shoal {

struct MembershipOptions {
  std::string job;
  std::string config;  // canonical text; see RegisterRequest::config
  StartNumber start = 1;  // of the job
  int num_ps = 1;
  bool host_files = false;  // each worker's files are its own (job_files.h)
  absl::Duration silent_after = absl::Seconds(5);
};

// A process that is alive, as far as is known.
struct Member {
  Role role = Role::kWorker;
  int index = 0;
  Life life;
  std::string address;     // of a PS
  uint64_t process = 0;    // RegisterRequest::process and attempt
  uint64_t attempt = 0;
  uint64_t session = 0;    // 0: registered, its session is not open yet
  bool suspended = false;  // no connection carries the session at present
  absl::Time heard;        // its newest word, or when its connection broke

  // Also while it is suspended: the life goes on.
  bool open() const { return session != 0; }
  // "worker 1", "ps 0 (host:port)".
  std::string Name() const;
};

// Who is in the job. Pure logic: the caller brings events and the time.
// Processes may come in any order. One whose connection breaks is suspended: it
// comes back with its life within silent_after. One that dies and returns, or
// that was silent too long, gets a new life; its old one is unknown from then
// on. Thread-compatible.
class Membership {
 public:
  explicit Membership(MembershipOptions options);

  // Gives the process a life. One that was given to an earlier request of its
  // role and index, and has no session, ends: its answer came too late. Errors:
  //   FAILED_PRECONDITION  other protocol version, job or flags (both sides are
  //                        named), or a PS in the place of one that was in the
  //                        job when it began: its shard's state is lost
  //   ALREADY_EXISTS       a live process has this role and index (Suspended
  //                        says whether its life may be ended for this one), or
  //                        this process has sent a later request
  //   INVALID_ARGUMENT     an index that the job has not
  //   and those of JobFiles::Check
  absl::StatusOr<Life> Register(const RegisterRequest& request, absl::Time now);

  // The member whose place the process wants and whose connection is broken:
  // that process has died, or has given up that life. nullptr: none, or the
  // request would be refused for itself, or comes late. No clock is asked:
  // those of two hosts differ.
  const Member* Suspended(const RegisterRequest& request) const;

  // Opens the session of a life. FAILED_PRECONDITION: the life is not known
  // (any more); ALREADY_EXISTS: it has a session. `session` is not 0.
  absl::StatusOr<const Member*> Open(uint64_t session, Life life,
                                     absl::Time now);

  // The member of this life, which wants to go on with its session. Errors:
  // FAILED_PRECONDITION (the life is not known any more), NOT_FOUND (the life
  // has no session yet).
  absl::StatusOr<const Member*> Returning(Life life) const;
  // The connection of a session broke, and another one carries it.
  void Suspend(uint64_t session, absl::Time now);
  void Resume(uint64_t session, absl::Time now);

  // nullptr where there is none. Valid until the member is removed.
  const Member* FindSession(uint64_t session) const;
  const Member* FindLife(Life life) const;
  const Member* Find(Role role, int index) const;

  void Heard(uint64_t session, absl::Time now);

  // Members that have said nothing for longer than silent_after. Looks at all.
  std::vector<Member> Silent(absl::Time now) const;

  // The process is gone; its life is never known again. Before the job begins,
  // a PS leaves no state behind that another process could not make or load.
  void Remove(Life life);

  // By role (PSs first) and index; copies of all.
  std::vector<Member> members() const;
  // Live members of a role whose session is open, by index.
  MembersView Open(Role role) const {
    return MembersView(open_[role == Role::kPs ? 0 : 1]);
  }
  bool empty() const { return members_.empty(); }

  // What the workers listed.
  const JobFiles& files() const { return files_; }
  // The job begins: from now on the lists are its own, and its shards' state is
  // with the PSs that are in it.
  void Begin() {
    files_.Pin();
    begun_ = true;
  }

 private:
  using Key = std::pair<Role, int>;

  absl::Status Check(const RegisterRequest& request) const;
  // Finds open_ anew: a session was opened, or a member is gone.
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
