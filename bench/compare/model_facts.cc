#include "bench/compare/model_facts.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/status_macros.h"
#include "bench/compare/byte_formula.h"
#include "bench/compare/parsed_job.h"
#include "job/job_id_growth.h"
#include "job/job_plan.h"
#include "job/options_from_flags.h"
#include "job/variable_sizes.h"
#include "models/model_table.h"

namespace shoal {
namespace {

// Distinct ids are counted in groups of 1, 2, 4, … and so many batches in a
// row. Twice as many batches are read.
constexpr uint64_t kMostIdBatches = 32;

}  // namespace

absl::StatusOr<ComparedModel> ModelFacts::Of(const std::string& model) const {
  const FlagMap& flags = options_.job.at(model);
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<ParsedJob> job,
                         ParseFlags(FlagsOfModel(flags), *options_.files));
  SHOAL_ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(job->flags));
  const VariableSizes sizes = SizesOf(plan.spec);
  return ComparedModel{flags,
                       sizes.dense_bytes,
                       sizes.row_bytes,
                       sizes.flop_per_sample,
                       sizes.table_bytes,
                       FindModel(plan.model.model)->work(plan.model)};
}

std::vector<IdCount> ModelFacts::IdGrowth(const std::string& model, int batch) {
  if (!options_.data_are_here) return {};
  const auto [counts, is_new] = distinct_ids_.try_emplace({model, batch});
  if (!is_new) return counts->second;
  const auto job =
      ParseFlags(FlagsOfModel(options_.job.at(model)), *options_.files);
  if (!job.ok()) return {};
  const auto points =
      MeasureJobIdGrowth(*options_.files, (*job)->flags,
                         static_cast<uint32_t>(batch), kMostIdBatches);
  if (!points.ok()) return {};
  for (const IdGrowthPoint& point : *points) {
    if (point.ids <= 0) break;
    counts->second.push_back(
        {static_cast<double>(point.batches) * batch, point.ids});
  }
  return counts->second;
}

std::optional<RoleBytes> ModelFacts::Formula(const Cell& cell,
                                             double mean_batch) {
  if (!options_.data_are_here) return std::nullopt;
  if (mean_batch <= 0) mean_batch = cell.batch_size;
  const int batch = std::max(1, static_cast<int>(mean_batch));
  const auto model = Of(cell.model);
  if (!model.ok()) return std::nullopt;
  const std::vector<IdCount> rows = IdGrowth(cell.model, batch);
  if (rows.empty()) return std::nullopt;
  return FormulaOf(cell, *model, mean_batch, rows.front().ids);
}

}  // namespace shoal
