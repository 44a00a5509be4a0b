#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/coordinator_state.h"

namespace shoal {

absl::Status CoordinatorState::OnlyFrom(Role role, const Member& from,
                                        const char* what) {
  if (from.role == role) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(from.Name(), " sent ", what, ", which is not its to send"));
}

LeaseTable& CoordinatorState::leases() {
  return phase_ == JobPhase::kEvaluating ? evaluation_.leases()
                                         : book_.leases();
}

absl::Status CoordinatorState::FailUnlessInvalid(const Member& from,
                                                 const absl::Status& status) {
  if (status.ok() || absl::IsInvalidArgument(status)) return status;
  End(Annotate(status, from.Name()), ProcessName(from.role, from.index));
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, Heartbeat& message) {
  progress_.OnHeartbeat(from.role, from.index, message, clock_.clock());
  book_.leases().Renew(from.life, clock_.now());
  evaluation_.leases().Renew(from.life, clock_.now());
  Send(from, HeartbeatAck{message.number});
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, LeaseRequest&) {
  SHOAL_RETURN_IF_ERROR(OnlyFrom(Role::kWorker, from, "a LeaseRequest"));
  if (phase_ >= JobPhase::kReporting) return absl::OkStatus();
  return desk_.Ask(from);
}

absl::Status CoordinatorState::On(const Member& from, PieceReport& message) {
  SHOAL_RETURN_IF_ERROR(OnlyFrom(Role::kWorker, from, "a PieceReport"));
  if (phase_ < JobPhase::kTraining) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.Name(), " reported on a piece before any was leased"));
  }
  if (phase_ >= JobPhase::kEnding) return absl::OkStatus();
  const bool trains = message.purpose == LeasePurpose::kTrain;
  const absl::StatusOr<bool> fresh =
      trains ? book_.Learn(message) : evaluation_.Learn(message);
  if (!fresh.ok()) return FailUnlessInvalid(from, fresh.status());
  if (!*fresh) return absl::OkStatus();
  clock_.SeeProgress();
  if (options_.max_bad_rows >= 0 &&
      BadRows() > static_cast<uint64_t>(options_.max_bad_rows)) {
    End(absl::InvalidArgumentError(absl::StrCat(
        BadRows(), " rows could not be parsed, more than --max_bad_rows=",
        options_.max_bad_rows, "; the first: ", FirstBadRow())));
    return absl::OkStatus();
  }
  if (!trains) {
    return phase_ == JobPhase::kEvaluating
               ? FailUnlessInvalid(from, evaluation_.CheckCount(message.piece))
               : absl::OkStatus();
  }
  return FailUnlessInvalid(from, book_.Count(message.piece));
}

absl::Status CoordinatorState::On(const Member& from, LeaseDone& message) {
  saves_.OnLeaseEnd(message.lease, absl::OkStatus());
  book_.leases().Done(message.lease, from.life, clock_.now());
  evaluation_.leases().Done(message.lease, from.life, clock_.now());
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, LeaseFailed& message) {
  saves_.OnLeaseEnd(message.lease, message.status);
  if (!Leases(phase_)) {
    return absl::OkStatus();
  }
  const auto piece = leases().Failed(message.lease, from.life);
  if (!piece.has_value()) return absl::OkStatus();
  const PieceFacts& facts =
      phase_ == JobPhase::kEvaluating ? evaluation_.facts() : book_.facts();
  const absl::Status status = message.status.ok()
                                  ? absl::UnknownError("no reason given")
                                  : message.status;
  last_lease_failure_ =
      absl::StrCat(from.Name(), " cannot read ", facts.Name(piece->second),
                   ": ", status.message());
  Log(LogLevel::kWarn, last_lease_failure_);
  std::vector<Life> workers;
  for (const Member& worker : membership_.Open(Role::kWorker)) {
    // With files of their own, nobody else can.
    if (!options_.host_files || worker.life == from.life) {
      workers.push_back(worker.life);
    }
  }
  if (leases().FailedOnAll(piece->first, piece->second, workers)) {
    End(absl::Status(
            status.code(),
            absl::StrCat(last_lease_failure_, workers.size() > 1
                                                  ? "; nor can any other worker"
                                                  : "")),
        ProcessName(from.role, from.index));
  }
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, MarkDelta& message) {
  SHOAL_RETURN_IF_ERROR(OnlyFrom(Role::kPs, from, "marks"));
  if (phase_ >= JobPhase::kEnding) return absl::OkStatus();
  for (const Mark& mark : message.marks) {
    // Before the ledger makes room for the mark.
    if (!desk_.Gave(mark.lease)) {
      EndByStrayPush(
          from, mark,
          absl::StrCat(" under lease ", mark.lease, ", which was never given"));
      return absl::OkStatus();
    }
    const absl::StatusOr<bool> fresh =
        book_.AddMark(from.index, mark, clock_.now());
    if (absl::IsNotFound(fresh.status())) {
      EndByStrayPush(from, mark, ", which this job does not have");
      return absl::OkStatus();
    }
    if (!fresh.ok()) return FailUnlessInvalid(from, fresh.status());
    if (*fresh) clock_.SeeProgress();
  }
  book_.SetRepeatsRefused(from.index, message.repeats_refused);
  if (!progress_.steady_open() &&
      book_.totals().batches - book_.restored_batches() >=
          static_cast<uint64_t>(options_.warmup_steps)) {
    progress_.OpenSteady(book_.examples(), clock_.clock());
  }
  return absl::OkStatus();
}

// A shard applies whatever push of its job it is sent, so its weights are not
// the job's any more.
void CoordinatorState::EndByStrayPush(const Member& from, const Mark& mark,
                                      const std::string& which) {
  End(absl::DataLossError(absl::StrCat(
      from.Name(), " took a push of batch ", ToString(mark.batch), which,
      ": a process outside this job pushes to this server, and the server's "
      "weights are not the job's any more; end that process and start the job "
      "again")));
}

absl::Status CoordinatorState::On(const Member& from, ShardReport& message) {
  SHOAL_RETURN_IF_ERROR(OnlyFrom(Role::kPs, from, "a ShardReport"));
  if (phase_ != JobPhase::kReporting) return absl::OkStatus();
  progress_.OnShardReport(from.index, message.stats);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, Failure& message) {
  const absl::Status status =
      message.status.ok() ? absl::UnknownError("it failed and did not say why")
                          : message.status;
  if (from.role == Role::kWorker && phase_ >= JobPhase::kReporting) {
    // Everything is trained and scored: what it was doing was a copy.
    Log(LogLevel::kInfo, absl::StrCat(from.Name(), ": ", status.message()));
    return absl::OkStatus();
  }
  // Who was stopped says who it is.
  End(absl::IsCancelled(status) ? status : Annotate(status, from.Name()),
      ProcessName(from.role, from.index));
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, Bye& message) {
  progress_.OnUsage(from.role, from.index, message.usage, clock_.clock());
  Forget(from, absl::OkStatus());
  if (phase_ >= JobPhase::kEnding) return absl::OkStatus();
  if (from.role == Role::kPs) {
    End(absl::CancelledError(
            absl::StrCat(from.Name(), " left before the job was over")),
        ProcessName(from.role, from.index));
  } else {
    Log(LogLevel::kInfo, absl::StrCat(from.Name(), " left; its leases return"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
