#include "coordinator/sender_check.h"

#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

// The role that alone may send a message, and what is said of another process
// that sends it.
struct Rule {
  Role role;
  const char* offence;
};

Rule RuleFor(const LeaseRequest&) {
  return {Role::kWorker, "sent a LeaseRequest, which is not its to send"};
}
Rule RuleFor(const PieceReport&) {
  return {Role::kWorker, "sent a PieceReport, which is not its to send"};
}
Rule RuleFor(const EvalResult&) {
  return {Role::kWorker, "sent scores, which are not its to send"};
}
Rule RuleFor(const MarkDelta&) {
  return {Role::kPs, "sent marks, which is not its to send"};
}
Rule RuleFor(const MarkRuns&) {
  return {Role::kPs, "sent marks, which are not its to send"};
}
Rule RuleFor(const ShardReport&) {
  return {Role::kPs, "sent a ShardReport, which is not its to send"};
}
Rule RuleFor(const ShardLoaded&) {
  return {Role::kPs, "loaded a checkpoint that it was not asked to load"};
}
Rule RuleFor(const ShardWritten&) {
  return {Role::kPs, "sent a ShardWritten, which is not its to send"};
}
Rule RuleFor(const ShardSaved&) {
  return {Role::kPs, "sent a ShardSaved, which is not its to send"};
}
Rule RuleFor(const ManifestRequest&) {
  return {Role::kPs, "asked for a manifest, which is not its to ask"};
}
Rule RuleFor(const StopRequest&) {
  return {Role::kPs, "asked to stop the job, which is not its to ask"};
}

// What every process may send. A lease that ended counts for its owner alone,
// and Held for the process that was told to hold.
std::optional<Rule> RuleFor(const Heartbeat&) { return std::nullopt; }
std::optional<Rule> RuleFor(const LeaseDone&) { return std::nullopt; }
std::optional<Rule> RuleFor(const LeaseFailed&) { return std::nullopt; }
std::optional<Rule> RuleFor(const Held&) { return std::nullopt; }
std::optional<Rule> RuleFor(const Failure&) { return std::nullopt; }
std::optional<Rule> RuleFor(const Bye&) { return std::nullopt; }

}  // namespace

absl::Status CheckSender(const Member& from, const ProcessMessage& message) {
  const std::optional<Rule> rule = std::visit(
      [](const auto& m) -> std::optional<Rule> { return RuleFor(m); }, message);
  if (!rule.has_value() || from.role == rule->role) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(from.Name(), " ", rule->offence));
}

}  // namespace shoal
