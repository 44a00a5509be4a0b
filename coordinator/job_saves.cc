#include "coordinator/job_saves.h"

#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

CheckpointSaverOptions SaverOf(const CoordinatorOptions& options) {
  CheckpointSaverOptions saver;
  saver.deadline = options.checkpoints.deadline;
  saver.first_attempt = options.checkpoints.first_attempt;
  saver.mends = !options.lanes;
  return saver;
}

void Add(CoordinatorActions more, JobEffects* effects) {
  for (CoordinatorAction& action : more) {
    effects->actions.push_back(std::move(action));
  }
}

void Add(JobEffects more, JobEffects* effects) {
  Add(std::move(more.actions), effects);
  if (more.end.has_value()) effects->end = std::move(more.end);
}

JobSteps::View StepsOf(const JobSaves::View& view) {
  return JobSteps::ViewOf(view.membership, view.book);
}

}  // namespace

JobSaves::JobSaves(const CoordinatorOptions& options)
    : options_(options),
      saver_(SaverOf(options)),
      policy_(options.checkpoints),
      manifests_(options.checkpoints) {}

void JobSaves::GoOnFrom(const TrainingBook& book) {
  saver_.SetSaved(book.totals().batches, options_.checkpoints.resume_name);
  policy_.GoOnFrom(book.totals().batches, book.examples());
}

SavePolicy::View JobSaves::PolicyView(const View& view) const {
  SavePolicy::View policy;
  policy.phase = view.phase;
  policy.step = view.book.totals().batches;
  policy.trained = view.book.complete();
  policy.busy = saver_.busy();
  policy.late = saver_.late();
  policy.sound = view.sound;
  return policy;
}

JobEffects JobSaves::Request(uint64_t request, const View& view) {
  JobEffects effects;
  Add(policy_.Request(request, PolicyView(view)), &effects);
  return effects;
}

JobEffects JobSaves::Stop(const absl::Status& reason, std::string first,
                          const View& view) {
  JobEffects effects;
  Add(policy_.Stop(reason, std::move(first), PolicyView(view), view.now),
      &effects);
  saver_.Hurry(policy_.stop_deadline());
  return effects;
}

JobEffects JobSaves::SaveEnd(const View& view) {
  JobEffects effects;
  if (view.changing) return effects;
  if (policy_.EndDue(PolicyView(view), view.now)) Begin(view, &effects);
  return effects;
}

JobEffects JobSaves::Step(const View& view) {
  JobEffects effects;
  if (!Leases(view.phase) && view.phase != JobPhase::kReporting) return effects;
  if (saver_.busy()) {
    Drive(view, &effects, [&](const CheckpointSaver::View& saver) {
      return saver_.Step(saver, view.now);
    });
  }
  if (effects.end.has_value()) return effects;
  if (Leases(view.phase) && saver_.late()) {
    Add(policy_.Step(PolicyView(view), view.now), &effects);
  }
  if (effects.end.has_value()) return effects;
  if (view.changing) {
    Add(policy_.StepWithoutSave(PolicyView(view), view.now), &effects);
    return effects;
  }
  if (policy_.Due(PolicyView(view), view.now)) Begin(view, &effects);
  return effects;
}

JobEffects JobSaves::Interrupt(const View& view) {
  JobEffects effects;
  Perform(saver_.Interrupt(absl::AbortedError("the workers of the job change"),
                           view.now),
          view, &effects);
  return effects;
}

JobEffects JobSaves::End(const View& view) {
  JobEffects effects;
  Perform(saver_.Void(policy_.Ending(PolicyView(view)), view.now), view,
          &effects);
  Add(policy_.RefuseAll(), &effects);
  return effects;
}

void JobSaves::OnCommitted(uint64_t number,
                           absl::StatusOr<ManifestText> manifest) {
  if (manifest.ok()) manifests_.OnWritten(*manifest);
  saver_.OnCommitted(number, manifest.status(),
                     manifest.ok() ? OfferOf(*manifest) : ManifestOffer{});
}

void JobSaves::Begin(const View& view, JobEffects* effects) {
  policy_.Begin();
  Drive(view, effects, [&](const CheckpointSaver::View& saver) {
    return saver_.Begin(saver, policy_.stop_deadline(), view.now);
  });
  // Where no step is open the hold is reached at once.
  if (view.steps == nullptr || !view.steps->held()) return;
  Drive(view, effects, [&](const CheckpointSaver::View& saver) {
    return saver_.Step(saver, view.now);
  });
}

void JobSaves::Drive(
    const View& view, JobEffects* effects,
    absl::FunctionRef<SaverActions(const CheckpointSaver::View&)> use) {
  // While training goes on the saver does not need them, and this runs after
  // every mark.
  std::vector<std::pair<uint32_t, uint32_t>> half_marked;
  if (saver_.withholds()) half_marked = view.book.HalfMarked();
  CheckpointSaver::View saver;
  saver.ps = view.membership.Open(Role::kPs);
  saver.workers = view.membership.Open(Role::kWorker);
  saver.members = options_.ps;
  saver.step = view.book.totals().batches;
  saver.trained = view.book.complete();
  saver.half_marked = half_marked;
  saver.steps_held = view.steps == nullptr || view.steps->held();
  Perform(use(saver), view, effects);
}

void JobSaves::Perform(SaverActions actions, const View& view,
                       JobEffects* effects) {
  for (SaverAction& action : actions) {
    std::visit([&](auto& a) { Do(a, view, effects); }, action);
  }
}

void JobSaves::Do(SaverHoldSteps&, const View& view, JobEffects* effects) {
  Add(view.steps->Hold(StepsOf(view)), effects);
}

void JobSaves::Do(SaverSend& send, const View& view, JobEffects* effects) {
  const Member* const member = view.membership.FindLife(send.to);
  if (member == nullptr || !member->open()) return;
  Send(*member, std::move(send.message), &effects->actions);
}

// Gives the half-marked batches of a piece to a worker that can read it.
void JobSaves::Do(SaverMend& mend, const View& view, JobEffects* effects) {
  const JobFiles& job_files = view.membership.files();
  const FileList& files = job_files.train();
  const uint32_t source = view.book.facts().piece(mend.piece).source;
  for (const Member& worker : view.membership.Open(Role::kWorker)) {
    if (worker.suspended) continue;
    if (!files.hosts.empty() &&
        files.hosts[source] != job_files.HostOf(worker.index)) {
      continue;
    }
    Lease lease = view.book.MendOf(mend.epoch, mend.piece);
    lease.number = view.desk.TakeNumber();
    lease.piece.source = files.LocalIndex(source);
    lease.batch_size = options_.batch_size;
    saver_.OnMendGranted(mend, lease.number, worker.life);
    Log(LogLevel::kInfo,
        absl::StrCat("before the checkpoint, ", worker.Name(),
                     " trains batches of ", view.book.facts().Name(mend.piece),
                     " that some shards lack"),
        &effects->actions);
    Send(worker, LeaseGrant{std::move(lease)}, &effects->actions);
    return;
  }
}

void JobSaves::Do(SaverCut& cut, const View& view, JobEffects*) {
  policy_.OnCut(view.book.totals().batches, view.sound);
  Manifest manifest;
  manifest.time = view.clock;
  manifest.job = options_.job;
  manifest.attempt = cut.attempt;
  manifest.start = options_.start;
  manifest.config = options_.config;
  manifest.model = options_.checkpoints.model;
  manifest.map = options_.checkpoints.map;
  manifest.data.sources = view.membership.files().train().files;
  manifest.data.ids = view.membership.files().ids();
  manifest.data.hosts = view.membership.files().train().hosts;
  view.book.SaveInto(&manifest);
  if (!view.sound) manifest.notes[kDivergingNote] = "true";
  manifests_.Cut(std::move(manifest));
}

void JobSaves::Do(SaverReleased&, const View& view, JobEffects* effects) {
  effects->released = true;
  if (view.steps == nullptr) return;
  Add(view.steps->Release(StepsOf(view)), effects);
}

void JobSaves::Do(SaverLate& late, const View& view, JobEffects* effects) {
  const bool trains = !saver_.withholds() && !view.book.complete();
  Add(policy_.OnLate(late, trains), effects);
}

void JobSaves::Do(SaverCommit& commit, const View&, JobEffects* effects) {
  const uint64_t number = commit.number;
  absl::StatusOr<CommitAction> action = manifests_.Finish(std::move(commit));
  if (action.ok()) {
    effects->actions.emplace_back(*std::move(action));
  } else {
    // The saver takes this at its next Step.
    saver_.OnCommitted(number, action.status(), {});
  }
}

void JobSaves::Do(SaverDone& done, const View& view, JobEffects* effects) {
  manifests_.Drop();
  if (done.interrupted) {
    Add(policy_.OnInterrupted(done), effects);
    return;
  }
  Add(policy_.OnDone(done, PolicyView(view), view.now), effects);
  if (done.torn) Add(EndWith(done.status), effects);
}

}  // namespace shoal
