#include "launch/flags/model_flags.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
            {"dropout", &dropout,
             "Probability to KEEP a unit, one per hidden layer, as in "
             "0.5,0.5,0.5. Left out: all units are kept.",
             RealRange{0, 1, /*above_min=*/true}});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"batch_norm", &batch_norm,
             "True for batch norm after each hidden layer; not there yet."});
  rows->Add(kAllCommands, Canonical::kInCheckpoint,
            {"seed", &seed,
             "Random seed for initial weights, data order and dropout."});
}

bool ModelFlags::Exact() const {
  return std::any_of(std::begin(kModelNames), std::end(kModelNames),
                     [this](const ModelName& known) {
                       return known.exact && known.name == model;
                     });
}

absl::Status ModelFlags::Validate() const {
  if (batch_norm) {
    return absl::InvalidArgumentError(
        "--batch_norm=true is not there yet: moving averages need an update "
        "of their own on the parameter servers");
  }
  if (!dropout.empty() && dropout.size() != deep_layers.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--dropout=", absl::StrJoin(dropout, ","), " has ", dropout.size(),
        " entries and --deep_layers=", absl::StrJoin(deep_layers, ","), " has ",
        deep_layers.size(), "; give one entry per layer"));
  }
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
