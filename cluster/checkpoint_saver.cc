#include "cluster/checkpoint_saver.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "cluster/replica_check.h"

namespace shoal {
namespace {

size_t Count(int members) { return static_cast<size_t>(members); }

}  // namespace

void CheckpointSaver::SetSaved(uint64_t step, std::string directory) {
  saved_.step = step;
  saved_.directory = std::move(directory);
}

void CheckpointSaver::Send(Life to, CoordinatorMessage message) {
  actions_.emplace_back(SaverSend{to, std::move(message)});
}

SaverActions CheckpointSaver::Begin(const View& view, absl::Time deadline,
                                    absl::Time now) {
  SHOAL_DCHECK(!busy());
  began_ = now;
  hurry_ = deadline;
  deadline_ = std::min(deadline, now + options_.deadline);
  late_ = false;
  if (view.trained && IsSaved(view.step)) {
    actions_.emplace_back(SaverDone{absl::OkStatus(), saved_.directory,
                                    saved_.step, false, absl::ZeroDuration()});
    return Take();
  }
  failure_ = absl::OkStatus();
  torn_ = false;
  interrupted_ = false;
  workers_ = {};
  seals_ = {};
  mends_ = {};
  files_ = {};
  commit_ = {};
  released_.reset();
  if (view.steps_held) {
    StartHolding(view);
  } else {
    actions_.emplace_back(SaverHoldSteps{});
    phase_ = Phase::kAgreeing;
  }
  return Step(view, now);
}

void CheckpointSaver::StartHolding(const View& view) {
  workers_ = {next_number_++, {}, {}};
  for (const Member& worker : view.workers) {
    workers_.told.insert(worker.life);
    Send(worker.life, Hold{workers_.number});
  }
  phase_ = Phase::kHolding;
}

void CheckpointSaver::OnHeld(const Member& from, const Held& held) {
  if (from.role == Role::kWorker) {
    if (phase_ == Phase::kHolding && held.number == workers_.number) {
      workers_.held.insert(from.life);
    }
  } else if (phase_ == Phase::kSealing && held.number == seals_.number) {
    seals_.marks[from.index] = held.marks;
  }
}

void CheckpointSaver::OnWritten(const Member& from,
                                const ShardWritten& written) {
  // The number is the attempt's: no other save has it.
  if (phase_ != Phase::kWriting || written.number != seals_.number) return;
  if (files_.told.count(from.index) == 0) return;
  files_.written.insert(from.index);
}

void CheckpointSaver::OnSaved(const Member& from, ShardSaved& saved) {
  // It fails in kSealing where a shard cannot be sealed.
  const bool expected = phase_ == Phase::kWriting ||
                        phase_ == Phase::kSyncing ||
                        phase_ == Phase::kClearing ||
                        (phase_ == Phase::kSealing && !saved.status.ok());
  if (!expected || saved.number != seals_.number) return;
  if (phase_ != Phase::kSealing && files_.told.count(from.index) == 0) return;
  files_.answered.insert(from.index);
  if (phase_ == Phase::kClearing) return;
  if (saved.status.ok()) {
    files_.written.insert(from.index);
    files_.entries[from.index] = std::move(saved.entry);
  } else {
    failure_.Update(Annotate(saved.status, from.Name()));
  }
}

void CheckpointSaver::OnMendGranted(const SaverMend& mend, uint64_t lease,
                                    Life worker) {
  mends_.to_lease.erase(
      std::remove(mends_.to_lease.begin(), mends_.to_lease.end(), mend),
      mends_.to_lease.end());
  mends_.leases[lease] = worker;
}

void CheckpointSaver::OnLeaseEnd(uint64_t lease, const absl::Status& status) {
  if (mends_.leases.erase(lease) == 0) return;
  failure_.Update(
      Annotate(status, "a batch that not every shard has cannot be trained"));
}

void CheckpointSaver::OnCommitted(uint64_t number, const absl::Status& status,
                                  ManifestOffer manifest) {
  if (phase_ != Phase::kCommitting || number != seals_.number) return;
  failure_.Update(status);
  commit_.status = status;
  commit_.manifest = std::move(manifest);
}

SaverActions CheckpointSaver::Step(const View& view, absl::Time now) {
  if (!busy()) return Take();
  if (phase_ == Phase::kCommitting && commit_.status == absl::OkStatus()) {
    for (const Life& life : files_.sealed) {
      Send(life, CheckpointDone{directory_, commit_.manifest});
    }
    Finish(absl::OkStatus(), /*fresh=*/true, now);
    return Take();
  }
  ForgetLost(view);
  CheckDeadline(view, now);
  if (!failure_.ok()) return Void(failure_, now);
  if (phase_ == Phase::kAgreeing && view.steps_held) StartHolding(view);
  if (phase_ == Phase::kHolding &&
      std::all_of(view.workers.begin(), view.workers.end(),
                  [this](const Member& worker) {
                    return workers_.told.count(worker.life) == 0 ||
                           workers_.held.count(worker.life) != 0;
                  })) {
    StartSealing(view);
  }
  if (phase_ == Phase::kSealing) CheckSeals(view, now);
  if (phase_ == Phase::kMending) CheckMends(view);
  if (phase_ == Phase::kWriting) CheckWritten(view, now);
  if (phase_ == Phase::kSyncing) CheckSynced(view);
  if (phase_ == Phase::kClearing) CheckCleared();
  if (!failure_.ok()) return Void(failure_, now);
  return Take();
}

void CheckpointSaver::ForgetLost(const View& view) {
  for (auto it = files_.told.begin(); it != files_.told.end();) {
    const auto& [index, life] = *it;
    const bool there = std::any_of(
        view.ps.begin(), view.ps.end(),
        [&, of = life](const Member& ps) { return ps.life == of; });
    if (there) {
      ++it;
      continue;
    }
    const bool owes = phase_ == Phase::kWriting || phase_ == Phase::kSyncing;
    if (owes && files_.entries.count(index) == 0) {
      interrupted_ = true;
      failure_.Update(absl::AbortedError(absl::StrCat(
          ProcessName(Role::kWorker, index - view.members.replicated),
          " was lost before it had saved its copy of shard ",
          view.members.ShardOf(index))));
    }
    files_.answered.erase(index);
    it = files_.told.erase(it);
  }
}

void CheckpointSaver::CheckDeadline(const View& view, absl::Time now) {
  if (now < deadline_) return;
  if (!OnDisk()) {
    failure_.Update(absl::DeadlineExceededError(absl::StrCat(
        "it took longer than ", absl::FormatDuration(deadline_ - began_),
        ", waiting for ", WaitingFor(view))));
  } else if (!late_) {
    late_ = true;
    actions_.emplace_back(SaverLate{step_, now - began_, WaitingFor(view)});
  }
}

void CheckpointSaver::StartSealing(const View& view) {
  seals_ = {next_number_++, {}, {}};
  for (const Member& ps : view.ps) {
    seals_.told[ps.index] = ps.life;
    Send(ps.life, Hold{seals_.number});
  }
  phase_ = Phase::kSealing;
}

void CheckpointSaver::CompareCopies(const View& view) {
  for (const auto& [index, marks] : seals_.marks) {
    const int shard = view.members.ShardOf(index);
    // Replica r of a shard is the member `shard` + r.
    const auto& [first, others] = *seals_.marks.lower_bound(shard);
    if (marks == others) continue;
    torn_ = true;
    failure_ = absl::DataLossError(absl::StrCat(
        ReplicasDiffer(shard, first - shard, index - shard),
        " batches: ", others.applied, " + ", others.rejected, " and ",
        marks.applied, " + ", marks.rejected, " (trained + rejected). ",
        kReplicasDifferAdvice));
    return;
  }
}

void CheckpointSaver::CheckSeals(const View& view, absl::Time now) {
  if (seals_.marks.size() < seals_.told.size()) return;
  CompareCopies(view);
  if (!failure_.ok()) return;
  if (!view.half_marked.empty() && options_.mends) {
    StartMending(view);
    return;
  }
  if (!view.half_marked.empty()) {
    failure_ = absl::AbortedError(
        "not every shard has the batches of the newest step, in which a worker "
        "was lost; the next checkpoint has them");
    return;
  }
  for (const auto& [index, marks] : seals_.marks) {
    if (marks == seals_.marks.begin()->second &&
        marks.applied + marks.rejected == view.step) {
      continue;
    }
    failure_ = absl::InternalError(absl::StrCat(
        ProcessName(Role::kPs, index), " has the marks of ", marks.applied,
        " + ", marks.rejected, " batches, ", ProcessName(Role::kPs, 0),
        " those of ", seals_.marks.begin()->second.applied, " + ",
        seals_.marks.begin()->second.rejected, ", the coordinator counts ",
        view.step, ": a process outside this job is pushing to its servers"));
    return;
  }
  step_ = view.step;
  if (IsSaved(step_)) {
    // Marks only grow, so equal counts mean equal marks.
    directory_ = saved_.directory;
    Finish(absl::OkStatus(), /*fresh=*/false, now);
    return;
  }
  directory_ = CheckpointName(step_);
  const uint64_t attempt = options_.first_attempt + seals_.number;
  actions_.emplace_back(SaverCut{attempt});
  for (const auto& [index, life] : seals_.told) {
    files_.sealed.push_back(life);
    if (!Writes(view, index)) continue;
    files_.told[index] = life;
    Send(life, SaveShard{seals_.number, directory_, attempt});
  }
  phase_ = Phase::kWriting;
}

bool CheckpointSaver::Writes(const View& view, int index) {
  const int shard = view.members.ShardOf(index);
  return std::none_of(view.ps.begin(), view.ps.end(), [&](const Member& ps) {
    return ps.index < index && view.members.ShardOf(ps.index) == shard;
  });
}

void CheckpointSaver::StartMending(const View& view) {
  ReleaseShards();
  mends_.to_lease.clear();
  for (const auto& [epoch, piece] : view.half_marked) {
    mends_.to_lease.push_back({epoch, piece});
  }
  phase_ = Phase::kMending;
}

void CheckpointSaver::CheckMends(const View& view) {
  for (auto it = mends_.leases.begin(); it != mends_.leases.end();) {
    const bool alive = std::any_of(
        view.workers.begin(), view.workers.end(),
        [&](const Member& worker) { return worker.life == it->second; });
    it = alive ? std::next(it) : mends_.leases.erase(it);
  }
  for (const SaverMend& mend : mends_.to_lease) actions_.emplace_back(mend);
  if (mends_.to_lease.empty() && mends_.leases.empty()) StartSealing(view);
}

void CheckpointSaver::CheckWritten(const View& view, absl::Time now) {
  if (files_.written.size() < Count(view.members.num_shards())) return;
  if (hurry_ == absl::InfiniteFuture()) Release(now);
  deadline_ = std::min(hurry_, now + options_.deadline);
  phase_ = Phase::kSyncing;
}

void CheckpointSaver::CheckSynced(const View& view) {
  if (files_.entries.size() < Count(view.members.num_shards())) return;
  SaverCommit commit;
  commit.number = seals_.number;
  commit.directory = directory_;
  for (auto& [index, entry] : files_.entries) {
    commit.entries.push_back(std::move(entry));
  }
  actions_.emplace_back(std::move(commit));
  phase_ = Phase::kCommitting;
}

void CheckpointSaver::ReleaseShards() {
  for (const auto& [index, life] : seals_.told)
    Send(life, Resume{seals_.number});
  seals_.told.clear();
}

void CheckpointSaver::Release(absl::Time now) {
  ReleaseShards();
  // First, so that a shard that holds steps takes the workers' next pushes.
  actions_.emplace_back(SaverReleased{});
  for (const Life& life : workers_.told) Send(life, Resume{workers_.number});
  workers_.told.clear();
  released_ = now;
}

SaverActions CheckpointSaver::Void(absl::Status why, absl::Time now) {
  if (!busy()) return Take();
  if (phase_ == Phase::kClearing) {
    phase_ = Phase::kIdle;
    return Take();
  }
  failure_ = absl::OkStatus();
  if (phase_ == Phase::kCommitting &&
      (!commit_.status.has_value() || commit_.status->ok())) {
    // The manifest is written, or it is not known whether it will be: shards
    // must keep their files.
    files_.told.clear();
  }
  for (const auto& [index, life] : files_.told) {
    Send(life, CheckpointVoid{seals_.number});
  }
  Finish(std::move(why), /*fresh=*/true, now);
  if (files_.answered.size() < files_.told.size()) {
    phase_ = Phase::kClearing;
    late_ = false;
    deadline_ = std::min(hurry_, now + options_.deadline);
  }
  return Take();
}

SaverActions CheckpointSaver::Interrupt(absl::Status why, absl::Time now) {
  if (!busy() || phase_ == Phase::kClearing) return Take();
  if (OnDisk()) {
    if (!released_.has_value()) Release(now);
    return Take();
  }
  interrupted_ = true;
  return Void(std::move(why), now);
}

void CheckpointSaver::Finish(absl::Status status, bool fresh, absl::Time now) {
  if (status.ok()) SetSaved(step_, directory_);
  if (!released_.has_value()) Release(now);
  actions_.emplace_back(SaverDone{std::move(status), directory_, step_, fresh,
                                  *released_ - began_, torn_, interrupted_});
  phase_ = Phase::kIdle;
}

void CheckpointSaver::CheckCleared() {
  if (files_.answered.size() == files_.told.size()) phase_ = Phase::kIdle;
}

std::string CheckpointSaver::WaitingFor(const View& view) const {
  std::vector<std::string> names;
  const char* what = "";
  switch (phase_) {
    case Phase::kIdle:
      return "";
    case Phase::kAgreeing:
      return "the workers to end their common step";
    case Phase::kHolding:
      what = " to end the batches in flight";
      for (const Member& worker : view.workers) {
        if (workers_.told.count(worker.life) != 0 &&
            workers_.held.count(worker.life) == 0) {
          names.push_back(worker.Name());
        }
      }
      break;
    case Phase::kSealing:
      what = " to end the pushes in progress";
      for (const Member& ps : view.ps) {
        if (seals_.marks.count(ps.index) == 0) names.push_back(ps.Name());
      }
      break;
    case Phase::kMending:
      what = " to train the batches that not every shard has";
      for (const Member& worker : view.workers) {
        for (const auto& [lease, life] : mends_.leases) {
          if (life == worker.life) names.push_back(worker.Name());
        }
      }
      if (names.empty()) names.push_back("a worker");
      break;
    case Phase::kWriting:
      what = " to write its shard";
      for (const Member& ps : view.ps) {
        if (files_.told.count(ps.index) == 0) continue;
        if (files_.written.count(ps.index) == 0) names.push_back(ps.Name());
      }
      break;
    case Phase::kSyncing:
      what = " to sync its shard to the disk";
      for (const Member& ps : view.ps) {
        if (files_.told.count(ps.index) == 0) continue;
        if (files_.answered.count(ps.index) == 0) names.push_back(ps.Name());
      }
      break;
    case Phase::kCommitting:
      return "the manifest to be written";
    case Phase::kClearing:
      what = " to give up a checkpoint that failed";
      for (const Member& ps : view.ps) {
        const bool asked = files_.told.count(ps.index) != 0;
        if (asked && files_.answered.count(ps.index) == 0) {
          names.push_back(ps.Name());
        }
      }
      break;
  }
  return absl::StrCat(absl::StrJoin(names, ", "), what);
}

}  // namespace shoal
