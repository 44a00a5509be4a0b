#include "coordinator/sender_check.h"

#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

// The only role that may send a message, and the words about another process
// that sends it.
struct Rule {
  Role role;
  const char* offence;
};

Rule RuleFor(const LeaseRequest&) {
  return {Role::kWorker, "sent a LeaseRequest, which only a worker may send"};
}
Rule RuleFor(const PieceReport&) {
  return {Role::kWorker, "sent a PieceReport, which only a worker may send"};
}
Rule RuleFor(const EvalResult&) {
  return {Role::kWorker, "sent scores, which only a worker may send"};
}
Rule RuleFor(const MarkDelta&) {
  return {Role::kPs, "sent marks, which only a server may send"};
}
Rule RuleFor(const MarkRuns&) {
  return {Role::kPs, "sent marks, which only a server may send"};
}
Rule RuleFor(const ShardReport&) {
  return {Role::kPs, "sent a ShardReport, which only a server may send"};
}
Rule RuleFor(const ShardLoaded&) {
  return {Role::kPs, "loaded a checkpoint that it was not asked to load"};
}
Rule RuleFor(const ShardWritten&) {
  return {Role::kPs, "sent a ShardWritten, which only a server may send"};
}
Rule RuleFor(const ShardSaved&) {
  return {Role::kPs, "sent a ShardSaved, which only a server may send"};
}
Rule RuleFor(const StepsFinished&) {
  return {Role::kWorker, "sent a StepsFinished, which only a worker may send"};
}
Rule RuleFor(const StepParked&) {
  return {Role::kPs, "sent a StepParked, which only a server may send"};
}
Rule RuleFor(const StepTakenOut&) {
  return {Role::kPs, "sent a StepTakenOut, which only a server may send"};
}
Rule RuleFor(const ReplicaLevel&) {
  return {Role::kWorker, "sent a ReplicaLevel, which only a worker may send"};
}
Rule RuleFor(const RingBroken&) {
  return {Role::kWorker, "sent a RingBroken, which only a worker may send"};
}
Rule RuleFor(const ManifestRequest&) {
  return {Role::kPs, "asked for a manifest, which only a server may ask for"};
}
Rule RuleFor(const FileRequest&) {
  return {Role::kPs,
          "asked for a checkpoint's file, which only a server may ask for"};
}

// Messages that every process may send. LeaseDone, LeaseFailed and Held of a
// process that they do not concern are ignored by the parts that take them.
std::optional<Rule> RuleFor(const Heartbeat&) { return std::nullopt; }
std::optional<Rule> RuleFor(const LeaseDone&) { return std::nullopt; }
std::optional<Rule> RuleFor(const LeaseFailed&) { return std::nullopt; }
std::optional<Rule> RuleFor(const Held&) { return std::nullopt; }
std::optional<Rule> RuleFor(const StopRequest&) { return std::nullopt; }
std::optional<Rule> RuleFor(const Failure&) { return std::nullopt; }
std::optional<Rule> RuleFor(const Bye&) { return std::nullopt; }
std::optional<Rule> RuleFor(const GenerationReady&) { return std::nullopt; }

}  // namespace

absl::Status CheckSender(const Member& from, const ProcessMessage& message) {
  const std::optional<Rule> rule = std::visit(
      [](const auto& m) -> std::optional<Rule> { return RuleFor(m); }, message);
  if (!rule.has_value() || from.role == rule->role) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(from.Name(), " ", rule->offence));
}

}  // namespace shoal
