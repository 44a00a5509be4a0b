#include "wire/messages/stats_messages.h"

#include "base/status_macros.h"
#include "wire/messages/common_messages.h"

namespace shoal {

void ToProto(const StatsReply& in, v1::StatsReply* out) {
  out->Clear();
  ToProto(in.version, out->mutable_version());
  out->set_bytes(in.bytes);
  out->set_rows(in.rows);
  out->set_lookups(in.lookups);
  out->set_pushes_applied(in.pushes_applied);
  out->set_pushes_rejected(in.pushes_rejected);
  out->set_repeats_refused(in.repeats_refused);
  out->set_digest(in.digest);
  for (const VariableStats& variable : in.variables) {
    v1::VariableStats* v = out->add_variables();
    v->set_variable(variable.variable);
    v->set_bytes(variable.bytes);
    v->set_rows(variable.rows);
    ToProto(variable.staleness, v->mutable_staleness());
  }
  for (const auto& [worker, staleness] : in.staleness) {
    v1::WorkerStaleness* w = out->add_staleness();
    ToProto(worker, w->mutable_worker());
    ToProto(staleness, w->mutable_staleness());
  }
  out->set_pulled_in_other_life(in.pulled_in_other_life);
  if (in.canary.has_value()) {
    v1::CanaryStats* canary = out->mutable_canary();
    canary->set_rows(in.canary->rows);
    canary->set_not_one(in.canary->not_one);
    canary->set_smallest(in.canary->smallest);
    canary->set_largest(in.canary->largest);
    canary->set_foreign(in.canary->foreign);
  }
}

absl::Status FromProto(const v1::StatsReply& in, StatsReply* out) {
  *out = {};
  out->version = FromProto(in.version());
  out->bytes = in.bytes();
  out->rows = in.rows();
  out->lookups = in.lookups();
  out->pushes_applied = in.pushes_applied();
  out->pushes_rejected = in.pushes_rejected();
  out->repeats_refused = in.repeats_refused();
  out->digest = in.digest();
  for (const v1::VariableStats& v : in.variables()) {
    VariableStats& variable = out->variables.emplace_back();
    variable.variable = v.variable();
    variable.bytes = v.bytes();
    variable.rows = v.rows();
    SHOAL_RETURN_IF_ERROR(Annotate(
        FromProto(v.staleness(), &variable.staleness), "StatsReply.variables"));
  }
  for (const v1::WorkerStaleness& w : in.staleness()) {
    auto& [worker, staleness] = out->staleness.emplace_back();
    worker = FromProto(w.worker());
    SHOAL_RETURN_IF_ERROR(
        Annotate(FromProto(w.staleness(), &staleness), "StatsReply.staleness"));
  }
  out->pulled_in_other_life = in.pulled_in_other_life();
  if (in.has_canary()) {
    out->canary = CanaryStats{in.canary().rows(), in.canary().not_one(),
                              static_cast<float>(in.canary().smallest()),
                              static_cast<float>(in.canary().largest()),
                              in.canary().foreign()};
  }
  return absl::OkStatus();
}

}  // namespace shoal
