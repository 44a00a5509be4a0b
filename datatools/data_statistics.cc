#include "datatools/data_statistics.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "datatools/id_counts.h"
#include "worker/data/format_table.h"
#include "worker/data/open_examples.h"

namespace shoal {
namespace {

constexpr uint32_t kRowsAtOnce = 4096;
constexpr int kMostFields = 65535;
// Training with --feature_size is suggested if that makes at most kFewRows
// rows, or at most kRowsPerId rows for each distinct id.
constexpr uint64_t kFewRows = 1'000'000;
constexpr uint64_t kRowsPerId = 16;

using Tell = absl::FunctionRef<void(const DataStatisticsProgress&)>;

class CountBadRows final : public BadRowSink {
 public:
  // `place` comes before the number of the row.
  CountBadRows(RowStatistics* rows, std::string place)
      : rows_(rows), place_(std::move(place)) {}
  absl::Status Add(const BadRow& row) override {
    if (rows_->bad_rows++ == 0) {
      rows_->first_bad = absl::StrCat(place_, row.number, ": ", row.reason);
    }
    return absl::OkStatus();
  }

 private:
  RowStatistics* const rows_;
  const std::string place_;
};

void AddRows(const ExampleBatch& examples, RowStatistics* rows, IdCounts* ids) {
  RowStatistics added;
  added.rows = examples.size();
  added.unlabelled = examples.unlabelled;
  added.features = examples.ids.size();
  added.min_features = std::numeric_limits<uint32_t>::max();
  for (size_t i = 0; i < examples.size(); ++i) {
    added.ones += examples.labels[i];
    const uint32_t features = examples.offsets[i + 1] - examples.offsets[i];
    added.min_features = std::min(added.min_features, features);
    added.max_features = std::max(added.max_features, features);
  }
  added.fields = added.max_features;
  for (const uint16_t field : examples.fields) {
    added.fields = std::max<uint32_t>(added.fields, field + 1);
  }
  if (!examples.ids.empty()) {
    const auto [min_id, max_id] =
        std::minmax_element(examples.ids.begin(), examples.ids.end());
    const auto [min_value, max_value] =
        std::minmax_element(examples.values.begin(), examples.values.end());
    added.min_id = *min_id;
    added.max_id = *max_id;
    added.min_value = *min_value;
    added.max_value = *max_value;
  }
  for (const FeatureId id : examples.ids) ids->Add(id);
  rows->Merge(added);
}

absl::Status ReadFile(const FileSystem& file_system,
                      const DataStatisticsOptions& options,
                      FileStatistics* file, IdCounts* ids,
                      DataStatisticsProgress* progress, Tell tell) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> opened,
                         file_system.OpenForRead(file->path));
  SHOAL_ASSIGN_OR_RETURN(file->format, DetectFormat(*opened, options.format));
  ExampleOptions example_options;
  example_options.may_lack_label = true;
  example_options.feature_size = options.feature_size;
  example_options.field_size =
      options.field_size == 0 ? kMostFields : options.field_size;
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<ExampleReader> reader,
                         OpenExamples(opened.get(), *file->format, 0,
                                      opened->size(), example_options));
  const bool lines = KindOf(file->format->format).lines();
  CountBadRows bad(&file->rows, absl::StrCat(absl::CHexEscape(file->path),
                                             lines ? ":" : ": record "));
  const uint64_t bytes_before = progress->bytes;
  ExampleBatch examples;
  for (;;) {
    examples.Clear();
    const absl::Status status = reader->ReadRows(kRowsAtOnce, &examples, &bad);
    if (examples.size() > 0) AddRows(examples, &file->rows, ids);
    SHOAL_RETURN_IF_ERROR(status);
    if (examples.size() == 0) return absl::OkStatus();
    progress->rows += examples.size();
    if (reader->CanSeek()) {
      progress->bytes =
          bytes_before + std::min(reader->position(), file->bytes);
    }
    tell(*progress);
  }
}

uint64_t SuggestedFeatureSize(const DataStatistics& data) {
  if (data.all.features == 0) return 0;
  if (data.all.max_id == std::numeric_limits<FeatureId>::max()) return 0;
  const uint64_t size = data.all.max_id + 1;
  return size <= kFewRows || size / kRowsPerId <= data.distinct_ids ? size : 0;
}

}  // namespace

void RowStatistics::Merge(const RowStatistics& other) {
  if (bad_rows == 0) first_bad = other.first_bad;
  bad_rows += other.bad_rows;
  if (other.features > 0) {
    min_id = features == 0 ? other.min_id : std::min(min_id, other.min_id);
    max_id = std::max(max_id, other.max_id);
    min_value =
        features == 0 ? other.min_value : std::min(min_value, other.min_value);
    max_value =
        features == 0 ? other.max_value : std::max(max_value, other.max_value);
  }
  features += other.features;
  if (other.rows == 0) return;
  min_features = rows == 0 ? other.min_features
                           : std::min(min_features, other.min_features);
  max_features = std::max(max_features, other.max_features);
  fields = std::max(fields, other.fields);
  rows += other.rows;
  unlabelled += other.unlabelled;
  ones += other.ones;
}

absl::StatusOr<DataStatistics> CollectDataStatistics(
    const FileSystem* file_system, const std::string& pattern,
    const DataStatisticsOptions& options, Tell progress) {
  if (options.max_ids == 0 || options.field_size < 0 ||
      options.field_size > kMostFields) {
    return absl::InvalidArgumentError(absl::StrCat(
        "max_ids is ", options.max_ids, " and field_size ", options.field_size,
        "; they must be at least 1, and in [0, ", kMostFields, "]"));
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<FileInfo> listed,
                         file_system->List(pattern));
  DataStatistics data;
  for (const FileInfo& info : listed) data.bytes += info.size;
  IdCounts ids(options.max_ids);
  DataStatisticsProgress at;
  at.total_bytes = data.bytes;
  uint64_t bytes = 0;
  for (const FileInfo& info : listed) {
    FileStatistics& file = data.files.emplace_back();
    file.path = info.path;
    file.bytes = info.size;
    file.status = ReadFile(*file_system, options, &file, &ids, &at, progress);
    data.all.Merge(file.rows);
    bytes += info.size;
    at.bytes = bytes;
    progress(at);
  }
  data.distinct_ids = ids.distinct();
  data.distinct_is_exact = ids.exact();
  data.top_share = ids.TopShare(0.01);
  data.feature_size = SuggestedFeatureSize(data);
  data.field_size = static_cast<int>(data.all.fields);
  return data;
}

}  // namespace shoal
