#include "plan/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

// How distinct ids grow with samples where only one point is known. Criteo's
// ids grow with a power from .80 at 64 samples to .67 at 4,096.
constexpr double kUsualGrowth = .75;
constexpr int kDeepest = 2;  // of --pipeline_depth

// The correction of the mode, or nullptr.
const ModeCorrection* Find(const std::vector<ModeCorrection>& corrections,
                           absl::string_view mode) {
  for (const ModeCorrection& correction : corrections) {
    if (correction.mode == mode) return &correction;
  }
  return nullptr;
}

}  // namespace

double Calibration::IdsOf(double samples) const {
  if (distinct_ids.empty() || samples <= 0) return 0;
  if (distinct_ids.size() == 1) {
    const DistinctIds& one = distinct_ids.front();
    return one.ids * std::pow(samples / one.samples, kUsualGrowth);
  }
  size_t i = 1;
  while (i + 1 < distinct_ids.size() && samples > distinct_ids[i].samples) ++i;
  const DistinctIds& a = distinct_ids[i - 1];
  const DistinctIds& b = distinct_ids[i];
  const double slope =
      std::log(b.ids / a.ids) / std::log(b.samples / a.samples);
  return a.ids * std::pow(samples / a.samples, slope);
}

double Calibration::CorrectionOf(absl::string_view mode, int hosts) const {
  const ModeCorrection* const found = Find(corrections, mode);
  if (found == nullptr) return 1;
  return hosts == 1 ? found->alone : found->factor;
}

bool Calibration::IsCorrectedByAnother(absl::string_view mode,
                                       int hosts) const {
  const ModeCorrection* const found = Find(corrections, mode);
  if (found == nullptr) return false;
  return !(hosts == 1 ? found->alone_is_own : found->factor_is_own);
}

absl::Status Calibration::Validate() const {
  const auto wrong = [](absl::string_view key, absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("calibration, ", key, ": ", what));
  };
  const struct {
    const char* key;
    double value;
    bool may_be_zero;
  } figures[] = {
      {"batch_size", batch_size, false},
      {"dense_bytes", dense_bytes, true},
      {"row_floats", row_floats, true},
      {"work.plain", work.plain, true},
      {"work.per_sample", work.per_sample, true},
      {"work.per_id", work.per_id, true},
      {"work.most_ids", work.most_ids, true},
      {"step_times.p10", step_times.p10, true},
      {"step_times.count", step_times.count, true},
      {"step_times.p98", step_times.p98, true},
      {"costs.sample", costs.sample, false},
      {"costs.row", costs.row, true},
      {"costs.merged_row", costs.merged_row, true},
      {"costs.dense_byte", costs.dense_byte, true},
      {"costs.worker_byte", costs.worker_byte, true},
      {"costs.worker_call", costs.worker_call, true},
      {"costs.server_byte", costs.server_byte, true},
      {"costs.server_call", costs.server_call, true},
      {"costs.ring_byte", costs.ring_byte, true},
      {"costs.ring_hop", costs.ring_hop, true},
      {"worker_memory", worker_memory, true},
      {"server_memory", server_memory, true},
      {"table_bytes", table_bytes, true},
      {"least_cores", least_cores, true},
      {"most_cores", most_cores, true},
      {"bucket_bytes", bucket_bytes, false},
      {"least_batch", least_batch, true},
      {"most_batch", most_batch, true},
      {"least_bits", least_bits, true},
      {"most_bits", most_bits, true},
  };
  for (const auto& figure : figures) {
    if (!std::isfinite(figure.value) || figure.value < 0 ||
        (figure.value == 0 && !figure.may_be_zero)) {
      return wrong(figure.key, figure.may_be_zero
                                   ? "must be a number of at least 0"
                                   : "must be a number above 0");
    }
  }
  if (!(final_share >= 0 && final_share <= 1)) {
    return wrong("final_share", "must be a number from 0 to 1");
  }
  if (ssp_bound < 0) return wrong("ssp_bound", "must be 0 or more");
  if (pipeline_depth < 0 || pipeline_depth > kDeepest) {
    return wrong("pipeline_depth", absl::StrCat("must be 0 to ", kDeepest));
  }
  const RelativeTimes& t = step_times;
  if (!(t.p10 <= t.p50 && t.p50 <= t.p90 && t.p90 <= t.p99 && t.p99 <= t.max &&
        std::isfinite(t.max) && t.max > 0)) {
    return wrong("step_times", "quantiles must ascend");
  }
  if (distinct_ids.empty()) {
    return wrong("distinct_ids", "one entry or more is needed");
  }
  for (size_t i = 0; i < distinct_ids.size(); ++i) {
    const DistinctIds& ids = distinct_ids[i];
    if (!(ids.samples > 0) || !(ids.ids > 0) || !std::isfinite(ids.samples) ||
        !std::isfinite(ids.ids)) {
      return wrong("distinct_ids", "must be numbers above 0");
    }
    if (i > 0 && (ids.samples <= distinct_ids[i - 1].samples ||
                  ids.ids < distinct_ids[i - 1].ids)) {
      return wrong("distinct_ids", "samples and ids must ascend");
    }
  }
  for (const ModeCorrection& correction : corrections) {
    for (const double factor : {correction.factor, correction.alone}) {
      if (!(factor > 0) || !std::isfinite(factor)) {
        return wrong("corrections", "factors must be numbers above 0");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal
