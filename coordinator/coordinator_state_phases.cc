#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "cluster/canary_check.h"
#include "coordinator/coordinator_state.h"
#include "coordinator/job_pieces.h"

namespace shoal {
namespace {

// The only map of a job so far.
constexpr MapVersion kMapVersion = 1;

TrainingBookOptions BookOf(const CoordinatorOptions& options) {
  TrainingBookOptions book;
  book.num_shards = options.num_ps;
  book.batch_size = options.batch_size;
  book.leases.num_epochs = options.num_epochs;
  book.leases.seed = options.seed;
  book.leases.shuffle = options.shuffle;
  book.leases.lease_time = options.worker_lease;
  book.leases.speculate_after = options.speculate_after;
  return book;
}

EvaluationRunOptions EvaluationOf(const CoordinatorOptions& options) {
  EvaluationRunOptions evaluation;
  evaluation.task = options.task;
  evaluation.batch_size = options.batch_size;
  evaluation.num_epochs = options.num_epochs;
  evaluation.eval_every_epochs = options.eval_every_epochs;
  evaluation.auc_exact_rows = options.auc_exact_rows;
  evaluation.metrics = options.metrics;
  evaluation.pieces_ahead =
      2 * static_cast<uint32_t>(std::max(1, options.num_workers));
  evaluation.leases.lease_time = options.worker_lease;
  evaluation.leases.speculate_after = options.speculate_after;
  return evaluation;
}

}  // namespace

bool CoordinatorState::AllPsOpen() const {
  return membership_.Open(Role::kPs).size() ==
             static_cast<size_t>(options_.num_ps) &&
         loaded_.all();
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
  Perform(saves_.Step(SavesView()));
  if (phase_ == JobPhase::kTraining && book_.HasNoRow()) {
    End(absl::InvalidArgumentError(absl::StrCat(
        "--training_data_dir has no row to train on: ",
        book_.facts().bad_rows() == 0
            ? "there is none"
            : absl::StrCat("all ", book_.facts().bad_rows(),
                           " are bad; the first: ", FirstBadRow()))));
  }
  // One evaluation at a time is worked out: two would need twice the memory.
  if (phase_ == JobPhase::kTraining && !evaluation_.working_out() &&
      book_.CompleteEpochs() >= evaluation_.due_after() &&
      (!book_.complete() || SavedAtEnd())) {
    if (book_.complete()) {
      progress_.OnTrained(book_.examples(), clock_.clock());
      if (progress_.steady_open()) {
        progress_.CloseSteady(book_.examples(), clock_.clock());
      }
    }
    StartEvaluating();
  }
  if (phase_ == JobPhase::kEvaluating) ContinueEvaluating();
  if (Leases(phase_)) {
    GrantLeases();
  }
  if (phase_ == JobPhase::kReporting &&
      progress_.reports() == static_cast<size_t>(options_.num_ps)) {
    const LedgerTotals& totals = book_.totals();
    absl::Status status = CheckCanaries(
        Report(clock_.clock()).ps, totals.batches - totals.rejected_batches);
    status.Update(saves_.end_status());
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

void CoordinatorState::StartTraining() {
  membership_.Begin();
  absl::StatusOr<JobPieces> pieces = CutJob(options_, membership_.files());
  if (!pieces.ok()) {
    End(pieces.status());
    return;
  }
  TrainingBookOptions training = BookOf(options_);
  training.leases.hosts = std::move(pieces->train.hosts);
  book_ = TrainingBook(std::move(training), std::move(pieces->train.pieces));
  EvaluationRunOptions scores = EvaluationOf(options_);
  scores.leases.hosts = std::move(pieces->eval.hosts);
  evaluation_ =
      EvaluationRun(std::move(scores), std::move(pieces->eval.pieces));
  if (GoesOn()) {
    StartRestoring();
  } else {
    BeginTraining();
  }
}

void CoordinatorState::BeginTraining() {
  PlanEvaluation();
  phase_ = JobPhase::kTraining;
  clock_.BeginPhase();
  if (options_.task != JobTask::kTrain) return;
  Log(LogLevel::kInfo,
      absl::StrCat("training on ", book_.facts().bytes(), " bytes in ",
                   Counted(book_.facts().size(), "piece"), ", ",
                   Counted(options_.num_epochs, "epoch"), ", with ",
                   options_.num_ps, " ps and ",
                   Counted(membership_.Open(Role::kWorker).size(), "worker")));
}

void CoordinatorState::StartReporting() {
  phase_ = JobPhase::kReporting;
  clock_.BeginPhase();
  desk_.Clear();
  for (const Member& ps : membership_.Open(Role::kPs)) Send(ps, ReportShard{});
}

void CoordinatorState::End(absl::Status status, std::string first,
                           bool stopped) {
  if (phase_ >= JobPhase::kEnding) return;
  phase_ = JobPhase::kEnding;
  clock_.BeginPhase();
  stopped_ = stopped || absl::IsCancelled(status);
  first_ = std::move(first);
  status_ = std::move(status);
  desk_.Clear();
  Perform(saves_.End(SavesView()));
  progress_.End(clock_.clock());
  const JobEnd end{status_, SummaryLines(Report(clock_.clock()))};
  for (const Member& member : membership_.members()) {
    if (member.open()) Send(member, end);
  }
}

void CoordinatorState::GrantLeases() {
  if (saves_.withholds()) return;
  desk_.Serve(membership_, &leases(), clock_.now(),
              [this](const Member& worker, const LeaseTable::Held& held) {
                Grant(worker, held);
              });
}

void CoordinatorState::Grant(const Member& worker,
                             const LeaseTable::Held& held) {
  Lease lease;
  if (phase_ == JobPhase::kEvaluating) {
    lease = evaluation_.LeaseOf(held);
  } else {
    lease = book_.LeaseOf(held);
    if (options_.warmup_steps <= 0 && !progress_.steady_open()) {
      progress_.OpenSteady(book_.examples(), clock_.clock());
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

}  // namespace shoal
