#include "plan/mode_lead.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plan/cluster_description.h"
#include "plan/mode_shape.h"
#include "plan/prediction.h"
#include "plan/step_demand.h"

namespace shoal {
namespace {

// By so much bandwidths differ at which a lead is looked for.
constexpr double kScanStep = 1.05;

absl::StatusOr<const ModeShape*> ModeNamed(const std::string& name) {
  const ModeShape* const mode = FindModeShape(name);
  if (mode == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no mode '", name, "'"));
  }
  return mode;
}

// What a question asks, as the planner takes it.
struct Asked {
  const ModeShape* mode;
  const ModeShape* other;
  PlannedJob job;
  ClusterDescription cluster;
};

absl::StatusOr<Asked> AskedBy(const Calibration& calibration,
                              const LeadQuestion& question) {
  SHOAL_ASSIGN_OR_RETURN(const ModeShape* const mode, ModeNamed(question.mode));
  SHOAL_ASSIGN_OR_RETURN(const ModeShape* const other,
                         ModeNamed(question.other));
  if (mode == other) {
    return absl::InvalidArgumentError(
        absl::StrCat(question.mode, " is compared with itself"));
  }
  if (question.hosts < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(question.hosts, " hosts train nothing; give 1 or more"));
  }
  Asked asked{mode, other,
              question.batch_size > 0
                  ? MeasuredJob(calibration, question.batch_size)
                  : MeasuredJob(calibration),
              ClusterDescription()};
  if (question.ssp_bound >= 0) asked.job.ssp_bound = question.ssp_bound;
  ClusterDescription* const cluster = &asked.cluster;
  cluster->hosts = question.hosts;
  cluster->latency_seconds = question.latency_seconds;
  if (calibration.most_cores > 0) cluster->cores = calibration.most_cores;
  if (question.cores > 0) cluster->cores = question.cores;
  return asked;
}

PredictedLead LeadAt(const Calibration& calibration, Asked asked, double bits) {
  asked.cluster.bits_per_second = bits;
  const auto predict = [&](const ModeShape& mode) {
    return Predict(mode, calibration, asked.job, asked.cluster,
                   asked.cluster.hosts);
  };
  const Prediction one = predict(*asked.mode);
  const Prediction two = predict(*asked.other);
  return {one.samples_per_second / two.samples_per_second,
          one.extrapolated || two.extrapolated};
}

// The bandwidth next to the one between `without` and `with` at which a lead
// becomes clear, on its side.
double EndOf(double without, double with,
             const std::function<PredictedLead(double)>& lead_at) {
  while (std::max(without, with) / std::min(without, with) >
         LeadRange::kPrecision) {
    const double middle = std::sqrt(without * with);
    (lead_at(middle).is_clear() ? with : without) = middle;
  }
  return with;
}

}  // namespace

absl::StatusOr<PredictedLead> PredictLead(const Calibration& calibration,
                                          const LeadQuestion& question,
                                          double bits_per_second) {
  SHOAL_ASSIGN_OR_RETURN(const Asked asked, AskedBy(calibration, question));
  return LeadAt(calibration, asked, bits_per_second);
}

absl::StatusOr<ModeLeads> FindLeads(const Calibration& calibration,
                                    const LeadQuestion& question) {
  SHOAL_ASSIGN_OR_RETURN(const Asked asked, AskedBy(calibration, question));
  const auto lead_at = [&](double bits) {
    return LeadAt(calibration, asked, bits);
  };
  ModeLeads leads;
  std::optional<LeadRange> range;  // that the last bandwidth is in
  const auto add = [&](std::optional<double> to) {
    range->to = to;
    for (const auto& end : {range->from, range->to}) {
      if (end.has_value() && lead_at(*end).extrapolated) {
        range->extrapolated = true;
      }
    }
    leads.ranges.push_back(*range);
    range.reset();
  };
  double last = 0;
  for (double bits = kLeastBits; last < kMostBits;
       last = bits, bits = std::min(bits * kScanStep, kMostBits)) {
    const PredictedLead lead = lead_at(bits);
    leads.extrapolated = leads.extrapolated || lead.extrapolated;
    if (lead.is_clear() == range.has_value()) continue;
    if (range.has_value()) {
      add(EndOf(bits, last, lead_at));
    } else {
      range.emplace();
      if (last > 0) range->from = EndOf(last, bits, lead_at);
    }
  }
  if (range.has_value()) add(std::nullopt);
  return leads;
}

}  // namespace shoal
