#ifndef SHOAL_BENCH_COMPARE_MODEL_FACTS_H_
#define SHOAL_BENCH_COMPARE_MODEL_FACTS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"
#include "bench/compare/cell_flags.h"

namespace shoal {

struct ModelFactsOptions {
  std::map<std::string, FlagMap> job;  // by model: the flags of its jobs
  // false: they are on other hosts, so nothing is counted.
  bool data_are_here = true;
  const FileSystem* files = nullptr;  // outlives the facts
};

// What is known of the models of a comparison without training them.
// Thread-compatible.
class ModelFacts {
 public:
  explicit ModelFacts(ModelFactsOptions options)
      : options_(std::move(options)) {}

  // Sizes and work of a model of the options, without its ids. The error is
  // that of its flags.
  absl::StatusOr<ComparedModel> Of(const std::string& model) const;

  // How the distinct ids of the model's data grow from one batch on. Empty: the
  // data cannot be read here.
  std::vector<IdCount> IdGrowth(const std::string& model, int batch);

  // The formula of the cell's bytes; nullopt: the data cannot be read here.
  // `mean_batch`: the mean number of rows of a batch, which is below the cell's
  // batch size where the last batch of each piece of the data is short; 0: not
  // known.
  std::optional<RoleBytes> Formula(const Cell& cell, double mean_batch);

 private:
  const ModelFactsOptions options_;
  // By model and batch.
  std::map<std::pair<std::string, int>, std::vector<IdCount>> distinct_ids_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_MODEL_FACTS_H_
