#include "coordinator/job_start.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "core/config_text.h"

namespace shoal {
namespace {

// The only map of a job so far.
constexpr MapVersion kMapVersion = 1;

// For people, what follows the trained samples: "" if the mode of training is
// that of the checkpoint.
std::string ModeChange(absl::string_view saved, absl::string_view config) {
  const absl::string_view before = ConfigValue(saved, "mode");
  const absl::string_view now = ConfigValue(config, "mode");
  if (before.empty() || before == now) return "";
  return absl::StrCat(" with --mode=", before,
                      ", and the job goes on with --mode=", now);
}

}  // namespace

JobStart::JobStart(const CoordinatorOptions& options)
    : ps_(options.ps),
      num_ps_(options.ps.count),
      ring_ranks_(options.ring ? options.num_workers : 0),
      num_epochs_(options.num_epochs),
      checkpoints_(options.checkpoints),
      goes_on_(checkpoints_.resume != nullptr && checkpoints_.resume_training),
      mode_change_(goes_on_ ? ModeChange(checkpoints_.resume->config,
                                         options.config)
                            : ""),
      loaded_(options.ps.count, goes_on_) {}

void JobStart::Direct(RegisterReply* reply) const {
  if (checkpoints_.resume == nullptr) {
    reply->initialise = true;
  } else {
    reply->load =
        LoadFrom{checkpoints_.resume_name, OfferOf(checkpoints_.resume_text)};
  }
}

bool JobStart::AllPs(const Membership& membership) const {
  return membership.Open(Role::kPs).size() == static_cast<size_t>(num_ps_) &&
         loaded_.all();
}

bool JobStart::ViewIsDue(const Membership& membership) const {
  for (int rank = 0; rank < ring_ranks_; ++rank) {
    const Member* const worker = membership.Find(Role::kWorker, rank);
    if (worker == nullptr || !worker->open()) return false;
  }
  return AllPs(membership);
}

ClusterView JobStart::ViewOf(const View& view) const {
  ClusterView out;
  out.map_version = kMapVersion;
  out.generation = view.generation;
  // By index, so a lost replica leaves an entry without a life.
  out.ps.resize(static_cast<size_t>(ps_.count));
  for (const Member& ps : view.membership.Open(Role::kPs)) {
    out.ps[static_cast<size_t>(ps.index)] = PsInfo{ps.address, ps.life};
  }
  if (ring_ranks_ == 0) return out;
  for (const Member& worker : view.membership.Open(Role::kWorker)) {
    out.ranks.push_back(RankInfo{worker.ring_address, worker.life});
  }
  return out;
}

void JobStart::SendViews(const View& view, CoordinatorActions* actions) {
  const ClusterView message = ViewOf(view);
  for (const Member& member : view.membership.members()) {
    if (member.open()) Send(member, message, actions);
  }
}

CoordinatorActions JobStart::SendViewToWorkers(const View& view) const {
  CoordinatorActions actions;
  const ClusterView message = ViewOf(view);
  for (const Member& worker : view.membership.Open(Role::kWorker)) {
    Send(worker, message, &actions);
  }
  return actions;
}

void JobStart::OnReplicaLost(int member) {
  --num_ps_;
  loaded_.Leave(member);
}

CoordinatorActions JobStart::OnOpen(const Member& member, const View& view) {
  CoordinatorActions actions;
  if (member.role == Role::kPs && checkpoints_.resume == nullptr) {
    // The PS starts from the initial values.
    loaded_.AddMember(member.index, {}).IgnoreError();
  }
  if (!ViewIsDue(view.membership)) return actions;
  if (member.role == Role::kPs || ring_ranks_ > 0) {
    // The last PS or rank: the processes that came before it have waited for
    // it.
    SendViews(view, &actions);
  } else {
    Send(member, ViewOf(view), &actions);
  }
  return actions;
}

CoordinatorActions JobStart::OnGone(const Member& ps, const View& view) {
  CoordinatorActions actions;
  loaded_.Drop(ps.index);
  AskForMarks(view, &actions);
  return actions;
}

absl::StatusOr<JobEffects> JobStart::OnLoaded(const Member& from,
                                              const ShardLoaded& message,
                                              const View& view) {
  if (checkpoints_.resume == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.Name(), " loaded a checkpoint that it was not asked to load"));
  }
  JobEffects effects;
  if (view.phase >= JobPhase::kTraining) return effects;
  const absl::Status same = loaded_.AddMember(from.index, message.marks);
  if (!same.ok()) return EndWith(same);
  AskForMarks(view, &effects.actions);
  if (ViewIsDue(view.membership)) SendViews(view, &effects.actions);
  return effects;
}

absl::StatusOr<JobEffects> JobStart::OnMarks(const Member& from,
                                             MarkRuns message,
                                             const View& view) {
  JobEffects effects;
  if (view.phase >= JobPhase::kTraining) return effects;
  const absl::Status added = loaded_.Add(from.index, std::move(message));
  if (!added.ok()) return EndUnlessInvalid(from, added);
  AskForMarks(view, &effects.actions);
  if (ViewIsDue(view.membership)) SendViews(view, &effects.actions);
  return effects;
}

void JobStart::AskForMarks(const View& view, CoordinatorActions* actions) {
  if (view.phase != JobPhase::kGathering) return;
  const std::optional<MarkRunsRequest> request = loaded_.Ask();
  if (!request.has_value()) return;
  const Member* const ps = view.membership.Find(Role::kPs, loaded_.source());
  if (ps != nullptr && ps->open()) Send(*ps, *request, actions);
}

absl::Status JobStart::StartRestoring(const FileList& files,
                                      TrainingBook* book) {
  SHOAL_DCHECK(goes_on_ && loaded_.all());
  return book->StartRestoring(checkpoints_.resume, checkpoints_.resume_path(),
                              files, loaded_.Take());
}

absl::StatusOr<bool> JobStart::Restore(TrainingBook* book,
                                       CoordinatorActions* actions) {
  SHOAL_ASSIGN_OR_RETURN(const bool done, book->Restore());
  if (done) {
    Log(LogLevel::kInfo,
        absl::StrCat("resumed from ", checkpoints_.resume_path(), ", step ",
                     book->totals().batches, ", epoch ",
                     std::max(book->restored_epochs(), 1u), " of ", num_epochs_,
                     ", ", Counted(book->totals().trained, "sample"),
                     " trained", mode_change_),
        actions);
  } else if (!std::exchange(continues_, true)) {
    actions->emplace_back(ContinueAction{});
  }
  return done;
}

}  // namespace shoal
