// shoal data prepare: raw Criteo files to examples of a fitted encoding.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/file_system.h"
#include "base/path.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "datatools/criteo_prepare.h"
#include "job/exit_code.h"
#include "report/live_output.h"
#include "report/number_text.h"

namespace shoal {
namespace {

FlagSet DataPrepareFlagSet(CriteoPrepareOptions* options) {
  FlagSet set(
      "shoal data prepare",
      "Turns raw Criteo files (label, 13 integers and 26 categories, "
      "separated by tabs; plain, gzip or zstd) into examples to train on. "
      "Integers are scaled to [0, 1] by their range, and frequent categories "
      "are numbered. docs/criteo.md describes the encoding.");
  set.Group("Input");
  set.Add({"input",
           &options->input,
           "Raw files to train on: files, directories or globs, separated by "
           "commas. The encoding is fitted to them. With --features, also rows "
           "without labels, to predict for.",
           {},
           "the raw files to prepare"});
  set.Add({"val_input", &options->val_input,
           "Raw files to validate with; their rows go to separate files."});
  set.Add({"test_input", &options->test_input,
           "Raw files to test with; their rows go to separate files. They need "
           "labels, too, without --features."});
  set.Add({"max_bad_rows", &options->max_bad_rows,
           "Most unreadable rows in all files together that are left out; one "
           "more ends the command with an error. -1: no limit.",
           IntRange{-1}});
  set.Group("Encoding");
  set.Add({"cutoff", &options->cutoff,
           "Least number of rows with a category; rarer categories count as "
           "unknown.",
           IntRange{1}});
  set.Add({"split", &options->val_share,
           "Share of the rows of --input to validate with. The default with "
           "--val_input or --features is 0.",
           RealRange{0, 0.99}});
  set.Add({"seed", &options->seed,
           "Random seed for the choice of the --split rows.", IntRange{0}});
  set.Add({"features", &options->features,
           "File with an encoding (_features.txt of another run) to apply "
           "instead of fitting one, as to rows that a trained model is to "
           "score."});
  set.Add({"max_values", &options->max_values,
           "Most distinct categories that fitting may hold in memory, up to 60 "
           "bytes each; the Kaggle set has 33.8 million.",
           IntRange{1}});
  set.Group("Output");
  set.Add({"out",
           &options->out_dir,
           "Directory to write to, without data in it; made if it does not "
           "exist.",
           {},
           "the directory to write to"});
  set.Add({"format", ChoiceTarget(&options->format, kExampleFormats),
           "Format of the files."});
  set.Add({"file_bytes", &options->file_bytes,
           "Approximate size of an output file.", ByteRange{1}});
  return set;
}

std::string ProgressText(const CriteoPrepareProgress& progress) {
  const double share = progress.total_bytes == 0
                           ? 1
                           : static_cast<double>(progress.bytes) /
                                 static_cast<double>(progress.total_bytes);
  return absl::StrFormat("%s: %s rows, %.1f %% of %.1f MB", progress.doing,
                         WithCommas(progress.rows), 100 * share,
                         static_cast<double>(progress.total_bytes) / 1e6);
}

std::string PartLine(const char* name, const CriteoPart& part) {
  if (part.rows == 0) return "";
  const std::string labels =
      part.labelled ? absl::StrFormat("%.2f %% positive",
                                      100 * static_cast<double>(part.ones) /
                                          static_cast<double>(part.rows))
                    : "without labels";
  return absl::StrFormat("  %s-*  %s rows, %s, %.1f MB in %d file%s\n", name,
                         WithCommas(part.rows), labels,
                         static_cast<double>(part.bytes) / 1e6, part.files,
                         part.files == 1 ? "" : "s");
}

// The line about a cutoff that leaves little of small data; otherwise empty.
std::string CutoffLine(const CriteoPrepareOptions& options,
                       const CriteoPrepareReport& report) {
  if (!report.CutsNearlyAll(options.cutoff)) return "";
  return absl::StrFormat(
      "warning: only %s of %s categories are in at least %d rows (--cutoff), "
      "and all others of a column share one id; for %s rows a lower cutoff "
      "keeps more, as --cutoff=%d does\n",
      WithCommas(report.categories), WithCommas(report.distinct_values),
      options.cutoff, WithCommas(report.fitted_rows), report.LowerCutoff());
}

// The commands that the files are for.
std::string AdviceText(const std::string& out,
                       const CriteoPrepareReport& report) {
  std::string text;
  if (report.train.rows > 0) {
    absl::StrAppend(&text, "train with --feature_size=", report.feature_size,
                    " --field_size=39 --training_data_dir='", out, "/tr*'");
    const char* held_out = report.validation.rows > 0 ? "va"
                           : report.test.rows > 0 && report.test.labelled
                               ? "te"
                               : nullptr;
    if (held_out != nullptr) {
      absl::StrAppend(&text, " --val_data_dir='", out, "/", held_out, "*'");
    }
    text += "\n";
  }
  if (!report.test.labelled) {
    absl::StrAppend(&text,
                    "predict with shoal infer --model_dir=MODEL_DIR "
                    "--val_data_dir='",
                    out, "/te*' --predictions_file=predictions.txt\n");
  }
  return text;
}

std::string ReportText(const CriteoPrepareOptions& options,
                       const CriteoPrepareReport& report) {
  const std::string& out = options.out_dir;
  std::string text = absl::StrCat("wrote to ", out, "\n");
  text += PartLine("tr", report.train);
  text += PartLine("va", report.validation);
  text += PartLine("te", report.test);
  if (report.bad_rows > 0) {
    absl::StrAppend(&text, WithCommas(report.bad_rows),
                    report.bad_rows == 1 ? " bad row" : " bad rows",
                    " left out; the first: ", report.first_bad, "\n");
  }
  absl::StrAppend(&text, "encoding of ", WithCommas(report.categories),
                  " categories, fitted to ", WithCommas(report.fitted_rows),
                  " rows");
  if (options.features.empty()) {
    absl::StrAppend(&text, " (", WithCommas(report.distinct_values),
                    " distinct ones in the data, cutoff ", options.cutoff, ")");
  }
  absl::StrAppend(&text, ": ", JoinPath(out, kCriteoFeaturesName), "\n");
  return text + CutoffLine(options, report) + AdviceText(out, report);
}

}  // namespace

int DataPrepareCommand(const Args& args) {
  CriteoPrepareOptions options;
  FlagSet set = DataPrepareFlagSet(&options);
  if (const auto exit = ParseOrExit(&set, args)) return *exit;
  // An encoding that is there already is mostly applied to rows that a model
  // is to score, all of them and in their order.
  const bool fits = options.features.empty();
  if ((!options.val_input.empty() || !fits) && !set.given("split")) {
    options.val_share = 0;
  }
  const absl::Status valid = options.Validate();
  if (!valid.ok()) return Complain(set.command(), valid, kExitUsage);

  LiveOutput output(StderrOutput());
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const auto report = PrepareCriteo(
      files.get(), options, [&output](const CriteoPrepareProgress& progress) {
        output.Live({ProgressText(progress)}, absl::Now());
      });
  output.EndLive();
  if (!report.ok()) return Complain(set.command(), report.status());
  return PrintResult(set.command(), ReportText(options, *report));
}

}  // namespace shoal
