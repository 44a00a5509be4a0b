#include "datatools/synthetic.h"

#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "base/path.h"
#include "base/record_framing.h"
#include "base/status_macros.h"
#include "core/metrics.h"
#include "datatools/example_files.h"
#include "datatools/tfrecord_writer.h"
#include "partitioner/fixed_size.h"

namespace shoal {
namespace {

constexpr uint64_t kMaxRows = uint64_t{1} << 40;
constexpr uint64_t kMaxTestRows = 100'000'000;  // logits are kept in memory
constexpr uint64_t kMaxIds = uint64_t{1} << 48;
constexpr int kMaxFields = 65535;
constexpr int kMaxFiles = 100'000;  // five digits in a name
constexpr size_t kFlushBytes = 1 << 20;
constexpr uint64_t kRowsBetweenProgress = 1 << 16;

// The number of the first test row, so that test rows do not depend on the
// number of training rows.
constexpr uint64_t kFirstTestRow = uint64_t{1} << 62;

std::string TrainName(int file, ExampleFormat format) {
  return absl::StrFormat("tr-%05d%s", file, ExampleFormatSuffix(format));
}

std::string TestName(ExampleFormat format) {
  return absl::StrCat(kSyntheticTestStem, ExampleFormatSuffix(format));
}

absl::Status CheckRange(absl::string_view what, uint64_t value, uint64_t least,
                        uint64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      what, " is ", value, "; it must be in [", least, ", ", most, "]"));
}

int NumericFields(const GenerateOptions& options) {
  return options.numeric_fields < 0 ? options.fields / 3
                                    : options.numeric_fields;
}

// The beginning of _meta.json: the options that determine the bytes of all
// files.
std::string OptionsJson(const GenerateOptions& options) {
  return absl::StrFormat(
      "{\n"
      "  \"rows\": %d,\n"
      "  \"test_rows\": %d,\n"
      "  \"fields\": %d,\n"
      "  \"numeric_fields\": %d,\n"
      "  \"ids\": %d,\n"
      "  \"zipf\": %g,\n"
      "  \"seed\": %d,\n"
      "  \"files\": %d,\n"
      "  \"format\": \"%s\",\n",
      options.rows, options.test_rows, options.fields, NumericFields(options),
      options.ids, options.zipf, options.seed, options.files,
      ChoiceWord(kExampleFormats, options.format));
}

std::string MetaJson(const GenerateOptions& options,
                     const GenerateReport& report) {
  return absl::StrCat(OptionsJson(options),
                      absl::StrFormat("  \"positive_rate\": %.6f,\n"
                                      "  \"best_auc\": %.6f,\n"
                                      "  \"best_logloss\": %.6f\n"
                                      "}\n",
                                      report.positive_rate, report.best_auc,
                                      report.best_logloss));
}

// True if the file `name` in out_dir begins with these options.
bool Names(const FileSystem& file_system, const GenerateOptions& options,
           absl::string_view name) {
  const auto meta = file_system.OpenForRead(JoinPath(options.out_dir, name));
  if (!meta.ok()) return false;
  const std::string ours = OptionsJson(options);
  std::string begin(ours.size(), '\0');
  const auto size = (*meta)->Read(0, absl::MakeSpan(&begin[0], begin.size()));
  return size.ok() && *size == ours.size() && begin == ours;
}

// True if the data in out_dir was made with these options, by a run that ended
// or by one that was cut off while it gave the files their final names.
bool MadeBefore(const FileSystem& file_system, const GenerateOptions& options) {
  return Names(file_system, options, kSyntheticMetaName) ||
         Names(file_system, options, kSyntheticUnfinishedName);
}

// Removes the hidden files of runs that were cut off.
absl::Status RemoveHidden(const FileSystem& file_system,
                          const std::string& directory) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries,
                         file_system.ListDirectory(directory));
  for (const DirectoryEntry& entry : entries) {
    if (!entry.is_directory && absl::EndsWith(entry.name, kPartialSuffix) &&
        (absl::StartsWith(entry.name, ".tr-") ||
         absl::StartsWith(entry.name, ".te."))) {
      SHOAL_RETURN_IF_ERROR(
          file_system.Remove(JoinPath(directory, entry.name)));
    }
  }
  return absl::OkStatus();
}

// Data of another run must not be lost, nor be used together with the new data.
absl::Status CheckNoneLeftOver(const FileSystem& file_system,
                               const GenerateOptions& options) {
  std::set<std::string> ours;
  if (MadeBefore(file_system, options)) {
    ours.insert(TestName(options.format));
    for (int file = 0; file < options.files; ++file) {
      ours.insert(TrainName(file, options.format));
    }
  }
  for (const absl::string_view pattern : {"tr-*", "te.*"}) {
    const absl::StatusOr<std::vector<FileInfo>> found =
        file_system.List(JoinPath(options.out_dir, pattern));
    if (absl::IsNotFound(found.status())) continue;
    if (!found.ok()) return found.status();
    for (const FileInfo& info : *found) {
      if (ours.count(std::string(Basename(info.path))) == 0) {
        return absl::FailedPreconditionError(absl::StrCat(
            info.path,
            " is there already, and was not made with these flags: give a new "
            "directory, or remove what is in this one"));
      }
    }
  }
  return absl::OkStatus();
}

// Appends rows in the format.
class RowWriter {
 public:
  explicit RowWriter(ExampleFormat format) : format_(format) {}

  void Append(const PlantedRow& row, std::string* text) {
    if (format_ == ExampleFormat::kLibSvm) return AppendLibSvm(row, text);
    values_.clear();
    for (const uint32_t value : row.values) {
      values_.push_back(static_cast<float>(value / 10000.0));
    }
    payload_.clear();
    AppendTfExample(row.label, row.ids, values_, &payload_);
    AppendRecord(payload_, text);
  }

 private:
  const ExampleFormat format_;
  std::vector<float> values_;
  std::string payload_;
};

// Writes the text of one file in large pieces. The file has a hidden name until
// Publish; the destructor removes a file that was not published.
class TextFile {
 public:
  static absl::StatusOr<std::unique_ptr<TextFile>> Create(
      const FileSystem& file_system, const std::string& path) {
    auto file = absl::WrapUnique(new TextFile(&file_system, path));
    SHOAL_ASSIGN_OR_RETURN(file->file_, file_system.Create(file->hidden_));
    return file;
  }
  ~TextFile() {
    if (published_) return;
    file_.reset();
    // Best effort: the caller has a more important error already.
    file_system_->Remove(hidden_).IgnoreError();
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  std::string* text() { return &text_; }
  absl::Status FlushIfLarge() {
    return text_.size() >= kFlushBytes ? Flush() : absl::OkStatus();
  }
  // Returns the size of the file in bytes.
  absl::StatusOr<uint64_t> Close() {
    SHOAL_RETURN_IF_ERROR(Flush());
    SHOAL_RETURN_IF_ERROR(file_->Close());
    file_ = nullptr;
    text_ = std::string();  // there may be many files
    return bytes_;
  }
  absl::Status Publish() {
    SHOAL_RETURN_IF_ERROR(file_system_->Rename(hidden_, path_));
    published_ = true;
    return absl::OkStatus();
  }

 private:
  TextFile(const FileSystem* file_system, const std::string& path)
      : file_system_(file_system),
        path_(path),
        hidden_(PartialPath(Dirname(path), Basename(path))) {}

  absl::Status Flush() {
    bytes_ += text_.size();
    const absl::Status status = file_->Append(text_);
    text_.clear();
    return status;
  }

  const FileSystem* const file_system_;
  const std::string path_;
  const std::string hidden_;
  std::unique_ptr<WritableFile> file_;
  std::string text_;
  uint64_t bytes_ = 0;
  bool published_ = false;
};
using TextFiles = std::vector<std::unique_ptr<TextFile>>;

class Progress {
 public:
  Progress(uint64_t total, absl::FunctionRef<void(uint64_t, uint64_t)> tell)
      : total_(total), tell_(tell) {}
  void Add() {
    if (++done_ % kRowsBetweenProgress == 0 || done_ == total_) {
      tell_(done_, total_);
    }
  }

 private:
  const uint64_t total_;
  absl::FunctionRef<void(uint64_t, uint64_t)> tell_;
  uint64_t done_ = 0;
};

absl::Status WriteTraining(const FileSystem& file_system,
                           const GenerateOptions& options,
                           const PlantedModel& model, Progress* progress,
                           TextFiles* files, GenerateReport* report) {
  PlantedRow row;
  RowWriter writer(options.format);
  for (int f = 0; f < options.files; ++f) {
    SHOAL_ASSIGN_OR_RETURN(
        std::unique_ptr<TextFile> file,
        TextFile::Create(file_system, JoinPath(options.out_dir,
                                               TrainName(f, options.format))));
    const uint64_t end = FixedSizeBegin(options.rows, options.files, f + 1);
    for (uint64_t i = FixedSizeBegin(options.rows, options.files, f); i < end;
         ++i) {
      model.Draw(i, &row);
      writer.Append(row, file->text());
      SHOAL_RETURN_IF_ERROR(file->FlushIfLarge());
      progress->Add();
    }
    SHOAL_ASSIGN_OR_RETURN(const uint64_t bytes, file->Close());
    report->bytes += bytes;
    files->push_back(std::move(file));
  }
  report->rows = options.rows;
  return absl::OkStatus();
}

absl::Status WriteTest(const FileSystem& file_system,
                       const GenerateOptions& options,
                       const PlantedModel& model, Progress* progress,
                       TextFiles* files, GenerateReport* report) {
  SHOAL_ASSIGN_OR_RETURN(
      std::unique_ptr<TextFile> file,
      TextFile::Create(file_system,
                       JoinPath(options.out_dir, TestName(options.format))));
  PlantedRow row;
  RowWriter writer(options.format);
  std::vector<float> logits;
  std::vector<uint8_t> labels;
  logits.reserve(options.test_rows);
  labels.reserve(options.test_rows);
  for (uint64_t i = 0; i < options.test_rows; ++i) {
    model.Draw(kFirstTestRow + i, &row);
    writer.Append(row, file->text());
    SHOAL_RETURN_IF_ERROR(file->FlushIfLarge());
    logits.push_back(row.logit);
    labels.push_back(row.label);
    progress->Add();
  }
  SHOAL_ASSIGN_OR_RETURN(const uint64_t bytes, file->Close());
  report->bytes += bytes;
  files->push_back(std::move(file));
  report->test_rows = options.test_rows;
  report->positive_rate = static_cast<double>(std::accumulate(
                              labels.begin(), labels.end(), uint64_t{0})) /
                          static_cast<double>(labels.size());
  report->best_auc = ExactAuc(logits, labels);
  report->best_logloss = MeanLogLoss(logits, labels);
  return absl::OkStatus();
}

// Gives all files their final names.
absl::Status Publish(const FileSystem& file_system,
                     const GenerateOptions& options,
                     const GenerateReport& report, const TextFiles& files) {
  const std::string unfinished =
      JoinPath(options.out_dir, kSyntheticUnfinishedName);
  SHOAL_RETURN_IF_ERROR(
      file_system.WriteFileAtomically(unfinished, OptionsJson(options)));
  for (const std::unique_ptr<TextFile>& file : files) {
    SHOAL_RETURN_IF_ERROR(file->Publish());
  }
  SHOAL_RETURN_IF_ERROR(file_system.WriteFileAtomically(
      JoinPath(options.out_dir, kSyntheticMetaName),
      MetaJson(options, report)));
  return file_system.Remove(unfinished);
}

}  // namespace

absl::Status GenerateOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(CheckRange("rows", rows, 1, kMaxRows));
  SHOAL_RETURN_IF_ERROR(CheckRange("test_rows", test_rows, 1, kMaxTestRows));
  if (fields < 1 || fields > kMaxFields) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fields is ", fields, "; it must be in [1, ", kMaxFields, "]"));
  }
  if (numeric_fields < -1 || numeric_fields > fields) {
    return absl::InvalidArgumentError(
        absl::StrCat("numeric_fields is ", numeric_fields,
                     "; it must be -1 or in [0, fields]"));
  }
  SHOAL_RETURN_IF_ERROR(CheckRange("ids", ids, fields, kMaxIds));
  if (!(zipf >= 0 && zipf <= 10)) {
    return absl::InvalidArgumentError(
        absl::StrCat("zipf is ", zipf, "; it must be in [0, 10]"));
  }
  if (files < 1 || files > kMaxFiles) {
    return absl::InvalidArgumentError(absl::StrCat(
        "files is ", files, "; it must be in [1, ", kMaxFiles, "]"));
  }
  return CheckOutDir(out_dir);
}

absl::StatusOr<GenerateReport> GenerateData(
    const FileSystem* file_system, const GenerateOptions& options,
    absl::FunctionRef<void(uint64_t, uint64_t)> progress) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  SHOAL_RETURN_IF_ERROR(file_system->CreateDirectories(options.out_dir));
  SHOAL_RETURN_IF_ERROR(CheckNoneLeftOver(*file_system, options));
  SHOAL_RETURN_IF_ERROR(RemoveHidden(*file_system, options.out_dir));
  const PlantedModel model({options.fields, NumericFields(options), options.ids,
                            options.zipf, options.seed});
  Progress rows(options.rows + options.test_rows, progress);
  GenerateReport report;
  TextFiles files;
  SHOAL_RETURN_IF_ERROR(
      WriteTraining(*file_system, options, model, &rows, &files, &report));
  SHOAL_RETURN_IF_ERROR(
      WriteTest(*file_system, options, model, &rows, &files, &report));
  SHOAL_RETURN_IF_ERROR(Publish(*file_system, options, report, files));
  return report;
}

void AppendLibSvm(const PlantedRow& row, std::string* text) {
  text->push_back(row.label == 1 ? '1' : '0');
  for (size_t f = 0; f < row.ids.size(); ++f) {
    const uint32_t value = row.values[f];
    if (value % 10000 == 0) {
      absl::StrAppend(text, " ", row.ids[f], ":", value / 10000);
    } else {
      absl::StrAppend(text, " ", row.ids[f], ":", value / 10000, ".",
                      absl::Dec(value % 10000, absl::kZeroPad4));
    }
  }
  text->push_back('\n');
}

}  // namespace shoal
