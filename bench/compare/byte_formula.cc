#include "bench/compare/byte_formula.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/compare/cell_mode.h"
#include "core/unique_ids.h"
#include "job/options_from_flags.h"
#include "worker/data/format_table.h"
#include "worker/data/open_examples.h"

namespace shoal {
namespace {

constexpr int kBatches = 16;  // that DistinctIds looks at

class SkipBadRows final : public BadRowSink {
 public:
  absl::Status Add(const BadRow&) override { return absl::OkStatus(); }
};

}  // namespace

RoleBytes FormulaOf(const Cell& cell, const ComparedModel& model, double batch,
                    double rows) {
  constexpr double kId = 8;  // bytes
  const double n = cell.hosts;
  const auto dense = static_cast<double>(model.dense_bytes);
  const auto row = static_cast<double>(model.row_bytes);
  const double reduced = 2 * (n - 1) / n * dense;
  RoleBytes step;  // of all workers, or of all servers, for a worker's step
  const TrainingModeRow& mode = ModeRowOf(cell);
  if (!mode.servers) {
    step.worker_sent = reduced + (n - 1) * rows * (kId + row);
    step.worker_received = step.worker_sent;
  } else {
    // Workers with copies of the dense variables sum them in a ring.
    const double served = mode.copies ? 0 : dense;
    const double summed = mode.copies ? reduced : 0;
    step.ps_received = rows * (kId + kId + row) + served;
    step.ps_sent = rows * row + served;
    step.worker_sent = step.ps_received + summed;
    step.worker_received = step.ps_sent + summed;
  }
  for (double* bytes : {&step.worker_sent, &step.worker_received,
                        &step.ps_sent, &step.ps_received}) {
    *bytes /= batch;
  }
  return step;
}

absl::StatusOr<double> DistinctIds(const FileSystem& files,
                                   const JobFlags& flags, int batch_size) {
  SHOAL_ASSIGN_OR_RETURN(const DataSources sources,
                         SourcesFromFlags(files, flags));
  const PieceReaderOptions reader_options = PieceReaderOptionsFromFlags(flags);
  ExampleOptions options;
  options.feature_size = reader_options.feature_size;
  options.field_size = reader_options.field_size;
  options.num_labels = reader_options.num_labels;
  SkipBadRows bad;
  UniqueIds unique;
  ExampleBatch batch;
  double ids = 0;
  int batches = 0;
  for (const LocalSource& source : sources.train) {
    SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                           files.OpenForRead(source.path));
    SHOAL_ASSIGN_OR_RETURN(const FileFormat format,
                           DetectFormat(*file, reader_options.format));
    SHOAL_ASSIGN_OR_RETURN(
        const std::unique_ptr<ExampleReader> reader,
        OpenExamples(file.get(), format, 0, file->size(), options));
    while (batches < kBatches) {
      batch.Clear();
      SHOAL_RETURN_IF_ERROR(
          reader->ReadRows(static_cast<uint32_t>(batch_size), &batch, &bad));
      if (batch.size() < static_cast<size_t>(batch_size)) break;
      unique.Build(batch.ids);
      ids += static_cast<double>(unique.distinct().size());
      ++batches;
    }
    if (batches == kBatches) break;
  }
  if (batches == 0) {
    return absl::NotFoundError(absl::StrCat(
        "--training_data_dir=", flags.data.training_data_dir,
        ": no file has ", batch_size, " rows"));
  }
  return ids / batches;
}

}  // namespace shoal
