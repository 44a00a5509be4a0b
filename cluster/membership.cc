#include "cluster/membership.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "cluster/agreement.h"
#include "core/member_name.h"

namespace shoal {
namespace {

// More workers than this in one job is a mistyped index.
constexpr int kMaxWorkers = 65'536;

// True if the request was sent after the request that made the member.
bool IsAfter(const RegisterRequest& request, const Member& member) {
  return request.process != member.process || request.attempt > member.attempt;
}

}  // namespace

std::string Member::Name() const {
  return address.empty() ? Process()
                         : absl::StrCat(Process(), " (", address, ")");
}

std::string Member::Process() const {
  return in_rank ? ProcessName(Role::kWorker, rank())
                 : ProcessName(role, index);
}

Membership::Membership(MembershipOptions options)
    : options_(std::move(options)), files_(options_.scopes, options_.trained) {
  SHOAL_DCHECK(options_.ps.valid());
}

absl::Status Membership::Check(const RegisterRequest& request) const {
  const std::string who = MemberName(request, options_.ps);
  if (request.protocol_version != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("protocol version differs: ", who, " speaks ",
                     request.protocol_version, ", the coordinator speaks ",
                     kProtocolVersion, "; run the same release on every host"));
  }
  if (request.job != options_.job) {
    return absl::FailedPreconditionError(
        absl::StrCat("job differs: ", who, " has --job=", request.job,
                     ", the coordinator has --job=", options_.job,
                     "; give both the same label, or check the address of "
                     "ps 0"));
  }
  if (request.role != Role::kPs && request.role != Role::kWorker) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown role ", static_cast<int>(request.role)));
  }
  const bool ps = request.role == Role::kPs;
  const int limit =
      ps ? options_.ps.count : options_.fixed_workers.value_or(kMaxWorkers);
  if (request.index < 0 || request.index >= limit) {
    // The copies of ranks are counted behind the servers.
    const bool copy = ps && request.address.empty();
    const char* const why =
        copy ? ": --worker_hosts has as many entries"
        : ps ? ": --ps_hosts has as many entries"
        : options_.fixed_workers.has_value()
            ? ": the mode of this job trains with a fixed number of workers"
            : "";
    return absl::InvalidArgumentError(absl::StrCat(
        who, ": the index must be in [0, ",
        copy ? limit - std::max(options_.ps.replicated, 0) : limit, ")", why));
  }
  SHOAL_RETURN_IF_ERROR(
      CheckSameConfig(who, request.config, "the coordinator", options_.config));
  if (request.role == Role::kWorker) return files_.Check(request);
  return absl::OkStatus();
}

absl::Status Membership::CheckReturn(const RegisterRequest& request) const {
  const bool ps = request.role == Role::kPs;
  if (begun_ && !options_.workers_return && (!ps || request.address.empty())) {
    return absl::FailedPreconditionError(absl::StrCat(
        MemberName(request, options_.ps),
        " was lost, and the job goes on without it: it can join again at the "
        "next start of the job"));
  }
  const auto lost = opened_ps_.find({request.role, request.index});
  if (!ps || lost == opened_ps_.end()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      MemberName(request, options_.ps),
      " was in this job as life ", ToString(lost->second),
      " and its shard's state died with that life; start the job again"));
}

absl::StatusOr<Life> Membership::Register(const RegisterRequest& request,
                                          absl::Time now) {
  SHOAL_RETURN_IF_ERROR(Check(request));
  const Key key{request.role, request.index};
  const auto it = members_.find(key);
  if (it != members_.end() &&
      (it->second.open() || !IsAfter(request, it->second))) {
    return absl::AlreadyExistsError(absl::StrCat(
        it->second.Name(), " is alive already, as life ",
        ToString(it->second.life), ", and was heard ",
        absl::FormatDuration(now - it->second.heard),
        " ago; if it was killed, it is taken for dead after ",
        absl::FormatDuration(options_.silent_after), " of silence"));
  }
  SHOAL_RETURN_IF_ERROR(CheckReturn(request));
  if (it != members_.end()) Remove(it->second.life);
  Member member;
  member.role = request.role;
  member.index = request.index;
  member.life = Life{options_.start, next_life_++};
  member.heard = now;
  member.process = request.process;
  member.attempt = request.attempt;
  if (request.role == Role::kPs) {
    member.in_rank = request.address.empty();
    member.first_copy = std::max(options_.ps.replicated, 0);
    member.shard = options_.ps.ShardOf(request.index);
    member.address = request.address;
  } else {
    member.ring_address = request.ring_address;
    member.first_ring_address = request.ring_address;
    files_.Add(request);
  }
  Member& added = members_[key] = std::move(member);
  by_life_[added.life] = &added;
  return added.life;
}

const Member* Membership::Suspended(const RegisterRequest& request) const {
  const Member* member = Find(request.role, request.index);
  if (member == nullptr || !member->suspended) return nullptr;
  if (!IsAfter(request, *member)) return nullptr;
  return Check(request).ok() ? member : nullptr;
}

absl::StatusOr<const Member*> Membership::Open(uint64_t session, Life life,
                                               absl::Time now) {
  const auto it = by_life_.find(life);
  if (it == by_life_.end()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "life ", ToString(life),
        " is not known here, or was taken for dead; register again"));
  }
  Member& member = *it->second;
  if (member.open()) {
    return absl::AlreadyExistsError(
        absl::StrCat(member.Name(), ": life ", ToString(life),
                     " has an open session; register again for another"));
  }
  member.session = session;
  member.heard = now;
  by_session_[session] = &member;
  ListOpen();
  if (member.role == Role::kPs) opened_ps_[{member.role, member.index}] = life;
  return &member;
}

absl::StatusOr<const Member*> Membership::Returning(Life life) const {
  const Member* const member = FindLife(life);
  if (member == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "life ", ToString(life), " is not known here, or was taken for dead"));
  }
  if (!member->open()) {
    return absl::NotFoundError("no session was opened yet");
  }
  return member;
}

void Membership::ListOpen() {
  for (std::vector<const Member*>& open : open_) open.clear();
  for (const auto& [key, member] : members_) {
    if (member.open()) {
      open_[member.role == Role::kPs ? 0 : 1].push_back(&member);
    }
  }
}

void Membership::Suspend(uint64_t session, absl::Time now) {
  SetSuspended(session, true, now);
}

void Membership::Resume(uint64_t session, absl::Time now) {
  SetSuspended(session, false, now);
}

void Membership::SetSuspended(uint64_t session, bool suspended,
                              absl::Time now) {
  const auto it = by_session_.find(session);
  if (it == by_session_.end()) return;
  it->second->suspended = suspended;
  it->second->heard = now;
}

const Member* Membership::FindSession(uint64_t session) const {
  const auto it = by_session_.find(session);
  return it == by_session_.end() ? nullptr : it->second;
}

const Member* Membership::FindLife(Life life) const {
  const auto it = by_life_.find(life);
  return it == by_life_.end() ? nullptr : it->second;
}

const Member* Membership::Find(Role role, int index) const {
  const auto it = members_.find({role, index});
  return it == members_.end() ? nullptr : &it->second;
}

void Membership::SetRingAddress(Life life, std::string address) {
  const auto it = by_life_.find(life);
  if (it != by_life_.end()) it->second->ring_address = std::move(address);
}

void Membership::Heard(uint64_t session, absl::Time now) {
  const auto it = by_session_.find(session);
  if (it != by_session_.end()) it->second->heard = now;
}

std::vector<Member> Membership::Silent(absl::Time now) const {
  std::vector<Member> silent;
  for (const auto& [key, member] : members_) {
    if (now - member.heard > options_.silent_after) silent.push_back(member);
  }
  return silent;
}

void Membership::Remove(Life life) {
  const auto it = by_life_.find(life);
  if (it == by_life_.end()) return;
  const Member& member = *it->second;
  by_session_.erase(member.session);
  const Key key{member.role, member.index};
  if (!begun_) opened_ps_.erase(key);
  by_life_.erase(it);
  members_.erase(key);
  ListOpen();
  // Workers come last.
  const bool worker_left =
      !members_.empty() && members_.rbegin()->first.first == Role::kWorker;
  if (!worker_left) files_.ForgetUnlessPinned();
}

std::vector<Member> Membership::members() const {
  std::vector<Member> all;
  for (const auto& [key, member] : members_) all.push_back(member);
  return all;
}

}  // namespace shoal
