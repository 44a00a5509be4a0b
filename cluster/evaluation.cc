#include "cluster/evaluation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/metrics.h"

namespace shoal {

Evaluation::Evaluation(uint32_t number, uint32_t num_pieces,
                       uint64_t max_examples)
    : number_(number), num_pieces_(num_pieces), max_examples_(max_examples) {}

absl::Status Evaluation::Add(EvalResult result) {
  if (result.epoch != number_ || result.piece >= num_pieces_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "scores of evaluation ", result.epoch, ", piece ", result.piece,
        ", where evaluation ", number_, " has ", num_pieces_, " pieces"));
  }
  const std::string name = absl::StrCat("evaluation piece ", result.piece);
  if (result.logits.size() != result.labels.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", result.logits.size(), " scores for ",
                     result.labels.size(), " labels"));
  }
  for (size_t i = 0; i < result.labels.size(); ++i) {
    if (result.labels[i] > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ", example ", i, ": label ", result.labels[i]));
    }
    if (!std::isfinite(result.logits[i])) {
      return absl::DataLossError(
          absl::StrCat(name, ", example ", i, ": the score is ",
                       result.logits[i], "; the model has diverged"));
    }
  }
  const uint64_t replaced = has(result.piece) ? examples(result.piece) : 0;
  const uint64_t examples = examples_ - replaced + result.labels.size();
  if (examples > max_examples_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the evaluation has more than --auc_exact_rows=", max_examples_,
        " examples; raise it (up to 20 bytes an example on the coordinator) or "
        "evaluate on less"));
  }
  examples_ = examples;
  const uint32_t piece = result.piece;
  results_[piece] = std::move(result);
  return absl::OkStatus();
}

EvalReport Evaluation::Report() const {
  EvalReport report;
  std::vector<float> logits;
  std::vector<uint8_t> labels;
  logits.reserve(examples_);
  labels.reserve(examples_);
  for (const auto& [piece, result] : results_) {
    logits.insert(logits.end(), result.logits.begin(), result.logits.end());
    labels.insert(labels.end(), result.labels.begin(), result.labels.end());
  }
  report.auc = ExactAuc(logits, labels);
  report.logloss = MeanLogLoss(logits, labels);
  report.examples = examples_;
  return report;
}

}  // namespace shoal
