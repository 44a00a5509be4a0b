#include "launch/flags/model_flags.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "core/model_names.h"

namespace shoal {
namespace {

constexpr Choice<TableFull> kTableFull[] = {{TableFull::kRefuse, "refuse"},
                                            {TableFull::kShare, "share"}};

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const ModelName& model : kModelNames) names.push_back(model.name);
  return names;
}

// Chances that differ by less are equal: they were typed as decimals.
constexpr double kSameChance = 1e-9;

// 1 - chance, as it is typed: 0.9 for 0.1, to 12 decimals. Without rounding,
// 1 - chance may differ from the number that the decimal reads as.
double Complement(double chance) {
  return std::round((1 - chance) * 1e12) / 1e12;
}

// "deepfm, fm (factorisation machine), lr (logistic regression) or …".
std::string NamesWithNotes() {
  std::string text;
  for (size_t i = 0; i < std::size(kModelNames); ++i) {
    const ModelName& model = kModelNames[i];
    const bool last = i + 1 == std::size(kModelNames);
    absl::StrAppend(&text, i == 0 ? "" : last ? " or " : ", ", model.name);
    if (model.note[0] != '\0') absl::StrAppend(&text, " (", model.note, ")");
  }
  return text;
}

}  // namespace

void ModelFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Model");
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"model", ChoiceTarget(&model, Names()),
             absl::StrCat("Model to train: ", NamesWithNotes(), "."),
             NotThereYet{WordList(kPlannedModelNames)}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"feature_size", &feature_size,
             "Number of feature ids: they lie in [0, feature_size). 0: ids "
             "are any 64-bit numbers, and tables grow with the rows in use.",
             IntRange{0, int64_t{1} << 48}});
  rows->Add(kAllCommands, Canonical::kInJob,
            {"table_row_limit", &table_row_limit,
             "Most rows of a table that one parameter server may hold, "
             "without --feature_size; 0: no limit.",
             IntRange{0}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"table_full", ChoiceTarget(&table_full, kTableFull),
             "Treatment of new ids at --table_row_limit: refuse ends the job, "
             "share lets all of them use one common row."});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"field_size", &field_size,
             "Most features that a row may have; shorter rows are padded.",
             IntRange{1, 1 << 16}, "it sets the width of the model's input"});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"embedding_size", &embedding_size,
             "Number of floats in an embedding (K).", IntRange{1, 4096}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"deep_layers", &deep_layers,
             "Number of units in each hidden layer of the MLP.",
             IntRange{1, 1 << 16}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"keep_prob", &keep_prob,
             "Chance to keep a unit while training, one number per hidden "
             "layer, as in 0.9,0.9,0.9. The reference script calls this chance "
             "--dropout. Left out: 1 - --dropout, or all units are kept.",
             RealRange{0, 1, /*above_min=*/true}});
  rows->Add(kAllCommands, Canonical::kNo,  // keep_prob is canonical
            {"dropout", &dropout,
             "Chance to drop a unit while training, one number per hidden "
             "layer, of at most 0.5. --keep_prob is 1 minus this chance; give "
             "one of the two flags.",
             RealRange{0, 1}});
  Flag batch_norm_flag = {
      "batch_norm", &batch_norm,
      "True for batch norm after each hidden layer; not there yet."};
  batch_norm_flag.hidden = true;
  rows->Add(kAllCommands, Canonical::kInCheckpoint, std::move(batch_norm_flag));
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"seed", &seed,
             "Random seed for initial weights, data order and dropout."});
}

std::vector<double> ModelFlags::KeepProb() const {
  std::vector<double> kept = keep_prob;
  if (kept.empty()) {
    for (const double dropped : dropout) kept.push_back(Complement(dropped));
  }
  const auto keeps = [](double chance) { return chance == 1; };
  if (absl::c_all_of(kept, keeps)) kept.clear();
  return kept;
}

bool ModelFlags::Exact() const {
  return std::any_of(std::begin(kModelNames), std::end(kModelNames),
                     [this](const ModelName& known) {
                       return known.exact && known.name == model;
                     });
}

absl::Status ModelFlags::ValidateDropout() const {
  for (const auto& [name, chances] :
       {std::pair("keep_prob", &keep_prob), std::pair("dropout", &dropout)}) {
    if (chances->empty() || chances->size() == deep_layers.size()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--", name, "=", absl::StrJoin(*chances, ","), " has ",
        chances->size(), chances->size() == 1 ? " entry" : " entries",
        " and --deep_layers=", absl::StrJoin(deep_layers, ","), " has ",
        deep_layers.size(), "; give one entry per layer"));
  }
  const std::string dropped = absl::StrJoin(dropout, ",");
  for (size_t i = 0; i < dropout.size(); ++i) {
    if (dropout[i] > 0.5) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dropout=", dropped, " is the chance to drop a unit, and may be at "
          "most 0.5. If it is meant as the chance to keep a unit, as in the "
          "reference script, write --keep_prob=", dropped,
          "; to drop more than half of the units, give 1 minus the chance as "
          "--keep_prob"));
    }
    if (!keep_prob.empty() &&
        std::abs(keep_prob[i] - Complement(dropout[i])) > kSameChance) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dropout=", dropped,
          " and --keep_prob=", absl::StrJoin(keep_prob, ","),
          " differ: the chance to keep a unit is 1 minus the chance to drop "
          "it; give one of the two flags"));
    }
  }
  return absl::OkStatus();
}

absl::Status ModelFlags::Validate() const {
  if (batch_norm) {
    return absl::InvalidArgumentError(
        "--batch_norm=true is not there yet: moving averages need an update "
        "of their own on the parameter servers");
  }
  SHOAL_RETURN_IF_ERROR(ValidateDropout());
  // With feature_size a table is an array; without it a table is dynamic.
  if (feature_size != 0 && table_row_limit != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--table_row_limit=", table_row_limit,
        " with --feature_size=", feature_size,
        ": a table that is as long as --feature_size needs no limit; leave out "
        "one of the two flags"));
  }
  if (table_full == TableFull::kShare && table_row_limit == 0) {
    return absl::InvalidArgumentError(
        "--table_full=share: without --table_row_limit no table is ever full");
  }
  if (table_full == TableFull::kShare && Exact()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--table_full=share: --model=", model,
                     " does not allow it, because the order of arrival decides "
                     "which ids share a row"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
