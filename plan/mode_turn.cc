#include "plan/mode_turn.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "plan/cluster_description.h"
#include "plan/mode_shape.h"
#include "plan/prediction.h"
#include "plan/step_demand.h"

namespace shoal {
namespace {

constexpr int kPoints = 25;  // bandwidths at which two modes are compared

absl::StatusOr<const ModeShape*> ModeNamed(const std::string& name) {
  const ModeShape* const mode = FindModeShape(name);
  if (mode == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no mode '", name, "'"));
  }
  return mode;
}

// How two modes compare over all bandwidths.
struct Lead {
  double least = 0;  // samples a second of the one over those of the other
  double most = 0;
  bool extrapolated = false;
};

Lead LeadOf(const ModeShape& one, const ModeShape& other,
            const Calibration& calibration, const PlannedJob& job,
            ClusterDescription cluster) {
  Lead lead;
  for (int i = 0; i < kPoints; ++i) {
    cluster.bits_per_second =
        kLeastBits *
        std::pow(kMostBits / kLeastBits, i / static_cast<double>(kPoints - 1));
    const Prediction a =
        Predict(one, calibration, job, cluster, cluster.hosts);
    const Prediction b =
        Predict(other, calibration, job, cluster, cluster.hosts);
    const double ratio = a.samples_per_second / b.samples_per_second;
    lead.least = i == 0 ? ratio : std::min(lead.least, ratio);
    lead.most = std::max(lead.most, ratio);
    lead.extrapolated = lead.extrapolated || a.extrapolated || b.extrapolated;
  }
  return lead;
}

std::string NoTurnText(const std::string& one, const std::string& other,
                       const Lead& lead, int hosts) {
  const std::string where =
      absl::StrCat(" at every bandwidth from ", kLeastBits / 1e9, " to ",
                   NetworkText(kMostBits), " at ", Counted(hosts, "host"));
  const auto faster = [&where](const std::string& a, const std::string& b) {
    return absl::StrCat(a, " is faster than ", b, where);
  };
  const double clear = 1 + kClearLead;
  if (lead.least >= clear) return faster(one, other);
  if (lead.most <= 1 / clear) return faster(other, one);
  const auto never = [&where](const std::string& a, const std::string& b) {
    return absl::StrCat(a, " is faster than ", b, " or within ",
                        100 * kClearLead, " % of it", where);
  };
  if (lead.most > clear) return never(one, other);
  if (lead.least < 1 / clear) return never(other, one);
  return absl::StrCat(one, " and ", other, " are within ", 100 * kClearLead,
                      " % of each other", where);
}

// What a question asks, as the planner takes it.
struct Asked {
  const ModeShape* one;
  const ModeShape* other;
  PlannedJob job;
  ClusterDescription cluster;
};

absl::StatusOr<Asked> AskedBy(const Calibration& calibration,
                              const TurnQuestion& question) {
  SHOAL_ASSIGN_OR_RETURN(const ModeShape* const one, ModeNamed(question.mode));
  SHOAL_ASSIGN_OR_RETURN(const ModeShape* const other,
                         ModeNamed(question.other));
  if (one == other) {
    return absl::InvalidArgumentError(
        absl::StrCat(question.mode, " is compared with itself"));
  }
  if (question.hosts < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(question.hosts, " hosts train nothing; give 1 or more"));
  }
  Asked asked{one, other,
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

}  // namespace

absl::StatusOr<ModeTurn> FindModeTurn(const Calibration& calibration,
                                      const TurnQuestion& question) {
  SHOAL_ASSIGN_OR_RETURN(const Asked asked, AskedBy(calibration, question));
  const auto& [one, other, job, cluster] = asked;
  ModeTurn turn;
  if (question.hosts == 1) {
    turn.text = "one host needs no network, so its bandwidth decides nothing";
    return turn;
  }
  turn.crossovers =
      CrossoversOf({one, other}, calibration, job, cluster, question.hosts);
  std::vector<std::string> parts;
  for (const Crossover& crossover : turn.crossovers) {
    parts.push_back(CrossoverText(crossover));
    turn.extrapolated = turn.extrapolated || crossover.extrapolated;
  }
  if (parts.empty()) {
    const Lead lead = LeadOf(*one, *other, calibration, job, cluster);
    turn.extrapolated = lead.extrapolated;
    if (lead.most >= 1 + kClearLead) {
      turn.ahead = one;
    } else if (lead.least <= 1 / (1 + kClearLead)) {
      turn.ahead = other;
    }
    parts.push_back(
        NoTurnText(question.mode, question.other, lead, question.hosts));
  }
  turn.text = absl::StrCat(absl::StrJoin(parts, "; "),
                           turn.extrapolated ? " (extrapolated)" : "");
  return turn;
}

absl::StatusOr<double> PredictedRatio(const Calibration& calibration,
                                      const TurnQuestion& question,
                                      double bits_per_second) {
  SHOAL_ASSIGN_OR_RETURN(Asked asked, AskedBy(calibration, question));
  asked.cluster.bits_per_second = bits_per_second;
  const auto speed = [&](const ModeShape& mode) {
    return Predict(mode, calibration, asked.job, asked.cluster,
                   asked.cluster.hosts)
        .samples_per_second;
  };
  return speed(*asked.one) / speed(*asked.other);
}

}  // namespace shoal
