#include "datatools/id_growth.h"

#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "core/ids.h"
#include "worker/data/format_table.h"
#include "worker/data/open_examples.h"

namespace shoal {
namespace {

class SkipBadRows final : public BadRowSink {
 public:
  absl::Status Add(const BadRow&) override { return absl::OkStatus(); }
};

// Groups of so many batches, one after another.
struct Group {
  uint64_t size = 1;  // batches
  uint64_t batches = 0;
  absl::flat_hash_set<FeatureId> ids;
  uint64_t groups = 0;
  double sum = 0;  // of distinct ids over the groups

  void Add(const ExampleBatch& batch) {
    ids.insert(batch.ids.begin(), batch.ids.end());
    if (++batches < size) return;
    sum += static_cast<double>(ids.size());
    ++groups;
    batches = 0;
    ids.clear();
  }
};

std::vector<Group> Groups(uint64_t most) {
  std::vector<Group> groups;
  for (uint64_t size = 1; size <= most; size *= 2) {
    groups.emplace_back().size = size;
  }
  return groups;
}

absl::Status ReadFile(const FileSystem& files, const std::string& path,
                      const IdGrowthOptions& options, uint64_t* read,
                      std::vector<Group>* groups) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                         files.OpenForRead(path));
  SHOAL_ASSIGN_OR_RETURN(const FileFormat format,
                         DetectFormat(*file, options.format));
  ExampleOptions examples;
  examples.any_label = true;
  examples.feature_size = options.feature_size;
  examples.field_size = options.field_size;
  SHOAL_ASSIGN_OR_RETURN(
      const std::unique_ptr<ExampleReader> reader,
      OpenExamples(file.get(), format, 0, file->size(), examples));
  SkipBadRows bad;
  ExampleBatch batch;
  while (*read < 2 * options.most_batches) {
    batch.Clear();
    SHOAL_RETURN_IF_ERROR(reader->ReadRows(options.batch_size, &batch, &bad));
    if (batch.size() < options.batch_size) break;
    for (Group& group : *groups) group.Add(batch);
    ++*read;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<IdGrowthPoint>> MeasureIdGrowth(
    const FileSystem& files, const std::vector<std::string>& paths,
    const IdGrowthOptions& options) {
  std::vector<Group> groups = Groups(options.most_batches);
  uint64_t read = 0;
  for (const std::string& path : paths) {
    SHOAL_RETURN_IF_ERROR(ReadFile(files, path, options, &read, &groups));
  }
  if (read == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("no file has a whole batch of ", options.batch_size,
                     " rows; give a smaller --batch_size or more rows"));
  }
  std::vector<IdGrowthPoint> points;
  for (const Group& group : groups) {
    if (group.groups == 0 || (group.size > 1 && 2 * group.size > read)) break;
    points.push_back(
        {group.size, group.sum / static_cast<double>(group.groups)});
  }
  return points;
}

}  // namespace shoal
