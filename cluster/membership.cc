#include "cluster/membership.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cluster/agreement.h"

namespace shoal {
namespace {

// More workers than this in one job is a mistyped index.
constexpr int kMaxWorkers = 65'536;

}  // namespace

std::string Member::Name() const {
  return address.empty()
             ? ProcessName(role, index)
             : absl::StrCat(ProcessName(role, index), " (", address, ")");
}

Membership::Membership(MembershipOptions options)
    : options_(std::move(options)), files_(options_.host_files) {}

absl::Status Membership::Check(const RegisterRequest& request) const {
  const std::string who = ProcessName(request.role, request.index);
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
  const int limit = request.role == Role::kPs ? options_.num_ps : kMaxWorkers;
  if (request.index < 0 || request.index >= limit) {
    return absl::InvalidArgumentError(absl::StrCat(
        who, ": the index must be in [0, ", limit, ")",
        request.role == Role::kPs ? ": --ps_hosts has as many entries" : ""));
  }
  SHOAL_RETURN_IF_ERROR(
      CheckSameConfig(who, request.config, "the coordinator", options_.config));
  if (request.role == Role::kWorker) return files_.Check(request);
  return absl::OkStatus();
}

absl::StatusOr<Life> Membership::Register(const RegisterRequest& request,
                                          absl::Time now) {
  SHOAL_RETURN_IF_ERROR(Check(request));
  const Key key{request.role, request.index};
  const auto it = members_.find(key);
  if (it != members_.end() &&
      (it->second.open() || request.sent <= it->second.sent)) {
    return absl::AlreadyExistsError(absl::StrCat(
        it->second.Name(), " is alive already, as life ",
        ToString(it->second.life), ", and was heard ",
        absl::FormatDuration(now - it->second.heard),
        " ago; if it was killed, it is taken for dead after ",
        absl::FormatDuration(options_.silent_after), " of silence"));
  }
  const auto lost = opened_ps_.find(key);
  if (lost != opened_ps_.end()) {
    return absl::FailedPreconditionError(absl::StrCat(
        ProcessName(request.role, request.index), " was in this job as life ",
        ToString(lost->second),
        " and its shard's state died with that life; start the job again"));
  }
  if (it != members_.end()) Remove(it->second.life);
  Member member;
  member.role = request.role;
  member.index = request.index;
  member.life = Life{options_.start, next_life_++};
  member.heard = now;
  member.sent = request.sent;
  if (request.role == Role::kPs) {
    member.address = request.address;
  } else {
    files_.Add(request);
  }
  members_[key] = member;
  return member.life;
}

absl::StatusOr<const Member*> Membership::Open(uint64_t session, Life life,
                                               absl::Time now) {
  for (auto& [key, member] : members_) {
    if (member.life != life) continue;
    if (member.open()) {
      return absl::AlreadyExistsError(
          absl::StrCat(member.Name(), ": life ", ToString(life),
                       " has an open session; register again for another"));
    }
    member.session = session;
    member.heard = now;
    if (member.role == Role::kPs) opened_ps_[key] = life;
    return &member;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "life ", ToString(life),
      " is not known here, or was taken for dead; register again"));
}

const Member* Membership::FindSession(uint64_t session) const {
  if (session == 0) return nullptr;
  for (const auto& [key, member] : members_) {
    if (member.session == session) return &member;
  }
  return nullptr;
}

const Member* Membership::Find(Role role, int index) const {
  const auto it = members_.find({role, index});
  return it == members_.end() ? nullptr : &it->second;
}

void Membership::Heard(uint64_t session, absl::Time now) {
  for (auto& [key, member] : members_) {
    if (member.session == session) member.heard = now;
  }
}

std::vector<Member> Membership::Silent(absl::Time now) const {
  std::vector<Member> silent;
  for (const auto& [key, member] : members_) {
    if (now - member.heard > options_.silent_after) silent.push_back(member);
  }
  return silent;
}

void Membership::Remove(Life life) {
  bool worker_left = false;
  for (auto it = members_.begin(); it != members_.end();) {
    if (it->second.life == life) {
      it = members_.erase(it);
    } else {
      worker_left = worker_left || it->second.role == Role::kWorker;
      ++it;
    }
  }
  if (!worker_left) files_.ForgetUnlessPinned();
}

std::vector<Member> Membership::members() const {
  std::vector<Member> all;
  for (const auto& [key, member] : members_) all.push_back(member);
  return all;
}

std::vector<Member> Membership::Open(Role role) const {
  std::vector<Member> open;
  for (const auto& [key, member] : members_) {
    if (member.role == role && member.open()) open.push_back(member);
  }
  return open;
}

}  // namespace shoal
