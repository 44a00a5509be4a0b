#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "wire/messages/common_messages.h"
#include "wire/messages/session_messages.h"
#include "wire/messages/stats_messages.h"

namespace shoal {
namespace {

// More than a job can last: seconds above it are not those of a process.
constexpr double kMostSeconds = 1e12;

void Set(const ResourceUsage& in, v1::ResourceUsage* out) {
  out->set_cpu_seconds(in.cpu_seconds);
  out->set_rss_bytes(in.rss_bytes);
  out->set_peak_rss_bytes(in.peak_rss_bytes);
}

ResourceUsage Get(const v1::ResourceUsage& in) {
  return {in.cpu_seconds(), in.rss_bytes(), in.peak_rss_bytes()};
}

void Set(const TrainProgress& in, v1::TrainProgress* out) {
  out->set_examples(in.examples);
  out->set_batches(in.batches);
  out->set_loss_sum(in.loss_sum);
  out->set_recent_auc(in.recent_auc);
  out->set_recent_logloss(in.recent_logloss);
  out->set_recent_examples(in.recent_examples);
}

void Set(const RankStanding& in, v1::RankStanding* out) {
  out->set_step(in.step);
  out->set_phase(in.phase);
  out->set_tensor(in.tensor);
  out->set_waits_for(in.waits_for);
  out->set_seconds(in.seconds);
}

RankStanding Get(const v1::RankStanding& in) {
  return {in.step(), in.phase(), in.tensor(), in.waits_for(), in.seconds()};
}

void Set(const PayloadBytes& in, v1::PayloadBytes* out) {
  out->set_pull_sent(in.pull.sent);
  out->set_pull_received(in.pull.received);
  out->set_push_sent(in.push.sent);
  out->set_push_received(in.push.received);
  out->set_ring_sent(in.ring.sent);
  out->set_ring_received(in.ring.received);
}

PayloadBytes Get(const v1::PayloadBytes& in) {
  return {{in.pull_sent(), in.pull_received()},
          {in.push_sent(), in.push_received()},
          {in.ring_sent(), in.ring_received()}};
}

void Set(const WorkerTime& in, v1::WorkerTime* out) {
  const auto seconds = [&in](StepState state) {
    return in.seconds[static_cast<size_t>(state)];
  };
  out->set_compute(seconds(StepState::kCompute));
  out->set_prepare(seconds(StepState::kPrepare));
  out->set_send(seconds(StepState::kSend));
  out->set_wait_lease(seconds(StepState::kWaitLease));
  out->set_wait_data(seconds(StepState::kWaitData));
  out->set_wait_pull(seconds(StepState::kWaitPull));
  out->set_wait_push(seconds(StepState::kWaitPush));
  out->set_wait_pace(seconds(StepState::kWaitPace));
  out->set_wait_step(seconds(StepState::kWaitStep));
  out->set_wait_ring(seconds(StepState::kWaitRing));
  if (in.steps.micros.count() == 0) return;
  ToProto(in.steps.micros, out->mutable_step_micros());
  out->set_step_square_sum(in.steps.square_sum);
}

absl::Status Get(const v1::WorkerTime& in, WorkerTime* out) {
  const auto seconds = [out](StepState state) -> double& {
    return out->seconds[static_cast<size_t>(state)];
  };
  seconds(StepState::kCompute) = in.compute();
  seconds(StepState::kPrepare) = in.prepare();
  seconds(StepState::kSend) = in.send();
  seconds(StepState::kWaitLease) = in.wait_lease();
  seconds(StepState::kWaitData) = in.wait_data();
  seconds(StepState::kWaitPull) = in.wait_pull();
  seconds(StepState::kWaitPush) = in.wait_push();
  seconds(StepState::kWaitPace) = in.wait_pace();
  seconds(StepState::kWaitStep) = in.wait_step();
  seconds(StepState::kWaitRing) = in.wait_ring();
  for (const double each : out->seconds) {
    if (!(each >= 0 && each <= kMostSeconds)) {
      return absl::InvalidArgumentError(
          absl::StrCat("WorkerTime: ", each, " are no seconds of a state"));
    }
  }
  const absl::Status status =
      FromProto(in.step_micros(), &out->steps.micros);
  const double squares = in.step_square_sum();
  if (!status.ok() || out->steps.micros.max() > StepTimes::kMostMicros ||
      !(squares >= 0 && squares <= kMostSeconds * kMostSeconds)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "WorkerTime.step_micros is no distribution of steps",
        status.ok() ? "" : ": ", status.message()));
  }
  out->steps.square_sum = squares;
  return absl::OkStatus();
}

void Set(const Heartbeat& in, v1::ProcessMessage* out) {
  v1::Heartbeat* m = out->mutable_heartbeat();
  m->set_number(in.number);
  m->set_taken(in.taken);
  Set(in.usage, m->mutable_usage());
  Set(in.progress, m->mutable_progress());
  if (in.staleness.count() > 0) ToProto(in.staleness, m->mutable_staleness());
  if (!in.standing.phase.empty()) Set(in.standing, m->mutable_standing());
  Set(in.bytes, m->mutable_bytes());
  Set(in.time, m->mutable_time());
}

void Set(const LeaseRequest&, v1::ProcessMessage* out) {
  out->mutable_lease_request();
}

void Set(const PieceReport& in, v1::ProcessMessage* out) {
  v1::PieceReport* m = out->mutable_piece_report();
  m->set_purpose(static_cast<v1::LeasePurpose>(in.purpose));
  m->set_epoch(in.epoch);
  m->set_piece(in.piece);
  m->set_examples(in.examples);
  m->set_bad_rows(in.bad_rows);
  m->set_batches(in.batches);
  m->set_first_error(in.first_error);
  m->set_crc32c(in.crc32c);
}

void Set(const LeaseDone& in, v1::ProcessMessage* out) {
  v1::LeaseDone* m = out->mutable_lease_done();
  m->set_lease(in.lease);
  Set(in.progress, m->mutable_progress());
}

void Set(const LeaseFailed& in, v1::ProcessMessage* out) {
  v1::LeaseFailed* m = out->mutable_lease_failed();
  m->set_lease(in.lease);
  ToProto(in.status, m->mutable_status());
}

void Set(const MarkDelta& in, v1::ProcessMessage* out) {
  v1::MarkDelta* m = out->mutable_mark_delta();
  m->mutable_marks()->Reserve(static_cast<int>(in.marks.size()));
  for (const Mark& mark : in.marks) {
    v1::Mark* added = m->add_marks();
    ToProto(mark.batch, added->mutable_batch());
    added->set_verdict(static_cast<v1::Verdict>(mark.verdict));
    added->set_lease(mark.lease);
    added->set_repeat(mark.repeat);
  }
  m->set_repeats_refused(in.repeats_refused);
}

void Set(const EvalResult& in, v1::ProcessMessage* out) {
  v1::EvalResult* m = out->mutable_eval_result();
  m->set_lease(in.lease);
  m->set_epoch(in.epoch);
  m->set_piece(in.piece);
  m->set_logits(in.logits.data(), in.logits.size() * sizeof(float));
  m->set_labels(in.labels.data(), in.labels.size());
  m->set_offset(in.offset);
  m->set_more(in.more);
}

void Set(const ShardReport& in, v1::ProcessMessage* out) {
  ToProto(in.stats, out->mutable_shard_report()->mutable_stats());
}

void Set(const Failure& in, v1::ProcessMessage* out) {
  ToProto(in.status, out->mutable_failure()->mutable_status());
}

void Set(const Bye& in, v1::ProcessMessage* out) {
  Set(in.usage, out->mutable_bye()->mutable_usage());
}

void Set(const MarkTotals& in, v1::MarkTotals* out) {
  out->set_applied(in.applied);
  out->set_rejected(in.rejected);
  out->set_digest(in.digest);
}

MarkTotals Get(const v1::MarkTotals& in) {
  return {in.applied(), in.rejected(), in.digest()};
}

void Set(const Held& in, v1::ProcessMessage* out) {
  out->mutable_held()->set_number(in.number);
  Set(in.marks, out->mutable_held()->mutable_marks());
}

void Set(const ShardSaved& in, v1::ProcessMessage* out) {
  v1::ShardSaved* m = out->mutable_shard_saved();
  m->set_number(in.number);
  ToProto(in.status, m->mutable_status());
  m->set_entry(in.entry);
}

void Set(const ShardWritten& in, v1::ProcessMessage* out) {
  out->mutable_shard_written()->set_number(in.number);
}

void Set(const ShardLoaded& in, v1::ProcessMessage* out) {
  Set(in.marks, out->mutable_shard_loaded()->mutable_marks());
}

void Set(const ManifestRequest& in, v1::ProcessMessage* out) {
  out->mutable_manifest_request()->set_directory(in.directory);
  out->mutable_manifest_request()->set_offset(in.offset);
}

void Set(const FileRequest& in, v1::ProcessMessage* out) {
  v1::FileRequest* m = out->mutable_file_request();
  m->set_directory(in.directory);
  m->set_file(in.file);
  m->set_offset(in.offset);
  m->set_bytes(in.bytes);
}

void Set(const MarkRuns& in, v1::ProcessMessage* out) {
  v1::MarkRuns* m = out->mutable_mark_runs();
  m->set_offset(in.offset);
  m->set_more(in.more);
  m->mutable_runs()->Reserve(static_cast<int>(in.runs.size()));
  for (const MarkRun& run : in.runs) {
    v1::MarkRun* added = m->add_runs();
    added->set_epoch(run.epoch);
    added->set_piece(run.piece);
    added->set_begin(run.begin);
    added->set_end(run.end);
    added->set_verdict(static_cast<v1::Verdict>(run.verdict));
  }
}

void Set(const StopRequest& in, v1::ProcessMessage* out) {
  ToProto(in.reason, out->mutable_stop_request()->mutable_reason());
}

void Set(const StepsFinished& in, v1::ProcessMessage* out) {
  out->mutable_steps_finished()->set_steps(in.steps);
}

void Set(const StepParked& in, v1::ProcessMessage* out) {
  v1::StepParked* m = out->mutable_step_parked();
  m->set_step(in.step);
  ToProto(in.worker, m->mutable_worker());
  ToProto(in.batch, m->mutable_batch());
}

void Set(const StepTakenOut& in, v1::ProcessMessage* out) {
  v1::StepTakenOut* m = out->mutable_step_taken_out();
  m->set_step(in.step);
  ToProto(in.worker, m->mutable_worker());
}

void Set(const GenerationReady& in, v1::ProcessMessage* out) {
  v1::GenerationReady* m = out->mutable_generation_ready();
  m->set_number(in.number);
  m->set_ring_address(in.ring_address);
  m->set_steps(in.steps);
}

void Set(const ReplicaLevel& in, v1::ProcessMessage* out) {
  v1::ReplicaLevel* m = out->mutable_replica_level();
  m->set_number(in.number);
  m->set_batches(in.batches);
}

void Set(const RingBroken& in, v1::ProcessMessage* out) {
  v1::RingBroken* m = out->mutable_ring_broken();
  m->set_number(in.number);
  m->set_rank(in.rank);
  ToProto(in.status, m->mutable_status());
}

TrainProgress Get(const v1::TrainProgress& in) {
  TrainProgress out;
  out.examples = in.examples();
  out.batches = in.batches();
  out.loss_sum = in.loss_sum();
  out.recent_auc = in.recent_auc();
  out.recent_logloss = in.recent_logloss();
  out.recent_examples = in.recent_examples();
  return out;
}

absl::Status Get(const v1::Heartbeat& in, Heartbeat* out) {
  out->number = in.number();
  out->taken = in.taken();
  out->usage = Get(in.usage());
  out->progress = Get(in.progress());
  if (in.has_standing()) out->standing = Get(in.standing());
  out->bytes = Get(in.bytes());
  SHOAL_RETURN_IF_ERROR(Annotate(Get(in.time(), &out->time), "Heartbeat"));
  return Annotate(FromProto(in.staleness(), &out->staleness),
                  "Heartbeat.staleness");
}

absl::Status Get(const v1::PieceReport& in, PieceReport* out) {
  switch (in.purpose()) {
    case v1::LEASE_PURPOSE_TRAIN:
      out->purpose = LeasePurpose::kTrain;
      break;
    case v1::LEASE_PURPOSE_EVALUATE:
      out->purpose = LeasePurpose::kEvaluate;
      break;
    case v1::LEASE_PURPOSE_INFER:
      out->purpose = LeasePurpose::kInfer;
      break;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("PieceReport.purpose ", in.purpose(), " is unknown"));
  }
  out->epoch = in.epoch();
  out->piece = in.piece();
  out->examples = in.examples();
  out->bad_rows = in.bad_rows();
  out->batches = in.batches();
  out->first_error = in.first_error();
  out->crc32c = in.crc32c();
  return absl::OkStatus();
}

// Refuses the status OK, because a failure must have an error.
absl::Status GetError(absl::string_view field, const v1::Status& in,
                      absl::Status* out) {
  SHOAL_RETURN_IF_ERROR(Annotate(FromProto(in, out), field));
  if (out->ok()) {
    return absl::InvalidArgumentError(absl::StrCat(field, " is OK"));
  }
  return absl::OkStatus();
}

absl::Status Get(const v1::LeaseFailed& in, LeaseFailed* out) {
  out->lease = in.lease();
  return GetError("LeaseFailed.status", in.status(), &out->status);
}

absl::Status Get(const v1::RingBroken& in, RingBroken* out) {
  out->number = in.number();
  out->rank = in.rank();
  return GetError("RingBroken.status", in.status(), &out->status);
}

absl::Status Get(const v1::MarkDelta& in, MarkDelta* out) {
  out->marks.reserve(static_cast<size_t>(in.marks_size()));
  for (const v1::Mark& mark : in.marks()) {
    Mark& added = out->marks.emplace_back();
    added.batch = FromProto(mark.batch());
    SHOAL_RETURN_IF_ERROR(
        Annotate(FromProto(mark.verdict(), &added.verdict), "MarkDelta.marks"));
    added.lease = mark.lease();
    added.repeat = mark.repeat();
  }
  out->repeats_refused = in.repeats_refused();
  return absl::OkStatus();
}

absl::Status Get(const v1::ShardSaved& in, ShardSaved* out) {
  out->number = in.number();
  out->entry = in.entry();
  return Annotate(FromProto(in.status(), &out->status), "ShardSaved.status");
}

absl::Status Get(const v1::MarkRuns& in, MarkRuns* out) {
  const auto runs = static_cast<size_t>(in.runs_size());
  if (runs > kRunsPerMessage || (runs == 0 && in.more())) {
    return absl::InvalidArgumentError(
        absl::StrCat("MarkRuns has ", runs, " runs; the limit is ",
                     kRunsPerMessage,
                     ", and a part that is not the last has at least 1"));
  }
  out->offset = in.offset();
  out->more = in.more();
  out->runs.reserve(runs);
  for (const v1::MarkRun& run : in.runs()) {
    MarkRun& added = out->runs.emplace_back();
    added.epoch = run.epoch();
    added.piece = run.piece();
    added.begin = run.begin();
    added.end = run.end();
    if (added.begin >= added.end) {
      return absl::InvalidArgumentError(
          absl::StrCat("MarkRuns.runs: batches [", added.begin, ", ", added.end,
                       ") are not a run"));
    }
    SHOAL_RETURN_IF_ERROR(
        Annotate(FromProto(run.verdict(), &added.verdict), "MarkRuns.runs"));
  }
  return absl::OkStatus();
}

absl::Status Get(const v1::EvalResult& in, EvalResult* out) {
  const std::string& logits = in.logits();
  const std::string& labels = in.labels();
  // The job knows how many scores a row has; this function does not.
  const size_t row = labels.size() * sizeof(float);
  if (labels.empty() ? !logits.empty()
                     : logits.empty() || logits.size() % row != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("EvalResult: ", logits.size(), " bytes of logits do not ",
                     "fit ", labels.size(), " labels"));
  }
  out->lease = in.lease();
  out->epoch = in.epoch();
  out->piece = in.piece();
  out->logits.resize(logits.size() / sizeof(float));
  if (!labels.empty()) {
    std::memcpy(out->logits.data(), logits.data(), logits.size());
  }
  out->labels.assign(labels.begin(), labels.end());
  out->offset = in.offset();
  out->more = in.more();
  return absl::OkStatus();
}

}  // namespace

void ToProto(const SessionOpening& in, v1::SessionOpen* out) {
  ToProto(in.life, out->mutable_life());
  out->set_resume(in.resume);
  out->set_taken(in.taken);
  if (in.marks != MarkTotals{}) Set(in.marks, out->mutable_marks());
}

absl::Status FromProto(const v1::SessionOpen& in, SessionOpening* out) {
  out->life = FromProto(in.life());
  if (!out->life.valid()) {
    return absl::InvalidArgumentError("SessionOpen.life is missing");
  }
  out->resume = in.resume();
  out->taken = in.taken();
  out->marks = Get(in.marks());
  return absl::OkStatus();
}

void ToProto(const ProcessMessage& in, v1::ProcessMessage* out) {
  out->Clear();
  std::visit([out](const auto& message) { Set(message, out); }, in);
}

absl::Status FromProto(const v1::ProcessMessage& in, ProcessMessage* out) {
  switch (in.message_case()) {
    case v1::ProcessMessage::kHeartbeat:
      return Get(in.heartbeat(), &out->emplace<Heartbeat>());
    case v1::ProcessMessage::kLeaseRequest:
      out->emplace<LeaseRequest>();
      return absl::OkStatus();
    case v1::ProcessMessage::kPieceReport:
      return Get(in.piece_report(), &out->emplace<PieceReport>());
    case v1::ProcessMessage::kLeaseDone:
      out->emplace<LeaseDone>(LeaseDone{in.lease_done().lease(),
                                        Get(in.lease_done().progress())});
      return absl::OkStatus();
    case v1::ProcessMessage::kLeaseFailed:
      return Get(in.lease_failed(), &out->emplace<LeaseFailed>());
    case v1::ProcessMessage::kMarkDelta:
      return Get(in.mark_delta(), &out->emplace<MarkDelta>());
    case v1::ProcessMessage::kEvalResult:
      return Get(in.eval_result(), &out->emplace<EvalResult>());
    case v1::ProcessMessage::kShardReport:
      return FromProto(in.shard_report().stats(),
                       &out->emplace<ShardReport>().stats);
    case v1::ProcessMessage::kFailure:
      return GetError("Failure.status", in.failure().status(),
                      &out->emplace<Failure>().status);
    case v1::ProcessMessage::kBye:
      out->emplace<Bye>().usage = Get(in.bye().usage());
      return absl::OkStatus();
    case v1::ProcessMessage::kHeld:
      out->emplace<Held>() = {in.held().number(), Get(in.held().marks())};
      return absl::OkStatus();
    case v1::ProcessMessage::kShardSaved:
      return Get(in.shard_saved(), &out->emplace<ShardSaved>());
    case v1::ProcessMessage::kShardLoaded:
      out->emplace<ShardLoaded>().marks = Get(in.shard_loaded().marks());
      return absl::OkStatus();
    case v1::ProcessMessage::kStopRequest:
      return GetError("StopRequest.reason", in.stop_request().reason(),
                      &out->emplace<StopRequest>().reason);
    case v1::ProcessMessage::kManifestRequest:
      out->emplace<ManifestRequest>() = {in.manifest_request().directory(),
                                         in.manifest_request().offset()};
      return absl::OkStatus();
    case v1::ProcessMessage::kFileRequest:
      out->emplace<FileRequest>() = {
          in.file_request().directory(), in.file_request().file(),
          in.file_request().offset(), in.file_request().bytes()};
      return absl::OkStatus();
    case v1::ProcessMessage::kMarkRuns:
      return Get(in.mark_runs(), &out->emplace<MarkRuns>());
    case v1::ProcessMessage::kShardWritten:
      out->emplace<ShardWritten>().number = in.shard_written().number();
      return absl::OkStatus();
    case v1::ProcessMessage::kStepsFinished:
      out->emplace<StepsFinished>().steps = in.steps_finished().steps();
      return absl::OkStatus();
    case v1::ProcessMessage::kStepParked:
      out->emplace<StepParked>() = {in.step_parked().step(),
                                    FromProto(in.step_parked().worker()),
                                    FromProto(in.step_parked().batch())};
      return absl::OkStatus();
    case v1::ProcessMessage::kStepTakenOut:
      out->emplace<StepTakenOut>() = {in.step_taken_out().step(),
                                      FromProto(in.step_taken_out().worker())};
      return absl::OkStatus();
    case v1::ProcessMessage::kGenerationReady:
      out->emplace<GenerationReady>() = {in.generation_ready().number(),
                                         in.generation_ready().ring_address(),
                                         in.generation_ready().steps()};
      return absl::OkStatus();
    case v1::ProcessMessage::kReplicaLevel:
      out->emplace<ReplicaLevel>() = {in.replica_level().number(),
                                      in.replica_level().batches()};
      return absl::OkStatus();
    case v1::ProcessMessage::kRingBroken:
      return Get(in.ring_broken(), &out->emplace<RingBroken>());
    case v1::ProcessMessage::kOpen:
      return absl::InvalidArgumentError("the session is open already");
    case v1::ProcessMessage::MESSAGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a process message of an unknown kind");
}

}  // namespace shoal
