// shoal data stat: what is in data files.

#include <algorithm>
#include <memory>
#include <string>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/file_system.h"
#include "base/json_writer.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "datatools/data_statistics.h"
#include "job/exit_code.h"
#include "report/live_output.h"
#include "report/number_text.h"

namespace shoal {
namespace {

struct StatFlags {
  DataStatisticsOptions options;
  bool as_json = false;
};

FlagSet DataStatFlagSet(StatFlags* flags) {
  DataStatisticsOptions* const options = &flags->options;
  FlagSet set("shoal data stat",
              "Reads data files once, and prints statistics and suggested "
              "flags for training. Files, directories and globs are given "
              "beside the flags: shoal data stat data/tr* --json.");
  set.Group("Data");
  set.Add({"data_format", ChoiceTarget(&options->format, kDataFormats),
           "Format of the files; auto: recognized by the content of each "
           "file."});
  set.Add({"feature_size", &options->feature_size,
           "Number of feature ids: rows with an id at or above it are bad, and "
           "raw Criteo values are hashed to ids below it. 0: any id is good.",
           IntRange{0}});
  set.Add({"field_size", &options->field_size,
           "Most features of a row: rows with more, or with a field at or "
           "above it, are bad. 0: no limit.",
           IntRange{0, 65535}});
  set.Group("Output");
  set.Add({"max_ids", &options->max_ids,
           "Most distinct ids to count exactly, with up to 60 bytes of memory "
           "each; the number of more ids is estimated.",
           IntRange{1, int64_t{1} << 40}});
  set.Add({"json", &flags->as_json, "Print one JSON object instead of text."});
  return set;
}

// Removes the arguments that are neither flags nor values of flags from *args,
// and returns them joined by commas: the files. A boolean flag has no separate
// value here.
std::string TakeFiles(const FlagSet& set, Args* args) {
  std::string files;
  Args rest;
  for (size_t i = 0; i < args->size(); ++i) {
    const std::string& arg = (*args)[i];
    if (!absl::StartsWith(arg, "-")) {
      absl::StrAppend(&files, files.empty() ? "" : ",", arg);
      continue;
    }
    rest.push_back(arg);
    const Flag* flag = set.Find(absl::StripPrefix(arg, "--"));
    if (flag == nullptr) continue;
    if (std::holds_alternative<bool*>(flag->target)) {
      rest.back() += "=true";
    } else if (i + 1 < args->size()) {
      rest.push_back((*args)[++i]);
    }
  }
  *args = std::move(rest);
  return files;
}

std::string FormatText(const FileStatistics& file) {
  if (!file.format.has_value()) return "unknown";
  const char* const packed[] = {"", ".gz", ".zst"};
  return absl::StrCat(ChoiceWord(kDataFormats, file.format->format),
                      packed[static_cast<int>(file.format->compression)]);
}

// The share of the rows with a label that have label 1, in percent; "-" if no
// row has a label.
std::string OnesText(const RowStatistics& rows) {
  const uint64_t labelled = rows.rows - rows.unlabelled;
  if (labelled == 0) return "-";
  return absl::StrFormat(
      "%.2f %%",
      100 * static_cast<double>(rows.ones) / static_cast<double>(labelled));
}

// ", 391 without a label"; empty if every row has one.
std::string UnlabelledText(const RowStatistics& rows) {
  return rows.unlabelled == 0
             ? ""
             : absl::StrCat(", ", WithCommas(rows.unlabelled),
                            " without a label");
}

std::string FeaturesText(const RowStatistics& rows) {
  return rows.min_features == rows.max_features
             ? absl::StrCat(rows.max_features)
             : absl::StrCat(rows.min_features, "-", rows.max_features);
}

std::string FileTable(const DataStatistics& data) {
  size_t width = 4;
  for (const FileStatistics& file : data.files) {
    width = std::max(width, file.path.size());
  }
  std::string text =
      absl::StrFormat("%-*s %-12s %12s %14s %10s %8s %9s\n", width, "file",
                      "format", "MB", "rows", "bad", "positive", "features");
  for (const FileStatistics& file : data.files) {
    absl::StrAppendFormat(
        &text, "%-*s %-12s %12.2f %14s %10s %8s %9s\n", width, file.path,
        FormatText(file), static_cast<double>(file.bytes) / 1e6,
        WithCommas(file.rows.rows), WithCommas(file.rows.bad_rows),
        OnesText(file.rows), FeaturesText(file.rows));
    if (!file.status.ok()) {
      absl::StrAppend(&text, "  not read to its end: ", file.status.message(),
                      "\n");
    }
    if (file.rows.unlabelled > 0) {
      absl::StrAppend(&text, "  rows without a label: ",
                      WithCommas(file.rows.unlabelled), "\n");
    }
    if (file.rows.bad_rows > 0) {
      absl::StrAppend(&text, "  the first bad row: ", file.rows.first_bad,
                      "\n");
    }
  }
  return text;
}

std::string ReportText(const DataStatistics& data) {
  std::string text = FileTable(data);
  const RowStatistics& all = data.all;
  absl::StrAppendFormat(
      &text, "\nrows       %s, %s positive%s; %s bad\n", WithCommas(all.rows),
      OnesText(all), UnlabelledText(all), WithCommas(all.bad_rows));
  if (all.rows == 0) return text;
  absl::StrAppendFormat(
      &text, "features   %s in all, %s a row; values from %g to %g\n",
      WithCommas(all.features), FeaturesText(all), all.min_value,
      all.max_value);
  absl::StrAppendFormat(&text, "ids        %s%s distinct, from %s to %s",
                        data.distinct_is_exact ? "" : "about ",
                        WithCommas(data.distinct_ids), WithCommas(all.min_id),
                        WithCommas(all.max_id));
  if (data.top_share.has_value()) {
    absl::StrAppendFormat(
        &text,
        "; the most frequent 1 %% of the ids get %.1f %% of the look-ups",
        100 * *data.top_share);
  } else if (!data.distinct_is_exact) {
    absl::StrAppend(&text, "; too many to rank them (--max_ids)");
  }
  if (all.unlabelled > 0) {
    absl::StrAppend(&text,
                    "\nRows without a label can be predicted for (shoal "
                    "infer), but not trained on or evaluated.");
  }
  absl::StrAppend(&text, all.unlabelled < all.rows
                             ? "\ntrain with"
                             : "\npredict for them by a model with");
  if (data.feature_size > 0) {
    absl::StrAppend(&text, " --feature_size=", data.feature_size);
  }
  absl::StrAppend(&text, " --field_size=", std::max(data.field_size, 1));
  if (data.feature_size == 0) {
    absl::StrAppend(&text,
                    " and no --feature_size: the ids are spread widely, so "
                    "tables should have only the rows in use");
  } else {
    absl::StrAppend(&text, ", or more if other files have larger ids");
  }
  return text + "\n";
}

template <typename T>
void WriteRange(absl::string_view name, T min, T max, JsonWriter* w) {
  w->Key(name).BeginObject().Field("max", max).Field("min", min).EndObject();
}

void WriteFeatures(const RowStatistics& rows, JsonWriter* w) {
  w->Key("features").BeginObject();
  w->Field("max", rows.max_features).Field("min", rows.min_features);
  w->Field("total", rows.features).EndObject();
}

// The keys of every object are sorted.
void WriteFile(const FileStatistics& file, JsonWriter* w) {
  const RowStatistics& rows = file.rows;
  w->BeginObject().Field("bad_rows", rows.bad_rows).Field("bytes", file.bytes);
  w->Field("error", file.status.message());
  WriteFeatures(rows, w);
  w->Field("first_bad", rows.first_bad).Field("format", FormatText(file));
  if (rows.features > 0) WriteRange("ids", rows.min_id, rows.max_id, w);
  w->Field("ones", rows.ones).Field("path", file.path).Field("rows", rows.rows);
  w->Field("unlabelled", rows.unlabelled);
  if (rows.features > 0) {
    WriteRange("values", rows.min_value, rows.max_value, w);
  }
  w->EndObject();
}

void WriteIds(const DataStatistics& data, JsonWriter* w) {
  w->Key("ids").BeginObject().Field("distinct", data.distinct_ids);
  w->Field("distinct_is_exact", data.distinct_is_exact);
  if (data.all.features > 0) {
    w->Field("max", data.all.max_id).Field("min", data.all.min_id);
  }
  w->Key("top_1_percent_share");
  data.top_share.has_value() ? w->Double(*data.top_share) : w->Null();
  w->EndObject();
}

void WriteSuggested(const DataStatistics& data, JsonWriter* w) {
  w->Key("suggested").BeginObject().Key("feature_size");
  data.feature_size == 0 ? w->Null() : w->U64(data.feature_size);
  w->Field("field_size", data.field_size).EndObject();
}

std::string ReportJson(const DataStatistics& data) {
  const RowStatistics& all = data.all;
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  w.BeginObject().Field("bad_rows", all.bad_rows).Field("bytes", data.bytes);
  WriteFeatures(all, &w);
  w.Key("files").BeginArray();
  for (const FileStatistics& file : data.files) WriteFile(file, &w);
  w.EndArray().Field("first_bad", all.first_bad);
  WriteIds(data, &w);
  w.Field("ones", all.ones).Field("rows", all.rows);
  WriteSuggested(data, &w);
  w.Field("unlabelled", all.unlabelled);
  if (all.features > 0) {
    WriteRange("values", all.min_value, all.max_value, &w);
  }
  w.EndObject();
  return text + "\n";
}

std::string ProgressText(const DataStatisticsProgress& progress) {
  const double share = progress.total_bytes == 0
                           ? 1
                           : static_cast<double>(progress.bytes) /
                                 static_cast<double>(progress.total_bytes);
  return absl::StrFormat("%s rows, %.1f %% of %.1f MB",
                         WithCommas(progress.rows), 100 * share,
                         static_cast<double>(progress.total_bytes) / 1e6);
}

}  // namespace

int DataStatCommand(const Args& args) {
  StatFlags flags;
  FlagSet set = DataStatFlagSet(&flags);
  Args rest = args;
  const std::string pattern = TakeFiles(set, &rest);
  if (const auto exit = ParseOrExit(&set, rest)) return *exit;
  if (pattern.empty()) {
    return Complain(set.command(),
                    absl::InvalidArgumentError(
                        "no file is named; as in: shoal data stat data/tr*"),
                    kExitUsage);
  }

  LiveOutput output(StderrOutput());
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const auto data = CollectDataStatistics(
      files.get(), pattern, flags.options,
      [&output](const DataStatisticsProgress& progress) {
        output.Live({ProgressText(progress)}, absl::Now());
      });
  output.EndLive();
  if (!data.ok()) return Complain(set.command(), data.status());
  const bool whole =
      std::all_of(data->files.begin(), data->files.end(),
                  [](const FileStatistics& file) { return file.status.ok(); });
  return PrintResult(set.command(),
                     flags.as_json ? ReportJson(*data) : ReportText(*data),
                     whole ? kExitOk : kExitFailed);
}

}  // namespace shoal
