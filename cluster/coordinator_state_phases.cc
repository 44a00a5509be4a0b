#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "cluster/canary_check.h"
#include "cluster/coordinator_state.h"
#include "core/piece_table.h"

namespace shoal {
namespace {

// The only map of a job so far.
constexpr MapVersion kMapVersion = 1;

// By piece, who alone can read it; empty: everybody.
std::vector<int> HostsOf(const PieceFacts& pieces, const FileList& files) {
  std::vector<int> hosts;
  if (files.hosts.empty()) return hosts;
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    hosts.push_back(files.hosts[pieces.piece(i).source]);
  }
  return hosts;
}

}  // namespace

bool CoordinatorState::AllPsOpen() const {
  return membership_.Open(Role::kPs).size() ==
             static_cast<size_t>(options_.num_ps) &&
         AllPsLoaded();
}

ClusterView CoordinatorState::View() const {
  ClusterView view;
  view.map_version = kMapVersion;
  for (const Member& ps : membership_.Open(Role::kPs)) {
    view.ps.push_back(PsInfo{ps.address, ps.life});
  }
  return view;
}

void CoordinatorState::SendViews() {
  for (const Member& member : membership_.members()) {
    if (member.open()) Send(member, View());
  }
}

void CoordinatorState::Step() {
  if (!membership_.Open(Role::kWorker).empty()) clock_.SeeWorker();
  if (phase_ == JobPhase::kRestoring) {
    ContinueRestoring();
  } else if (phase_ == JobPhase::kGathering &&
             clock_.Gather(AllPsOpen(),
                           membership_.Open(Role::kWorker).size())) {
    StartTraining();
  }
  StepSave();
  if (phase_ == JobPhase::kTraining && train_facts_.size() != 0 &&
      ledger_.AllComplete() && ledger_.totals().batches == 0) {
    End(absl::InvalidArgumentError(absl::StrCat(
        "--training_data_dir has no row to train on: ",
        train_facts_.bad_rows() == 0
            ? "there is none"
            : absl::StrCat("all ", train_facts_.bad_rows(),
                           " are bad; the first: ", FirstBadRow()))));
  }
  // One evaluation at a time is worked out: two would need twice the memory.
  if (phase_ == JobPhase::kTraining && !evaluation_.working_out() &&
      ledger_.CompleteEpochs() >= evaluation_.due_after() &&
      (!ledger_.AllComplete() || SavedAtEnd())) {
    if (ledger_.AllComplete()) {
      const LedgerTotals& totals = ledger_.totals();
      const uint64_t examples = totals.trained + totals.rejected;
      progress_.OnTrained(examples, clock_.clock());
      if (progress_.steady_open()) {
        progress_.CloseSteady(examples, clock_.clock());
      }
    }
    StartEvaluating();
  }
  if (phase_ == JobPhase::kEvaluating) ContinueEvaluating();
  if (Leases(phase_)) {
    GrantLeases();
  }
  if (phase_ == JobPhase::kReporting &&
      reported_shards_.size() == static_cast<size_t>(options_.num_ps)) {
    const LedgerTotals& totals = ledger_.totals();
    absl::Status status = CheckCanaries(
        Report(clock_.clock()).ps, totals.batches - totals.rejected_batches);
    status.Update(policy_.end_status());
    End(std::move(status));
  }
  if (phase_ == JobPhase::kEnding &&
      (membership_.empty() || clock_.LingerOver())) {
    for (const Member& member : membership_.members()) {
      Forget(member,
             absl::DeadlineExceededError(absl::StrCat(
                 member.Name(), " said no Bye within ",
                 absl::FormatDuration(options_.linger), " of the job's end")));
    }
    phase_ = JobPhase::kFinished;
    actions_.emplace_back(FinishedAction{});
  }
}

absl::Status CoordinatorState::CheckSavable(
    absl::Span<const Piece> pieces) const {
  if (!options_.checkpoints.save) return absl::OkStatus();
  const uint64_t bytes = ManifestBytesOf(pieces);
  if (bytes <= kPiecesBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the data are ", pieces.size(), " pieces, which may take ", bytes,
      " bytes of a checkpoint's manifest, where ", kPiecesBytesMax,
      " are theirs: give a larger --piece_bytes (0: each file is one piece)"));
}

void CoordinatorState::StartTraining() {
  membership_.Begin();
  const FileList& train_files = membership_.files().train();
  const FileList& eval_files = membership_.files().eval();
  std::optional<uint64_t> piece_bytes;
  if (options_.piece_bytes >= 0) {
    piece_bytes = static_cast<uint64_t>(options_.piece_bytes);
  }
  const bool trains = options_.task == JobTask::kTrain;
  auto train = BuildPieceTable(
      trains ? train_files.files : std::vector<SourceInfo>{}, piece_bytes);
  auto eval = BuildPieceTable(eval_files.files, piece_bytes);
  if (!train.ok() || !eval.ok()) {
    End(train.ok() ? eval.status() : train.status());
    return;
  }
  if (const absl::Status fits = CheckSavable(*train); !fits.ok()) {
    End(fits);
    return;
  }
  train_facts_ = PieceFacts("training", train_files.files, *std::move(train),
                            options_.batch_size);
  PieceFacts to_score("evaluation", eval_files.files, *std::move(eval),
                      options_.batch_size);
  const bool untrained = trains && !train_files.files.empty();
  if (train_facts_.size() == 0 && (untrained || to_score.size() == 0)) {
    End(absl::InvalidArgumentError(absl::StrCat(
        "all files of ", trains ? "--training_data_dir" : "--val_data_dir",
        " are empty")));
    return;
  }
  if (to_score.size() == 0 && !eval_files.files.empty()) {
    End(absl::InvalidArgumentError("all files of --val_data_dir are empty"));
    return;
  }
  MakeTables();
  EvaluationRunOptions scores = EvaluationOptions();
  scores.leases.hosts = HostsOf(to_score, eval_files);
  evaluation_ = EvaluationRun(std::move(scores), std::move(to_score));
  if (GoesOn()) {
    StartRestoring();
  } else {
    BeginTraining();
  }
}

void CoordinatorState::MakeTables() {
  LedgerOptions ledger;
  ledger.num_shards = options_.num_ps;
  ledger.num_epochs = options_.num_epochs;
  ledger.num_pieces = train_facts_.size();
  ledger.batch_size = options_.batch_size;
  ledger_ = Ledger(ledger);
  LeaseTableOptions leases;
  leases.hosts = HostsOf(train_facts_, membership_.files().train());
  leases.num_epochs = options_.num_epochs;
  leases.num_pieces = train_facts_.size();
  leases.seed = options_.seed;
  leases.shuffle = options_.shuffle;
  leases.lease_time = options_.worker_lease;
  leases.speculate_after = options_.speculate_after;
  train_leases_ = LeaseTable(leases);
}

void CoordinatorState::BeginTraining() {
  PlanEvaluation();
  phase_ = JobPhase::kTraining;
  clock_.BeginPhase();
  if (options_.task != JobTask::kTrain) return;
  Log(LogLevel::kInfo,
      absl::StrCat("training on ", train_facts_.bytes(), " bytes in ",
                   Counted(train_facts_.size(), "piece"), ", ",
                   Counted(options_.num_epochs, "epoch"), ", with ",
                   options_.num_ps, " ps and ",
                   Counted(membership_.Open(Role::kWorker).size(), "worker")));
}

EvaluationRunOptions CoordinatorState::EvaluationOptions() const {
  EvaluationRunOptions evaluation;
  evaluation.task = options_.task;
  evaluation.batch_size = options_.batch_size;
  evaluation.num_epochs = options_.num_epochs;
  evaluation.eval_every_epochs = options_.eval_every_epochs;
  evaluation.auc_exact_rows = options_.auc_exact_rows;
  evaluation.pieces_ahead =
      2 * static_cast<uint32_t>(std::max(1, options_.num_workers));
  evaluation.leases.lease_time = options_.worker_lease;
  evaluation.leases.speculate_after = options_.speculate_after;
  return evaluation;
}

void CoordinatorState::StartReporting() {
  phase_ = JobPhase::kReporting;
  clock_.BeginPhase();
  waiting_.Clear();
  for (const Member& ps : membership_.Open(Role::kPs)) Send(ps, ReportShard{});
}

void CoordinatorState::End(absl::Status status) {
  if (phase_ >= JobPhase::kEnding) return;
  phase_ = JobPhase::kEnding;
  clock_.BeginPhase();
  status_ = std::move(status);
  waiting_.Clear();
  EndSaves();
  progress_.End(clock_.clock());
  const JobEnd end{status_, SummaryLines(Report(clock_.clock()))};
  for (const Member& member : membership_.members()) {
    if (member.open()) Send(member, end);
  }
}

void CoordinatorState::GrantLeases() {
  if (saver_.withholds()) return;
  WakeWaiting();
  while (!waiting_.empty() && !leases().NothingToTake(clock_.now())) {
    const std::optional<Life> life = waiting_.Next();
    if (!life.has_value()) break;
    const Member* const worker = membership_.FindLife(*life);
    if (worker == nullptr || !worker->open()) {
      waiting_.Forget(*life);
      continue;
    }
    if (worker->suspended) {
      waiting_.PutBack(*life);
      continue;
    }
    const std::optional<LeaseTable::Held> held =
        leases().Take(*life, worker->index, next_lease_, clock_.now());
    if (held.has_value()) {
      ++next_lease_;
      waiting_.Forget(*life);
      Grant(*worker, *held);
    } else if (leases().has_hosts()) {
      waiting_.Park(*life, worker->index);
    } else {
      waiting_.PutBack(*life);
    }
    // What was passed over for this worker may be another host's.
    WakeWaiting();
  }
  waiting_.Retry();
}

void CoordinatorState::WakeWaiting() {
  for (const int host : leases().TakeNews()) {
    if (host == LeaseTable::kEveryHost) {
      waiting_.WakeAll();
    } else {
      waiting_.Wake(host);
    }
  }
}

void CoordinatorState::Grant(const Member& worker,
                             const LeaseTable::Held& held) {
  Lease lease;
  if (phase_ == JobPhase::kEvaluating) {
    lease = evaluation_.LeaseOf(held);
  } else {
    lease.purpose = LeasePurpose::kTrain;
    lease.epoch = held.epoch;
    lease.piece = train_facts_.piece(held.piece);
    lease.skip = ledger_.CompleteBatches(held.epoch, held.piece);
    lease.rejected = ledger_.HalfRejected(held.epoch, held.piece);
    lease.backwards = held.copy;
    if (options_.warmup_steps <= 0 && !progress_.steady_open()) {
      const LedgerTotals& totals = ledger_.totals();
      progress_.OpenSteady(totals.trained + totals.rejected, clock_.clock());
    }
  }
  progress_.Start(clock_.clock());
  lease.number = held.number;
  lease.batch_size = options_.batch_size;
  const FileList& files = phase_ == JobPhase::kTraining
                              ? membership_.files().train()
                              : membership_.files().eval();
  lease.piece.source = files.LocalIndex(lease.piece.source);
  Send(worker, LeaseGrant{std::move(lease)});
}

absl::Status CoordinatorState::TooLate(Overdue what) const {
  const std::string start = absl::FormatDuration(options_.start_deadline);
  std::string why;
  switch (what) {
    case Overdue::kServers:
      why = absl::StrCat("after ", start, " ", MissingPs());
      break;
    case Overdue::kHosts:
      why = absl::StrCat("after ", start, " the job still lacks ", WaitingFor(),
                         ", whose files nobody else has (--data_scope=host)");
      break;
    case Overdue::kWorker:
      why = absl::StrCat("no worker is alive, for ", start, "; ",
                         options_.num_workers, " were expected");
      break;
    case Overdue::kProgress:
      why = absl::StrCat("nothing was trained or scored for ",
                         absl::FormatDuration(options_.progress_deadline), ": ",
                         WhoHoldsWhat());
      break;
    case Overdue::kReport: {
      std::vector<std::string> late;
      for (const Member& ps : membership_.Open(Role::kPs)) {
        if (reported_shards_.count(ps.index) == 0) late.push_back(ps.Name());
      }
      why = absl::StrCat(absl::StrJoin(late, ", "),
                         " did not report on its shard within ",
                         absl::FormatDuration(options_.report_deadline));
      break;
    }
  }
  return absl::DeadlineExceededError(why);
}

std::string CoordinatorState::MissingPs() const {
  std::vector<std::string> missing;
  for (int i = 0; i < options_.num_ps; ++i) {
    const Member* ps = membership_.Find(Role::kPs, i);
    if (ps != nullptr && ps->open()) {
      if (!AllPsLoaded() && !loaded_.has(i)) {
        missing.push_back(
            absl::StrCat(ps->Name(), ", which still loads its shard"));
      } else if (!AllPsLoaded() && loaded_.source() == i) {
        missing.push_back(
            absl::StrCat(ps->Name(), ", which still tells of its marks"));
      }
      continue;
    }
    const bool placed = static_cast<size_t>(i) < options_.ps_addresses.size();
    missing.push_back(absl::StrCat(
        ProcessName(Role::kPs, i),
        placed ? absl::StrCat(" (at ", options_.ps_addresses[i], ")") : "",
        ps != nullptr ? ", which registered but opened no session" : ""));
  }
  return absl::StrCat("the job still lacks ", absl::StrJoin(missing, "; "),
                      "; is it running, and can it reach the coordinator?");
}

std::string CoordinatorState::WhoHoldsWhat() const {
  const bool training = phase_ == JobPhase::kTraining;
  const PieceFacts& facts = training ? train_facts_ : evaluation_.facts();
  std::vector<std::string> parts;
  for (const LeaseTable::Held& held :
       (training ? train_leases_ : evaluation_.leases()).held()) {
    for (const Member& worker : membership_.Open(Role::kWorker)) {
      if (worker.life != held.owner) continue;
      parts.push_back(
          absl::StrCat(worker.Name(), " holds ", facts.Name(held.piece)));
    }
  }
  if (parts.empty()) parts.push_back("no live worker holds a lease");
  if (!last_lease_failure_.empty()) parts.push_back(last_lease_failure_);
  return absl::StrJoin(parts, "; ");
}

}  // namespace shoal
