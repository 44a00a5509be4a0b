#include "coordinator/job_steps.h"

#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

StepCloserOptions CloserOf(std::vector<Life> ranks, uint32_t backup_workers) {
  StepCloserOptions options;
  options.ranks = std::move(ranks);
  options.backup_workers = backup_workers;
  return options;
}

// Which batches make up a step is decided by what PS 0 has.
absl::Status CheckFirst(const Member& from) {
  if (from.index == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      from.Name(), " told of a parked push, which only ps 0 may do"));
}

StepClosed MessageOf(const CloseStep& close) {
  StepClosed message;
  message.step = close.step;
  message.hold = close.hold;
  for (const StepBatch& batch : close.batches) {
    message.batches.push_back(
        {.id = batch.batch,
         .lease = batch.lease,
         .examples = static_cast<uint32_t>(batch.examples),
         .rejected = batch.rejected});
  }
  return message;
}

void SendToAll(const Membership& membership, const CoordinatorMessage& message,
               CoordinatorActions* actions) {
  for (const Member& ps : membership.Open(Role::kPs)) {
    Send(ps, message, actions);
  }
}

}  // namespace

JobSteps::JobSteps(std::vector<Life> ranks, uint32_t backup_workers)
    : closer_(CloserOf(std::move(ranks), backup_workers)) {}

absl::StatusOr<JobEffects> JobSteps::OnParked(const Member& from,
                                              const StepParked& message) {
  SHOAL_RETURN_IF_ERROR(CheckFirst(from));
  StepBatch batch;
  batch.batch = message.batch.id;
  batch.lease = message.batch.lease;
  batch.examples = message.batch.examples;
  batch.rejected = message.batch.rejected;
  return EndUnlessInvalid(
      from, closer_.OnParked(message.worker, message.step, batch));
}

absl::StatusOr<JobEffects> JobSteps::OnTakenOut(const Member& from,
                                                const StepTakenOut& message) {
  SHOAL_RETURN_IF_ERROR(CheckFirst(from));
  closer_.OnTakenOut(message.worker, message.step);
  return JobEffects();
}

CoordinatorActions JobSteps::Hold(const View& view) {
  closer_.Hold();
  return Step(view);
}

CoordinatorActions JobSteps::Release(const View& view) {
  CoordinatorActions actions;
  // Before the hold is reached no PS knows of it.
  if (held()) SendToAll(view.membership, StepsReleased{}, &actions);
  closer_.Release();
  for (CoordinatorAction& action : Step(view)) {
    actions.push_back(std::move(action));
  }
  return actions;
}

std::vector<BatchId> JobSteps::EndGeneration(absl::Span<const Life> lost) {
  return closer_.EndGeneration(lost);
}

void JobSteps::BeginGeneration(std::vector<Life> ranks,
                               uint32_t backup_workers, uint64_t steps) {
  closer_.BeginGeneration(CloserOf(std::move(ranks), backup_workers), steps);
  closed_batches_ = 0;
}

CoordinatorActions JobSteps::Step(const View& view) {
  CoordinatorActions actions;
  for (const CloserAction& action : closer_.Step({view.open_lanes})) {
    if (const auto* close = std::get_if<CloseStep>(&action)) {
      if (closed_batches_ == 0) complete_before_ = view.complete;
      closed_batches_ += close->batches.size();
      SendToAll(view.membership, MessageOf(*close), &actions);
    } else if (const auto* dropped = std::get_if<StepDropped>(&action)) {
      Log(LogLevel::kDebug,
          absl::StrCat("batch ", ToString(dropped->batch), " of worker ",
                       dropped->rank, " came too late for step ", dropped->step,
                       " and is trained later"),
          &actions);
    }
  }
  return actions;
}

}  // namespace shoal
