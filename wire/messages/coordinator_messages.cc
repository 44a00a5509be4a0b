#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "wire/messages/common_messages.h"
#include "wire/messages/session_messages.h"

namespace shoal {
namespace {

void Set(const ClusterView& in, v1::CoordinatorMessage* out) {
  v1::ClusterView* m = out->mutable_cluster_view();
  m->set_map_version(in.map_version);
  for (const PsInfo& ps : in.ps) {
    v1::PsInfo* added = m->add_ps();
    added->set_address(ps.address);
    ToProto(ps.life, added->mutable_life());
  }
  for (const RankInfo& rank : in.ranks) {
    v1::RankInfo* added = m->add_ranks();
    added->set_ring_address(rank.ring_address);
    ToProto(rank.life, added->mutable_life());
  }
  m->set_generation(in.generation);
}

void Set(const LeaseGrant& in, v1::CoordinatorMessage* out) {
  const Lease& lease = in.lease;
  v1::Lease* m = out->mutable_lease_grant()->mutable_lease();
  m->set_number(lease.number);
  m->set_purpose(static_cast<v1::LeasePurpose>(lease.purpose));
  m->set_epoch(lease.epoch);
  m->mutable_piece()->set_index(lease.piece.index);
  m->mutable_piece()->set_source(lease.piece.source);
  m->mutable_piece()->set_begin(lease.piece.begin);
  m->mutable_piece()->set_end(lease.piece.end);
  m->set_batch_size(lease.batch_size);
  m->set_skip(lease.skip.data(), lease.skip.size());
  m->set_backwards(lease.backwards);
  m->set_colour(lease.colour);
  m->set_skip_rest(lease.skip_rest);
  m->set_rejected(lease.rejected.data(), lease.rejected.size());
  m->set_offset(lease.offset);
  // Readers of older releases know leases of all batches only, which travel
  // without this field.
  if (lease.stride != 1) m->set_stride(lease.stride);
  m->set_last_of_lane(lease.last_of_lane);
}

void Set(const HeartbeatAck& in, v1::CoordinatorMessage* out) {
  out->mutable_heartbeat_ack()->set_number(in.number);
  out->mutable_heartbeat_ack()->set_taken(in.taken);
}

void Set(const ReportShard&, v1::CoordinatorMessage* out) {
  out->mutable_report_shard();
}

void Set(const JobEnd& in, v1::CoordinatorMessage* out) {
  v1::JobEnd* m = out->mutable_job_end();
  ToProto(in.status, m->mutable_status());
  m->set_summary(in.summary);
}

void Set(const Hold& in, v1::CoordinatorMessage* out) {
  out->mutable_hold()->set_number(in.number);
}

void Set(const Resume& in, v1::CoordinatorMessage* out) {
  out->mutable_resume()->set_number(in.number);
}

void Set(const SaveShard& in, v1::CoordinatorMessage* out) {
  v1::SaveShard* m = out->mutable_save_shard();
  m->set_number(in.number);
  m->set_directory(in.directory);
  m->set_attempt(in.attempt);
}

void Set(const CheckpointDone& in, v1::CoordinatorMessage* out) {
  v1::CheckpointDone* m = out->mutable_checkpoint_done();
  m->set_directory(in.directory);
  ToProto(in.manifest, m->mutable_manifest());
}

void Set(const ManifestPart& in, v1::CoordinatorMessage* out) {
  v1::ManifestPart* m = out->mutable_manifest_part();
  m->set_directory(in.directory);
  m->set_offset(in.offset);
  m->set_text(in.text);
}

void Set(const FilePart& in, v1::CoordinatorMessage* out) {
  v1::FilePart* m = out->mutable_file_part();
  m->set_directory(in.directory);
  m->set_file(in.file);
  m->set_offset(in.offset);
  m->set_bytes(in.bytes);
  ToProto(in.status, m->mutable_status());
}

void Set(const MarkRunsRequest& in, v1::CoordinatorMessage* out) {
  out->mutable_mark_runs_request()->set_offset(in.offset);
}

void Set(const CheckpointVoid& in, v1::CoordinatorMessage* out) {
  out->mutable_checkpoint_void()->set_number(in.number);
}

void Set(const SessionResumed& in, v1::CoordinatorMessage* out) {
  out->mutable_session_resumed()->set_taken(in.taken);
}

void Set(const Pace& in, v1::CoordinatorMessage* out) {
  out->mutable_pace()->set_until(in.until);
}

void Set(const StepClosed& in, v1::CoordinatorMessage* out) {
  v1::StepClosed* m = out->mutable_step_closed();
  m->set_step(in.step);
  for (const PushedBatch& batch : in.batches) {
    ToProto(batch, m->add_batches());
  }
  m->set_hold(in.hold);
}

void Set(const StepsReleased&, v1::CoordinatorMessage* out) {
  out->mutable_steps_released();
}

void Set(const NewGeneration& in, v1::CoordinatorMessage* out) {
  v1::NewGeneration* m = out->mutable_new_generation();
  m->set_number(in.number);
  for (const BatchId& batch : in.lost) ToProto(batch, m->add_lost());
}

void Set(const GenerationBegan& in, v1::CoordinatorMessage* out) {
  v1::GenerationBegan* m = out->mutable_generation_began();
  m->set_number(in.number);
  for (const Life& worker : in.workers) ToProto(worker, m->add_workers());
  m->set_leases(in.leases);
}

absl::Status Get(const v1::ClusterView& in, ClusterView* out) {
  out->map_version = in.map_version();
  for (const v1::PsInfo& ps : in.ps()) {
    out->ps.push_back({ps.address(), FromProto(ps.life())});
  }
  for (const v1::RankInfo& rank : in.ranks()) {
    out->ranks.push_back({rank.ring_address(), FromProto(rank.life())});
  }
  out->generation = in.generation();
  return absl::OkStatus();
}

absl::Status Get(const v1::NewGeneration& in, NewGeneration* out) {
  out->number = in.number();
  for (const v1::BatchId& batch : in.lost()) {
    out->lost.push_back(FromProto(batch));
  }
  return absl::OkStatus();
}

absl::Status Get(const v1::GenerationBegan& in, GenerationBegan* out) {
  out->number = in.number();
  for (const v1::Life& worker : in.workers()) {
    out->workers.push_back(FromProto(worker));
  }
  out->leases = in.leases();
  return absl::OkStatus();
}

absl::Status Get(const v1::Lease& in, Lease* out) {
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
          absl::StrCat("Lease.purpose ", in.purpose(), " is unknown"));
  }
  const v1::Piece& piece = in.piece();
  if (piece.begin() > piece.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Lease.piece [", piece.begin(), ", ", piece.end(), ") is not a range"));
  }
  if (in.batch_size() == 0) {
    return absl::InvalidArgumentError("Lease.batch_size is 0");
  }
  const uint32_t stride = in.stride() == 0 ? 1 : in.stride();
  if (in.offset() >= stride) {
    return absl::InvalidArgumentError(
        absl::StrCat("Lease.offset ", in.offset(),
                     " is not below the stride, which is ", stride));
  }
  out->number = in.number();
  out->epoch = in.epoch();
  out->piece = {piece.index(), piece.source(), piece.begin(), piece.end()};
  out->batch_size = in.batch_size();
  out->skip.assign(in.skip().begin(), in.skip().end());
  out->backwards = in.backwards();
  out->colour = in.colour();
  out->skip_rest = in.skip_rest();
  out->rejected.assign(in.rejected().begin(), in.rejected().end());
  out->stride = stride;
  out->offset = in.offset();
  out->last_of_lane = in.last_of_lane();
  return absl::OkStatus();
}

absl::Status Get(const v1::ManifestPart& in, ManifestPart* out) {
  if (in.text().size() > kManifestPartBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("ManifestPart.text has ", in.text().size(),
                     " bytes; the limit is ", kManifestPartBytes));
  }
  *out = {in.directory(), in.offset(), in.text()};
  return absl::OkStatus();
}

absl::Status Get(const v1::FilePart& in, FilePart* out) {
  if (in.bytes().size() > kFilePartBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("FilePart.bytes has ", in.bytes().size(),
                     " bytes; the limit is ", kFilePartBytes));
  }
  out->directory = in.directory();
  out->file = in.file();
  out->offset = in.offset();
  out->bytes = in.bytes();
  return Annotate(FromProto(in.status(), &out->status), "FilePart.status");
}

absl::Status Get(const v1::StepClosed& in, StepClosed* out) {
  if (static_cast<size_t>(in.batches_size()) > kMaxPushedBatches) {
    return absl::InvalidArgumentError(
        absl::StrCat("StepClosed has ", in.batches_size(),
                     " batches; the limit is ", kMaxPushedBatches));
  }
  for (const v1::PushedBatch& batch : in.batches()) {
    out->batches.push_back(FromProto(batch));
  }
  out->step = in.step();
  out->hold = in.hold();
  return Annotate(CheckPushedBatches(out->batches), "StepClosed.batches");
}

absl::Status Get(const v1::JobEnd& in, JobEnd* out) {
  out->summary = in.summary();
  return Annotate(FromProto(in.status(), &out->status), "JobEnd.status");
}

}  // namespace

void ToProto(const CoordinatorMessage& in, v1::CoordinatorMessage* out) {
  out->Clear();
  std::visit([out](const auto& message) { Set(message, out); }, in);
}

absl::Status FromProto(const v1::CoordinatorMessage& in,
                       CoordinatorMessage* out) {
  switch (in.message_case()) {
    case v1::CoordinatorMessage::kClusterView:
      return Get(in.cluster_view(), &out->emplace<ClusterView>());
    case v1::CoordinatorMessage::kLeaseGrant:
      return Get(in.lease_grant().lease(), &out->emplace<LeaseGrant>().lease);
    case v1::CoordinatorMessage::kHeartbeatAck:
      out->emplace<HeartbeatAck>() = {in.heartbeat_ack().number(),
                                      in.heartbeat_ack().taken()};
      return absl::OkStatus();
    case v1::CoordinatorMessage::kReportShard:
      out->emplace<ReportShard>();
      return absl::OkStatus();
    case v1::CoordinatorMessage::kJobEnd:
      return Get(in.job_end(), &out->emplace<JobEnd>());
    case v1::CoordinatorMessage::kHold:
      out->emplace<Hold>().number = in.hold().number();
      return absl::OkStatus();
    case v1::CoordinatorMessage::kResume:
      out->emplace<Resume>().number = in.resume().number();
      return absl::OkStatus();
    case v1::CoordinatorMessage::kSaveShard:
      out->emplace<SaveShard>() = {in.save_shard().number(),
                                   in.save_shard().directory(),
                                   in.save_shard().attempt()};
      return absl::OkStatus();
    case v1::CoordinatorMessage::kCheckpointDone:
      out->emplace<CheckpointDone>() = {
          in.checkpoint_done().directory(),
          FromProto(in.checkpoint_done().manifest())};
      return absl::OkStatus();
    case v1::CoordinatorMessage::kManifestPart:
      return Get(in.manifest_part(), &out->emplace<ManifestPart>());
    case v1::CoordinatorMessage::kFilePart:
      return Get(in.file_part(), &out->emplace<FilePart>());
    case v1::CoordinatorMessage::kMarkRunsRequest:
      out->emplace<MarkRunsRequest>().offset = in.mark_runs_request().offset();
      return absl::OkStatus();
    case v1::CoordinatorMessage::kCheckpointVoid:
      out->emplace<CheckpointVoid>().number = in.checkpoint_void().number();
      return absl::OkStatus();
    case v1::CoordinatorMessage::kSessionResumed:
      out->emplace<SessionResumed>().taken = in.session_resumed().taken();
      return absl::OkStatus();
    case v1::CoordinatorMessage::kPace:
      out->emplace<Pace>().until = in.pace().until();
      return absl::OkStatus();
    case v1::CoordinatorMessage::kStepClosed:
      return Get(in.step_closed(), &out->emplace<StepClosed>());
    case v1::CoordinatorMessage::kStepsReleased:
      out->emplace<StepsReleased>();
      return absl::OkStatus();
    case v1::CoordinatorMessage::kNewGeneration:
      return Get(in.new_generation(), &out->emplace<NewGeneration>());
    case v1::CoordinatorMessage::kGenerationBegan:
      return Get(in.generation_began(), &out->emplace<GenerationBegan>());
    case v1::CoordinatorMessage::MESSAGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a coordinator message of an unknown kind");
}

}  // namespace shoal
