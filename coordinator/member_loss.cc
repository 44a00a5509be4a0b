#include "coordinator/member_loss.h"

#include "absl/strings/str_cat.h"

namespace shoal {

namespace {

// The worker in the process of a rank has the same fate, and is told of.
LogLevel LevelOf(const Member& member) {
  return member.in_rank ? LogLevel::kDebug : LogLevel::kWarn;
}

}  // namespace

CoordinatorActions AfterBreak(const Member& member, const absl::Status& status,
                              absl::Duration silent_after,
                              bool fixed_workers) {
  CoordinatorActions actions;
  Log(LevelOf(member),
      absl::StrCat(
          "the connection of ", member.Name(), " broke (", status.message(),
          "); it has ", absl::FormatDuration(silent_after), " to come back",
          member.role == Role::kWorker && !fixed_workers
              ? ", and its pieces may be leased again"
              : ""),
      &actions);
  return actions;
}

CoordinatorActions Probes(const Membership& membership) {
  CoordinatorActions actions;
  for (const Member& ps : membership.Open(Role::kPs)) {
    if (!ps.suspended || ps.address.empty()) continue;
    actions.emplace_back(ProbeAction{ps.session, ps.address});
  }
  for (const Member& worker : membership.Open(Role::kWorker)) {
    if (!worker.suspended || worker.first_ring_address.empty()) continue;
    actions.emplace_back(
        ProbeAction{worker.session, worker.first_ring_address});
  }
  return actions;
}

MemberLoss Replaced(const Member& member) {
  return {member, absl::AbortedError("replaced by another process"),
          "died: its connection broke, and another process took its place"};
}

MemberLoss PortClosed(const Member& member) {
  return {
      member, absl::UnavailableError("its port is closed"),
      "died: its connection broke, and its address refuses new connections"};
}

MemberLoss SessionEnded(const Member& member, const absl::Status& status) {
  return {member, status,
          absl::StrCat(
              "died: its session ended before it left the job",
              status.ok() ? "" : absl::StrCat(" (", status.message(), ")"))};
}

MemberLoss Silent(const Member& member, absl::Duration silent_after) {
  const std::string silence = absl::FormatDuration(silent_after);
  if (member.suspended) {
    return {member,
            absl::DeadlineExceededError(absl::StrCat(
                member.Name(), " did not come back within ", silence)),
            absl::StrCat("died: its connection broke, and it did not come back "
                         "within ",
                         silence)};
  }
  return {member,
          absl::DeadlineExceededError(
              absl::StrCat(member.Name(), " was silent for more than ", silence,
                           " and was taken for dead")),
          absl::StrCat("was silent for more than ", silence,
                       " and is taken for dead")};
}

MemberLoss BrokeProtocol(const Member& member, const absl::Status& status) {
  return {member, status,
          absl::StrCat("broke the protocol: ", status.message())};
}

std::optional<MemberLoss> LostMarks(const Member& member,
                                    const MarkTotals& marks,
                                    uint64_t complete) {
  const uint64_t has = marks.applied + marks.rejected;
  if (member.role != Role::kPs || has >= complete) return std::nullopt;
  return MemberLoss{
      member,
      absl::FailedPreconditionError(absl::StrCat(
          member.Name(), " came back with ", has, " batches, but the job has ",
          complete, " complete batches: its shard has lost some of its state")),
      "came back with fewer batches than it had"};
}

std::string HostLeftAlone(const Member& member, const Membership& membership) {
  const JobFiles& files = membership.files();
  if (member.role != Role::kWorker || !files.pinned() ||
      !files.scopes().any()) {
    return "";
  }
  const int host = files.HostOf(member.index);
  for (const Member& worker : membership.Open(Role::kWorker)) {
    if (files.HostOf(worker.index) == host) return "";
  }
  return files.host_names()[host];
}

bool IsRankLoss(const Member& member, JobPhase phase, bool fixed_workers) {
  const bool rank =
      member.role == Role::kWorker || (member.open() && member.in_rank);
  return fixed_workers && rank &&
         phase > JobPhase::kGathering && phase < JobPhase::kReporting;
}

std::vector<Member> MembersOfProcess(const Member& member,
                                     const Membership& membership,
                                     const PsMembers& ps) {
  const bool worker = member.role == Role::kWorker;
  if (ps.replicated < 0 || (!worker && !member.in_rank)) return {member};
  const int rank = worker ? member.index : member.index - ps.replicated;
  const Member* const other =
      worker ? membership.Find(Role::kPs, ps.replicated + rank)
             : membership.Find(Role::kWorker, rank);
  if (other == nullptr || (worker && !other->in_rank)) return {member};
  return worker ? std::vector<Member>{member, *other}
                : std::vector<Member>{*other, member};
}

JobEffects AfterLoss(const MemberLoss& loss, JobPhase phase,
                     absl::Duration left_to_start,
                     const std::string& host_left_alone, bool fixed_workers) {
  JobEffects effects;
  if (phase >= JobPhase::kEnding) return effects;
  const Member& member = loss.member;
  const std::string what = absl::StrCat(member.Name(), " ", loss.how);
  if ((member.role == Role::kPs || fixed_workers) &&
      phase == JobPhase::kGathering) {
    Log(LevelOf(member),
        absl::StrCat(what,
                     "; nothing is trained yet, so another process may take "
                     "its place, within ",
                     absl::FormatDuration(left_to_start)),
        &effects.actions);
  } else if (IsRankLoss(member, phase, fixed_workers)) {
    if (!host_left_alone.empty()) {
      return EndWithLoss(
          absl::UnavailableError(absl::StrCat(
              what, "; no other worker can read the files of host ",
              host_left_alone)),
          member.Process());
    }
    Log(LogLevel::kWarn,
        absl::StrCat(what,
                     "; the other workers go on without it, and train again "
                     "what it had begun"),
        &effects.actions);
  } else if (fixed_workers && phase == JobPhase::kReporting &&
             (member.role == Role::kWorker || member.in_rank)) {
    Log(LogLevel::kWarn,
        absl::StrCat(what, "; everything is trained and scored without it"),
        &effects.actions);
  } else if (member.role == Role::kPs && member.open()) {
    return EndWithLoss(absl::UnavailableError(
                           absl::StrCat(what, "; its shard's state is lost")),
                       member.Process());
  } else {
    const std::string work =
        host_left_alone.empty()
            ? "; its work is given to other workers"
            : absl::StrCat("; work on the files of host ", host_left_alone,
                           " waits until a worker is there again");
    Log(LogLevel::kWarn,
        absl::StrCat(what, member.role == Role::kWorker ? work : ""),
        &effects.actions);
  }
  return effects;
}

}  // namespace shoal
