// shoal data gen: synthetic data of a planted model.

#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/file_system.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "datatools/synthetic.h"
#include "job/exit_code.h"
#include "report/live_output.h"
#include "report/number_text.h"

namespace shoal {
namespace {

FlagSet DataGenFlagSet(GenerateOptions* options) {
  FlagSet set("shoal data gen",
              "Writes data whose labels are drawn from a factorization machine "
              "with random weights, so that the best AUC that any model can "
              "reach is known. The same flags give the same bytes.");
  set.Group("Data");
  set.Add({"out",
           &options->out_dir,
           "Directory to write to, made if it does not exist. It must not hold "
           "data made with other flags.",
           {},
           "the directory to write to"});
  set.Add({"rows", &options->rows, "Number of rows to train on.", IntRange{1}});
  set.Add({"test_rows", &options->test_rows, "Number of rows to evaluate on.",
           IntRange{1, 100'000'000}});
  set.Add({"files", &options->files, "Number of files for the training rows.",
           IntRange{1, 100'000}});
  set.Add({"format", ChoiceTarget(&options->format, kExampleFormats),
           "Format of the files."});
  set.Group("Rows");
  set.Add({"fields", &options->fields, "Number of features of a row.",
           IntRange{1, 65535}});
  set.Add({"numeric_fields", &options->numeric_fields,
           "Number of fields that have one id and a real value; -1: a third "
           "of all fields.",
           IntRange{-1, 65535}});
  set.Add({"ids", &options->ids,
           "Number of feature ids of all fields together: the --feature_size "
           "to train with.",
           IntRange{1, int64_t{1} << 48}});
  set.Add({"zipf", &options->zipf,
           "Exponent of the Zipf distribution of a field's ids; 0: all ids "
           "are equally frequent.",
           RealRange{0, 10}});
  set.Add({"seed", &options->seed, "Random seed for all generated data.",
           IntRange{0}});
  return set;
}

}  // namespace

int DataGenCommand(const Args& args) {
  GenerateOptions options;
  FlagSet set = DataGenFlagSet(&options);
  if (const auto exit = ParseOrExit(&set, args)) return *exit;
  const absl::Status valid = options.Validate();
  if (!valid.ok()) return Complain(set.command(), valid, kExitUsage);

  LiveOutput output(StderrOutput());
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const auto report = GenerateData(
      files.get(), options, [&output](uint64_t done, uint64_t total) {
        output.Live({absl::StrFormat("%s of %s rows", WithCommas(done),
                                     WithCommas(total))},
                    absl::Now());
      });
  output.EndLive();
  if (!report.ok()) return Complain(set.command(), report.status());
  const std::string text = absl::StrFormat(
      "%s rows to train on and %s to evaluate on, %.1f MB, in %s\n"
      "%.1f %% of the test rows are positive; the best possible AUC on them "
      "is %.5f (logloss %.5f)\n"
      "train with --feature_size=%d --field_size=%d "
      "--training_data_dir='%s/tr*' --val_data_dir='%s/te*'\n",
      WithCommas(report->rows), WithCommas(report->test_rows),
      static_cast<double>(report->bytes) / 1e6, options.out_dir,
      100 * report->positive_rate, report->best_auc, report->best_logloss,
      options.ids, options.fields, options.out_dir, options.out_dir);
  return PrintResult(set.command(), text);
}

}  // namespace shoal
