#include "datatools/criteo_prepare.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/path.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"
#include "datatools/criteo_features.h"
#include "datatools/criteo_file.h"
#include "datatools/criteo_fit.h"
#include "datatools/example_files.h"

namespace shoal {
namespace {

constexpr uint64_t kRowsBetweenProgress = 1 << 14;
constexpr uint64_t kMaxFeaturesBytes = uint64_t{4} << 30;

using Tell = absl::FunctionRef<void(const CriteoPrepareProgress&)>;
using Files = std::vector<FileInfo>;

uint64_t TotalBytes(const Files& files) {
  uint64_t bytes = 0;
  for (const FileInfo& file : files) bytes += file.size;
  return bytes;
}

// The rules about labels of the rows of a flag's files. A rule is the reason
// why a row without a label is bad; nullptr: all rows may be without a label.
constexpr char kLabelsToFit[] =
    "the label is missing; rows without labels are encoded with --features, "
    "which names the _features.txt of the data that a model was trained on";
constexpr char kLabelsToValidate[] =
    "the label is missing, and rows to validate with need labels";
constexpr const char* kAllOrNone = nullptr;

// Reads raw files, one after the other, and counts their bad rows.
class RowReader {
 public:
  RowReader(const FileSystem* file_system, absl::string_view doing,
            uint64_t total_bytes, int64_t max_bad_rows, Tell tell)
      : file_system_(file_system), max_bad_rows_(max_bad_rows), tell_(tell) {
    progress_.doing = doing;
    progress_.total_bytes = total_bytes;
  }

  // Calls take(row) for each row of the files. `rule`: about labels, see above.
  template <typename Take>
  absl::Status ForEach(const Files& files, const char* rule, Take take) {
    CriteoRow row;
    std::optional<bool> labelled;  // nullopt: no row yet
    for (const FileInfo& info : files) {
      SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<CriteoFile> file,
                             CriteoFile::Open(file_system_, info.path));
      for (;;) {
        SHOAL_ASSIGN_OR_RETURN(const CriteoLine kind, file->Next(&row));
        if (kind == CriteoLine::kNoRow) break;
        if (kind == CriteoLine::kBad) {
          SHOAL_RETURN_IF_ERROR(Judge(*file, file->reason()));
          continue;
        }
        if (!labelled.has_value()) labelled = row.labelled || rule != nullptr;
        if (row.labelled != *labelled) {
          SHOAL_RETURN_IF_ERROR(
              Judge(*file, rule != nullptr ? rule
                           : *labelled
                               ? "the label is missing, and rows before this "
                                 "one have labels: prepare them apart"
                               : "the row has a label, and rows before this "
                                 "one have none: prepare them apart"));
          continue;
        }
        SHOAL_RETURN_IF_ERROR(take(row));
        if (++progress_.rows % kRowsBetweenProgress == 0) {
          progress_.bytes = bytes_before_ + file->position();
          tell_(progress_);
        }
      }
      bytes_before_ += info.size;
    }
    progress_.bytes = bytes_before_;
    tell_(progress_);
    return absl::OkStatus();
  }

  uint64_t bad_rows() const { return bad_rows_; }
  const std::string& first_bad() const { return first_bad_; }

 private:
  absl::Status Judge(const CriteoFile& file, absl::string_view reason) {
    if (++bad_rows_ == 1) first_bad_ = absl::StrCat(file.Place(), ": ", reason);
    if (max_bad_rows_ < 0 ||
        bad_rows_ <= static_cast<uint64_t>(max_bad_rows_)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        max_bad_rows_ == 0
            ? first_bad_
            : absl::StrCat(Counted(bad_rows_, "bad row"),
                           ", but max_bad_rows is ",
                           max_bad_rows_, "; the first: ", first_bad_),
        "; raise --max_bad_rows to leave such rows out"));
  }

  const FileSystem* const file_system_;
  const int64_t max_bad_rows_;
  const Tell tell_;
  CriteoPrepareProgress progress_;
  uint64_t bytes_before_ = 0;  // of the files before this one
  uint64_t bad_rows_ = 0;
  std::string first_bad_;
};

// Writes one part of the output, and counts its rows.
class PartWriter {
 public:
  PartWriter(const FileSystem* file_system, const CriteoPrepareOptions& options,
             const CriteoFeatures* features, const char* stem, CriteoPart* part)
      : format_(options.format),
        features_(features),
        part_(part),
        files_(file_system, options.out_dir, stem, options.format,
               options.file_bytes) {}

  // INVALID_ARGUMENT: rows before this one have labels and it has none, or the
  // other way round.
  absl::Status Add(const CriteoRow& row) {
    if (part_->rows != 0 && part_->labelled != row.labelled) {
      return absl::InvalidArgumentError(
          "--input and --test_input: one has labels and the other has none; "
          "prepare them with two commands, each with a directory of its own");
    }
    if (format_ == ExampleFormat::kLibSvm) {
      features_->AppendLibSvm(row, files_.text());
    } else {
      features_->AppendTfRecord(row, files_.text());
    }
    ++part_->rows;
    part_->ones += row.label;
    part_->labelled = row.labelled;
    return files_.Added();
  }
  absl::Status Close() {
    SHOAL_RETURN_IF_ERROR(files_.Close());
    part_->files = files_.files();
    part_->bytes = files_.bytes();
    return absl::OkStatus();
  }
  absl::Status Publish() { return files_.Publish(); }

 private:
  const ExampleFormat format_;
  const CriteoFeatures* const features_;
  CriteoPart* const part_;
  ExampleFiles files_;
};

// Data of another run would silently be used together with the new data.
absl::Status CheckEmpty(const FileSystem& file_system,
                        const std::string& directory) {
  for (const absl::string_view pattern : {"tr*", "va*", "te*"}) {
    const auto found = file_system.List(JoinPath(directory, pattern));
    if (absl::IsNotFound(found.status())) continue;
    if (!found.ok()) return found.status();
    return absl::FailedPreconditionError(
        absl::StrCat(found->front().path,
                     " is there already: give a new directory, or remove what "
                     "is in this one"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Files> ListInput(const FileSystem& file_system,
                                const std::string& pattern) {
  if (pattern.empty()) return Files();
  return file_system.List(pattern);
}

absl::StatusOr<CriteoFeatures> ReadFeatures(const FileSystem& file_system,
                                            const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                         file_system.OpenForRead(path));
  if (file->size() > kMaxFeaturesBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", file->size(),
                     " bytes are too many for a fitted encoding"));
  }
  std::string text(file->size(), '\0');
  SHOAL_ASSIGN_OR_RETURN(
      const size_t size,
      file->Read(0, absl::MakeSpan(text.data(), text.size())));
  text.resize(size);
  auto features = CriteoFeatures::FromText(text);
  if (!features.ok()) return Annotate(features.status(), path);
  return features;
}

// True if row `number` of the input goes to validation.
bool IsForValidation(const CriteoPrepareOptions& options, uint64_t number) {
  // The top 53 bits as a number in [0, 1).
  const uint64_t draw = StableHashCombine(options.seed, number) >> 11;
  return static_cast<double>(draw) * 0x1p-53 < options.val_share;
}

// The raw files that the options name.
struct RawFiles {
  Files input;
  Files val_input;
  Files test_input;
};

absl::StatusOr<RawFiles> ListRawFiles(const FileSystem& file_system,
                                      const CriteoPrepareOptions& options) {
  RawFiles raw;
  SHOAL_ASSIGN_OR_RETURN(raw.input, ListInput(file_system, options.input));
  SHOAL_ASSIGN_OR_RETURN(raw.val_input,
                         ListInput(file_system, options.val_input));
  SHOAL_ASSIGN_OR_RETURN(raw.test_input,
                         ListInput(file_system, options.test_input));
  if (TotalBytes(raw.input) == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(options.input, " is empty: no rows to prepare"));
  }
  return raw;
}

// Fits the encoding to the rows of the input.
absl::StatusOr<CriteoFeatures> FitFeatures(const FileSystem* file_system,
                                           const CriteoPrepareOptions& options,
                                           const Files& input, Tell progress,
                                           CriteoPrepareReport* report) {
  CriteoFit fit(options.max_values);
  RowReader rows(file_system, "fitting", TotalBytes(input),
                 options.max_bad_rows, progress);
  const auto take = [&fit](const CriteoRow& row) { return fit.Add(row); };
  SHOAL_RETURN_IF_ERROR(rows.ForEach(input, kLabelsToFit, take));
  report->distinct_values = fit.values();
  return fit.Finish(options.cutoff);
}

// The parts of the output, which count their rows in the report.
struct PartWriters {
  PartWriters(const FileSystem* file_system,
              const CriteoPrepareOptions& options,
              const CriteoFeatures* features, CriteoPrepareReport* report)
      : train(file_system, options, features, "tr", &report->train),
        validation(file_system, options, features, "va", &report->validation),
        test(file_system, options, features, "te", &report->test) {}

  PartWriter train;
  PartWriter validation;
  PartWriter test;
};

absl::Status NoLabelsToSplit() {
  return absl::InvalidArgumentError(
      "--split takes rows to validate with, and the rows of --input have no "
      "labels: leave --split out, and all of them are encoded in their order");
}

// Writes the rows of all files to their parts.
absl::Status WriteRows(const FileSystem* file_system,
                       const CriteoPrepareOptions& options, const RawFiles& raw,
                       Tell progress, PartWriters* parts,
                       CriteoPrepareReport* report) {
  RowReader rows(file_system, "writing",
                 TotalBytes(raw.input) + TotalBytes(raw.val_input) +
                     TotalBytes(raw.test_input),
                 options.max_bad_rows, progress);
  const char* const rule =
      options.features.empty() ? kLabelsToFit : kAllOrNone;
  uint64_t number = 0;
  bool labelled = true;
  const auto take_input = [&](const CriteoRow& row) {
    const bool validates = IsForValidation(options, number++);
    labelled = row.labelled;
    if (labelled) {
      return validates ? parts->validation.Add(row) : parts->train.Add(row);
    }
    return options.val_share == 0 ? parts->test.Add(row) : NoLabelsToSplit();
  };
  SHOAL_RETURN_IF_ERROR(rows.ForEach(raw.input, rule, take_input));
  SHOAL_RETURN_IF_ERROR(
      rows.ForEach(raw.val_input, kLabelsToValidate, [&](const CriteoRow& row) {
        return parts->validation.Add(row);
      }));
  SHOAL_RETURN_IF_ERROR(
      rows.ForEach(raw.test_input, rule, [&](const CriteoRow& row) {
        return parts->test.Add(row);
      }));
  report->bad_rows = rows.bad_rows();
  report->first_bad = rows.first_bad();
  if (report->train.rows > 0 || !labelled) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      options.input, " has no row to train on",
      report->bad_rows > 0
          ? absl::StrCat("; the first bad row: ", report->first_bad)
          : ""));
}

// Gives the files of the output their names. The renames come last, so that
// nearly all errors come before any file has its name.
absl::Status Publish(const FileSystem& file_system, const std::string& out_dir,
                     const CriteoFeatures& features, PartWriters* parts) {
  for (PartWriter* part : {&parts->train, &parts->validation, &parts->test}) {
    SHOAL_RETURN_IF_ERROR(part->Close());
  }
  SHOAL_RETURN_IF_ERROR(file_system.WriteFileAtomically(
      JoinPath(out_dir, kCriteoFeaturesName), features.ToText()));
  for (PartWriter* part : {&parts->test, &parts->validation, &parts->train}) {
    SHOAL_RETURN_IF_ERROR(part->Publish());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CriteoPrepareOptions::Validate() const {
  if (input.empty()) {
    return absl::InvalidArgumentError("input is empty: no rows to prepare");
  }
  if (!(val_share >= 0 && val_share < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("val_share is ", val_share, "; it must be in [0, 1)"));
  }
  if (max_bad_rows < -1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "max_bad_rows is ", max_bad_rows, "; it must be -1 or more"));
  }
  if (max_values == 0 || file_bytes == 0) {
    return absl::InvalidArgumentError(
        "max_values and file_bytes must not be 0");
  }
  return CheckOutDir(out_dir);
}

absl::StatusOr<CriteoPrepareReport> PrepareCriteo(
    const FileSystem* file_system, const CriteoPrepareOptions& options,
    Tell progress) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  SHOAL_ASSIGN_OR_RETURN(const RawFiles raw,
                         ListRawFiles(*file_system, options));
  std::optional<CriteoFeatures> features;
  if (!options.features.empty()) {
    SHOAL_ASSIGN_OR_RETURN(features,
                           ReadFeatures(*file_system, options.features));
  }
  SHOAL_RETURN_IF_ERROR(file_system->CreateDirectories(options.out_dir));
  SHOAL_RETURN_IF_ERROR(CheckEmpty(*file_system, options.out_dir));

  CriteoPrepareReport report;
  if (!features.has_value()) {
    SHOAL_ASSIGN_OR_RETURN(features, FitFeatures(file_system, options,
                                                 raw.input, progress, &report));
  }
  report.feature_size = features->feature_size();
  report.fitted_rows = features->facts().rows;
  for (const auto& column : features->facts().categories) {
    report.categories += column.size();
  }

  PartWriters parts(file_system, options, &*features, &report);
  SHOAL_RETURN_IF_ERROR(
      WriteRows(file_system, options, raw, progress, &parts, &report));
  SHOAL_RETURN_IF_ERROR(
      Publish(*file_system, options.out_dir, *features, &parts));
  return report;
}

}  // namespace shoal
