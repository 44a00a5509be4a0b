#include "launch/scoring_flags.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "launch/flag_value.h"
#include "launch/job_flag_set.h"

namespace shoal {
namespace {

constexpr unsigned kEvalAlone = static_cast<unsigned>(Command::kEval);
constexpr unsigned kInferAlone = static_cast<unsigned>(Command::kInfer);

// A flag that --help lists. An empty text stands for that of the flag's row.
struct ShownFlag {
  const char* name;
  unsigned takers;
  const char* help = "";
  const char* required = "";       // why the flag must be given
  const char* default_value = "";  // in words, for --help
};

constexpr char kAsTrained[] = "as trained";

constexpr ShownFlag kShown[] = {
    {"batch_size", kScoring,
     "Number of examples in a batch. Left out: that of the training.", "",
     kAsTrained},
    {"backend", kScoring},
    {"first_layer", kScoring},
    {"val_data_dir", kEvalAlone,
     "Files to evaluate on: a file, a directory, which names all files below "
     "it, or a glob, or several of these separated by commas.",
     "it names the rows to evaluate on"},
    {"val_data_dir", kInferAlone,
     "Files to predict for: a file, a directory, which names all files below "
     "it, or a glob, or several of these separated by commas.",
     "it names the rows to predict for"},
    {"piece_bytes", kScoring,
     "Size in bytes of a piece of the data, which one worker loop scores. -1: "
     "a 32nd of the data, in [64 KiB, 64 MiB]; 0: each file is one piece."},
    {"max_bad_rows", kScoring},
    {"auc_exact_rows", kEvalAlone},
    {"data_format", kScoring,
     "Format of the files, which may be plain, gzip or zstd. auto: told from "
     "the first bytes of each file. Left out: that of the training.",
     "", kAsTrained},
    {"quarantine_dir", kScoring,
     "Directory into which bad rows are written: file, row and reason. Left "
     "out: bad rows are only counted, and the first one is named."},
    {"parse_threads", kScoring},
    {"model_dir", kScoring,
     "Directory of a training's checkpoints. The model of the newest one is "
     "used. Nothing is written into the directory."},
    {"checkpoint", kScoring},
    {"predictions_file", kInferAlone,
     "File for the predicted probabilities, one per row in the order of the "
     "input; nan for a row that cannot be parsed.",
     "it says where the predictions go"},
    {"predictions_format", kInferAlone},
    {"unseen", kScoring},
    {"workers", kScoring, "Number of worker loops, one thread each."},
    {"progress_timeout", kScoring,
     "Longest time in which nothing is read or scored. After it the command "
     "ends with an error."},
    {"summary", kScoring},
    {"log_level", kScoring},
    {"print_config", kScoring},
    {"progress_every", kScoring},
    {"config", kScoring},
    {"metrics_port", kScoring},
    {"metrics_listen", kScoring},
    {"memory_check", kScoring},
};

// Canonical flags that say how a training ran, and nothing about its model.
constexpr const char* kOfTraining[] = {
    "backup_workers", "bucket_bytes",   "canary",     "data_scope",
    "max_message_bytes", "mode",        "num_epochs", "pipeline_depth",
    "ps",             "reduction",      "shuffle",    "shuffle_rows",
    "ssp_bound",      "task_type",      "val_data_scope"};

// A flag that is not canonical, but gives the value of one that is.
struct OtherForm {
  const char* name;
  const char* canonical;
};
constexpr OtherForm kOtherForms[] = {{"dropout", "keep_prob"}};

// Returns nullptr if the command does not list the flag.
const ShownFlag* FindShown(Command command, absl::string_view name) {
  const auto* const found = std::find_if(
      std::begin(kShown), std::end(kShown), [&](const ShownFlag& shown) {
        return shown.name == name &&
               (shown.takers & static_cast<unsigned>(command)) != 0;
      });
  return found == std::end(kShown) ? nullptr : found;
}

using NameAndValue = std::pair<std::string, std::string>;

std::vector<NameAndValue> LinesOf(absl::string_view config) {
  std::vector<NameAndValue> lines;
  for (const absl::string_view line :
       absl::StrSplit(config, '\n', absl::SkipEmpty())) {
    lines.emplace_back(absl::StrSplit(line, absl::MaxSplits('=', 1)));
  }
  return lines;
}

bool IsOtherForm(absl::string_view name) {
  return std::any_of(
      std::begin(kOtherForms), std::end(kOtherForms),
      [&](const OtherForm& form) { return name == form.name; });
}

// True if the canonical flag is given, in any of its forms.
bool IsGiven(const FlagSet& set, const std::string& canonical) {
  return set.given(canonical) ||
         std::any_of(std::begin(kOtherForms), std::end(kOtherForms),
                     [&](const OtherForm& form) {
                       return canonical == form.canonical &&
                              set.given(form.name);
                     });
}

// Returns nullptr if there is no such flag.
const JobFlagRow* FindRow(const JobFlagRows& rows, absl::string_view name) {
  for (const JobFlagRow& row : rows.rows()) {
    if (row.flag.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

ScoringUse UseInScoring(Command command, const JobFlagRow& row) {
  SHOAL_DCHECK(OnlyScores(command));
  if (FindShown(command, row.flag.name) != nullptr) return ScoringUse::kShown;
  if (IsOtherForm(row.flag.name)) return ScoringUse::kOfModel;
  const bool of_training =
      std::any_of(std::begin(kOfTraining), std::end(kOfTraining),
                  [&](const char* name) { return row.flag.name == name; });
  return row.canonical == Canonical::kNo || of_training ? ScoringUse::kNone
                                                        : ScoringUse::kOfModel;
}

Flag ScoringFlag(Command command, const JobFlagRow& row) {
  Flag flag = row.flag;
  const ShownFlag* const shown = FindShown(command, flag.name);
  flag.hidden = shown == nullptr;
  if (shown == nullptr) return flag;
  if (shown->help[0] != '\0') flag.help = shown->help;
  if (shown->required[0] != '\0') flag.required = shown->required;
  flag.default_value = shown->default_value;
  return flag;
}

absl::Status TakeModelFlags(absl::string_view config, const std::string& path,
                            JobFlags* flags, FlagSet* set) {
  const JobFlagRows rows = AllJobFlagRows(flags);
  std::vector<FlagSetting> settings;
  std::vector<NameAndValue> given;
  for (const auto& [name, value] : LinesOf(config)) {
    const JobFlagRow* const row = FindRow(rows, name);
    if (row == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": its model has --", name, "=", value,
          ", a flag that this version of Shoal does not have; use the version "
          "that wrote the checkpoint, or a newer one"));
    }
    // A config holds canonical flags. What else stands there is not of the
    // model, and must not decide what this command reads and writes.
    if (row->canonical == Canonical::kNo) continue;
    const ScoringUse use = UseInScoring(flags->command, *row);
    if (use == ScoringUse::kNone) continue;
    if (use == ScoringUse::kOfModel && IsGiven(*set, name)) {
      given.emplace_back(name, value);
    }
    settings.push_back({name, value, path});
  }
  SHOAL_RETURN_IF_ERROR(set->Fill(settings));
  // Compared only now, because a flag may leave its value to another one.
  const std::vector<NameAndValue> lines = LinesOf(flags->CanonicalConfig());
  const std::map<std::string, std::string> now(lines.begin(), lines.end());
  for (const auto& [name, value] : given) {
    const auto line = now.find(name);
    // A line is left out at its default (Canonical::kInCheckpointIfSet).
    const std::string mine =
        line == now.end() ? PrintFlagValue(FindRow(rows, name)->flag.target)
                          : line->second;
    if (mine == value) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--", name, "=", mine, " is given, but the model of ", path,
        " has --", name, "=", value, "; leave the flag out"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
