#include "coordinator/leased_work.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "cluster/bad_row_list.h"

namespace shoal {
namespace {

TrainingBookOptions BookOf(const CoordinatorOptions& options) {
  TrainingBookOptions book;
  book.num_members = options.ps.count;
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

// The end of an error about bad rows.
constexpr char kBadRowAdvice[] =
    "; `shoal data stat` shows which flags fit a file, and --max_bad_rows "
    "allows bad rows";

// The PS `from` has a mark of a push that no process of this job made; `which`
// completes "batch (0,1,2)". A shard applies every push of its job that it is
// sent, so its weights are not the job's any more.
JobEffects StrayPush(const Member& from, const Mark& mark,
                     const std::string& which) {
  return EndWith(absl::DataLossError(absl::StrCat(
      from.Name(), " took a push of batch ", ToString(mark.batch), which,
      ": a process outside this job pushes to this server, and the server's "
      "weights are not the job's any more; end that process and start the job "
      "again")));
}

}  // namespace

const PieceFacts& LeasedWork::facts(JobPhase phase) const {
  return phase == JobPhase::kEvaluating ? evaluation_.facts() : book_.facts();
}

const PieceLeases& LeasedWork::leases(JobPhase phase) const {
  return phase == JobPhase::kEvaluating ? evaluation_.leases() : book_.leases();
}

PieceLeases& LeasedWork::Table(JobPhase phase) {
  return phase == JobPhase::kEvaluating ? evaluation_.leases() : book_.leases();
}

// ---- Phases -----------------------------------------------------------------

void LeasedWork::SetPieces(JobPieces pieces, std::vector<LaneRank> ranks) {
  TrainingBookOptions training = BookOf(options_);
  training.lanes = {std::move(ranks), std::move(pieces.train.uncut)};
  training.leases.hosts = std::move(pieces.train.hosts);
  book_ = TrainingBook(std::move(training), std::move(pieces.train.pieces));
  EvaluationRunOptions scores = EvaluationOf(options_);
  scores.leases.hosts = std::move(pieces.eval.hosts);
  evaluation_ = EvaluationRun(std::move(scores), std::move(pieces.eval.pieces));
}

JobEffects LeasedWork::BeginTraining(const View& view) {
  // A job that begins where an epoch with an evaluation ended makes that
  // evaluation now: the job may have been stopped during it.
  PlanEvaluation(book_.AtEndOfEpoch());
  JobEffects effects;
  effects.phase = JobPhase::kTraining;
  if (options_.task != JobTask::kTrain) return effects;
  const size_t workers = view.membership.Open(Role::kWorker).size();
  Log(LogLevel::kInfo,
      absl::StrCat("training on ", book_.facts().bytes(), " bytes in ",
                   Counted(book_.facts().size(), "piece"), ", ",
                   Counted(options_.num_epochs, "epoch"), ", with ",
                   options_.ps.num_servers() == 0
                       ? ""
                       : absl::StrCat(options_.ps.num_servers(), " ps and "),
                   Counted(workers, "worker")),
      &effects.actions);
  return effects;
}

void LeasedWork::PlanEvaluation(bool or_now) {
  evaluation_.Plan(book_.CompleteEpochs(), or_now);
  book_.leases().SetLimit(evaluation_.due_after());
}

JobEffects LeasedWork::CheckRows() const {
  if (!book_.HasNoRow()) return {};
  return EndWith(absl::InvalidArgumentError(absl::StrCat(
      "--training_data_dir has no row to train on: ",
      book_.facts().bad_rows() == 0
          ? "its files have no rows"
          : absl::StrCat(Counted(book_.facts().bad_rows(), "row"),
                         " could not be parsed; the first: ",
                         book_.facts().named_bad_rows()[0], kBadRowAdvice))));
}

JobEffects LeasedWork::CheckEndOfTraining() const {
  return EndIfDiverged(watch_.VerdictAtEnd());
}

JobEffects LeasedWork::EndIfDiverged(
    const std::optional<Divergence>& divergence) const {
  if (!options_.watch_divergence || !divergence.has_value()) return {};
  // The same command would diverge again.
  JobEffects effects = EndWith(absl::OutOfRangeError(
      absl::StrCat("training diverged: ", divergence->why)));
  // The batches of a checkpoint are not this job's.
  effects.end->diverged_after =
      std::max(divergence->after, book_.restored_batches());
  return effects;
}

JobEffects LeasedWork::Evaluate(const View& view) {
  SHOAL_DCHECK(view.phase == JobPhase::kTraining && EvaluationDue());
  if (book_.complete()) {
    view.progress.OnTrained(book_.examples(), view.clock, /*last=*/true);
    if (view.progress.steady_open()) {
      view.progress.CloseSteady(book_.examples_at_most(), view.clock);
    }
  }
  JobEffects effects;
  if (evaluation_.empty()) {
    effects.phase = JobPhase::kReporting;
  } else {
    effects.phase = JobPhase::kEvaluating;
    effects.actions = evaluation_.Begin();
  }
  return effects;
}

JobEffects LeasedWork::ContinueEvaluating(uint64_t resumed_step) {
  JobEffects effects;
  const uint64_t step =
      options_.task == JobTask::kTrain ? book_.totals().batches : resumed_step;
  if (!evaluation_.Step(step, &effects.actions) || evaluation_.is_last()) {
    return effects;
  }
  effects.phase = JobPhase::kTraining;
  PlanEvaluation(/*or_now=*/false);
  return effects;
}

JobEffects LeasedWork::Deal(bool settled) {
  const absl::Status dealt = book_.DealLanes(settled);
  return dealt.ok() ? JobEffects() : EndWith(dealt);
}

CoordinatorActions LeasedWork::Grant(const View& view) {
  CoordinatorActions actions;
  desk_.Serve(view.membership, &Table(view.phase), view.now,
              [&](const Member& worker, const HeldLease& held) {
                if (view.phase == JobPhase::kTraining &&
                    options_.warmup_steps <= 0 &&
                    !view.progress.steady_open()) {
                  view.progress.OpenSteady(book_.examples_at_most(),
                                           view.clock);
                }
                view.progress.Start(view.clock);
                watch_.OnLease(worker.life, book_.totals().batches);
                Send(worker, LeaseGrant{LeaseFor(held, view)}, &actions);
              });
  return actions;
}

Lease LeasedWork::LeaseFor(const HeldLease& held,
                           const View& view) const {
  const bool trains = view.phase == JobPhase::kTraining;
  Lease lease = trains ? book_.LeaseOf(held) : evaluation_.LeaseOf(held);
  lease.number = held.number;
  lease.batch_size = options_.batch_size;
  const JobFiles& files = view.membership.files();
  lease.piece.source =
      (trains ? files.train() : files.eval()).LocalIndex(lease.piece.source);
  return lease;
}

// ---- Workers ----------------------------------------------------------------

void LeasedWork::Tick(const View& view) {
  if (!Leases(view.phase)) return;
  Table(view.phase).Expire(view.now);
  // Copies become due by time alone, so requests are tried again now and then.
  desk_.WakeAll();
  if (options_.task == JobTask::kTrain) {
    view.progress.OnTrained(book_.examples(), view.clock);
  } else {
    view.progress.OnScored(evaluation_.rows(), view.clock);
  }
}

void LeasedWork::Renew(Life worker, absl::Time now) {
  book_.leases().Renew(worker, now);
  evaluation_.leases().Renew(worker, now);
}

void LeasedWork::Suspend(Life worker) {
  book_.leases().Suspend(worker);
  evaluation_.leases().Suspend(worker);
}

JobEffects LeasedWork::OnProgress(Life worker, const TrainProgress& progress,
                                  JobPhase phase) {
  if (phase != JobPhase::kTraining) return {};
  watch_.OnProgress(worker, progress, book_.totals().batches);
  return EndIfDiverged(watch_.Verdict());
}

void LeasedWork::End(Life worker) {
  watch_.End(worker);
  desk_.Remove(worker);
  book_.leases().EndOwner(worker);
  evaluation_.leases().EndOwner(worker);
}

void LeasedWork::Regroup(std::vector<LaneRank> ranks) {
  book_.Regroup(std::move(ranks));
  for (const HeldLease& held : evaluation_.leases().held()) {
    evaluation_.leases().EndOwner(held.owner);
  }
  desk_.Clear();
}

void LeasedWork::Release(absl::Time now) {
  for (const JobPhase phase : {JobPhase::kTraining, JobPhase::kEvaluating}) {
    PieceLeases* const table = &Table(phase);
    for (const HeldLease& held : table->held()) {
      table->Progress(held.number, now);
    }
  }
}

// ---- Messages ---------------------------------------------------------------

absl::Status LeasedWork::OnRequest(const Member& from, JobPhase phase) {
  if (phase >= JobPhase::kReporting) return absl::OkStatus();
  return desk_.Ask(from);
}

absl::StatusOr<JobEffects> LeasedWork::OnReport(const Member& from,
                                                const PieceReport& report,
                                                const View& view) {
  if (view.phase < JobPhase::kTraining) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.Name(), " reported on a piece before any was leased"));
  }
  if (view.phase >= JobPhase::kEnding) return JobEffects();
  const bool trains = report.purpose == LeasePurpose::kTrain;
  const size_t named = NamedBadRows().size();
  const absl::StatusOr<bool> fresh =
      trains ? book_.Learn(report) : evaluation_.Learn(report);
  if (!fresh.ok()) return EndUnlessInvalid(from, fresh.status());
  if (!*fresh) return JobEffects();
  if (options_.max_bad_rows >= 0 &&
      BadRows() > static_cast<uint64_t>(options_.max_bad_rows)) {
    return EndWith(TooManyBadRows());
  }
  absl::Status counted;
  if (trains) {
    counted = book_.Count(report.piece);
  } else if (view.phase == JobPhase::kEvaluating) {
    counted = evaluation_.CheckCount(report.piece);
  }
  SHOAL_ASSIGN_OR_RETURN(JobEffects effects, EndUnlessInvalid(from, counted));
  effects.progress = true;
  const std::vector<std::string> rows = NamedBadRows();
  for (size_t i = named; i < rows.size(); ++i) {
    Log(LogLevel::kWarn,
        absl::StrCat("bad row: ", rows[i],
                     i + 1 < kNamedBadRows ? ""
                                           : "; further bad rows are counted, "
                                             "and not named here"),
        &effects.actions);
  }
  if (trains) WarnOfShortBatches(&effects.actions);
  return effects;
}

void LeasedWork::WarnOfShortBatches(CoordinatorActions* actions) {
  // A few pieces tell enough, and early enough.
  constexpr uint32_t kEnough = 8;
  const PieceFacts& facts = book_.facts();
  if (short_told_ || facts.num_known() < std::min(facts.size(), kEnough)) {
    return;
  }
  short_told_ = true;
  const std::string warning = ShortBatchesWarning(facts.report());
  if (!warning.empty()) Log(LogLevel::kWarn, warning, actions);
}

JobEffects LeasedWork::OnDone(const Member& from, const LeaseDone& done,
                              const View& view) {
  book_.leases().Done(done.lease, from.life, view.now);
  evaluation_.leases().Done(done.lease, from.life, view.now);
  return OnProgress(from.life, done.progress, view.phase);
}

JobEffects LeasedWork::OnFailed(const Member& from, const LeaseFailed& failed,
                                const View& view) {
  JobEffects effects;
  if (!Leases(view.phase)) return effects;
  PieceLeases& table = Table(view.phase);
  const auto piece = table.Failed(failed.lease, from.life);
  if (!piece.has_value()) return effects;
  const absl::Status status = failed.status.ok()
                                  ? absl::UnknownError("no reason given")
                                  : failed.status;
  last_failure_ = absl::StrCat(from.Name(), " cannot read ",
                               facts(view.phase).Name(piece->second), ": ",
                               status.message());
  Log(LogLevel::kWarn, last_failure_, &effects.actions);
  const JobFiles& files = view.membership.files();
  std::vector<Life> workers;
  for (const Member& worker : view.membership.Open(Role::kWorker)) {
    if (!table.shared() && worker.life != from.life) continue;
    // A host's own files can be read by its workers alone.
    if (!table.has_hosts() ||
        files.HostOf(worker.index) == files.HostOf(from.index)) {
      workers.push_back(worker.life);
    }
  }
  if (table.FailedOnAll(piece->first, piece->second, workers)) {
    effects.end = JobOutcome{
        absl::Status(
            status.code(),
            absl::StrCat(last_failure_,
                         workers.size() > 1 ? "; nor can any other worker" : "",
                         workers.size() > 1 && table.has_hosts()
                             ? " on its host"
                             : "")),
        ProcessName(from.role, from.index)};
  }
  return effects;
}

absl::StatusOr<JobEffects> LeasedWork::OnMarks(const Member& from,
                                               const MarkDelta& delta,
                                               const View& view) {
  JobEffects effects;
  if (view.phase >= JobPhase::kEnding) return effects;
  const uint64_t examples = book_.examples_at_most();
  for (const Mark& mark : delta.marks) {
    // Checked before the ledger makes room for the mark.
    if (!desk_.Gave(mark.lease)) {
      return StrayPush(
          from, mark,
          absl::StrCat(" under lease ", mark.lease, ", which was never given"));
    }
    const LedgerTotals before = book_.totals();
    const absl::StatusOr<bool> fresh =
        book_.AddMark(from.index, mark, view.now);
    if (absl::IsNotFound(fresh.status())) {
      return StrayPush(from, mark, ", which this job does not have");
    }
    if (!fresh.ok()) return EndUnlessInvalid(from, fresh.status());
    effects.progress = effects.progress || *fresh;
    if (book_.totals().batches != before.batches) {
      watch_.OnBatch(
          book_.totals().batches,
          book_.totals().rejected_batches != before.rejected_batches);
      // Judged here: a delta may have more batches than the watch remembers.
      if (view.phase == JobPhase::kTraining && !effects.end.has_value()) {
        effects.end = EndIfDiverged(watch_.Verdict()).end;
      }
    }
  }
  book_.SetRepeatsRefused(from.index, delta.repeats_refused);
  if (view.progress.steady_open()) {
    // Ends with the job's last step, which may be any, since a job may be
    // stopped: what its workers have begun then is not part of it.
    if (book_.examples_at_most() != examples) {
      view.progress.CloseSteady(book_.examples_at_most(), view.clock);
    }
  } else if (book_.totals().batches - book_.restored_batches() >=
             static_cast<uint64_t>(options_.warmup_steps)) {
    view.progress.OpenSteady(book_.examples_at_most(), view.clock);
  }
  return effects;
}

absl::StatusOr<JobEffects> LeasedWork::OnScores(const Member& from,
                                                EvalResult result,
                                                const View& view) {
  JobEffects effects;
  if (view.phase != JobPhase::kEvaluating) return effects;
  const absl::StatusOr<bool> progress = evaluation_.Take(
      std::move(result), from.index, view.now, &effects.actions);
  if (!progress.ok()) return EndUnlessInvalid(from, progress.status());
  effects.progress = *progress;
  return effects;
}

// ---- Answers to actions -----------------------------------------------------

JobEffects LeasedWork::OnScored(const EvalReport& figures, JobPhase phase) {
  JobEffects effects;
  if (!evaluation_.working_out() || phase >= JobPhase::kEnding) return effects;
  effects.actions = evaluation_.OnScored(figures);
  // After the last evaluation nothing is left to train.
  if (phase == JobPhase::kEvaluating) effects.phase = JobPhase::kReporting;
  return effects;
}

JobEffects LeasedWork::OnPredictionsWritten(uint64_t scores, bool last,
                                            const absl::Status& status,
                                            JobPhase phase) {
  JobEffects effects;
  if (phase != JobPhase::kEvaluating) return effects;
  if (!status.ok()) return EndWith(Annotate(status, "--predictions_file"));
  evaluation_.OnWritten(scores, last);
  effects.progress = true;
  if (last) effects.phase = JobPhase::kReporting;
  return effects;
}

// ---- JobReport --------------------------------------------------------------

void LeasedWork::FillTrained(JobPhase phase, JobReport* report) const {
  report->total_known =
      phase >= JobPhase::kTraining && book_.facts().all_known();
  book_.Fill(report);
  report->train_data = book_.facts().report();
  report->eval_data = evaluation_.facts().report();
  report->fraction_done = FractionDone(phase);
  report->bad_rows = BadRows();
  // The error of a job that has too many names them.
  if (options_.max_bad_rows < 0 ||
      BadRows() <= static_cast<uint64_t>(options_.max_bad_rows)) {
    report->named_bad_rows = NamedBadRows();
  }
  report->leases =
      book_.leases().held().size() + evaluation_.leases().held().size();
}

std::vector<std::string> LeasedWork::NamedBadRows() const {
  std::vector<std::string> rows = book_.facts().named_bad_rows();
  for (const std::string& row : evaluation_.facts().named_bad_rows()) {
    if (rows.size() < kNamedBadRows) rows.push_back(row);
  }
  return rows;
}

absl::Status LeasedWork::TooManyBadRows() const {
  return absl::InvalidArgumentError(absl::StrCat(
      Counted(BadRows(), "row"),
      " could not be parsed, more than --max_bad_rows=", options_.max_bad_rows,
      BadRows() == 1 ? ": " : "; the first: ",
      BadRowList(NamedBadRows()), kBadRowAdvice));
}

uint64_t LeasedWork::BadRows() const {
  return book_.facts().bad_rows() + evaluation_.facts().bad_rows();
}

double LeasedWork::FractionDone(JobPhase phase) const {
  if (options_.task != JobTask::kTrain) {
    return phase > JobPhase::kEvaluating ? 1 : evaluation_.FractionScored();
  }
  if (book_.facts().bytes() == 0) return phase > JobPhase::kTraining ? 1 : 0;
  return book_.FractionDone();
}

}  // namespace shoal
