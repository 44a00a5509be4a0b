// From bytes to batches, and from a batch's ids to the shards', on one thread.
// The data is synthetic (worker/data/planted_model.h) and in memory: 39
// features a row, 13 of them decimals of four digits.
//
//   bytes_per_second   bytes of the file ÷ CPU time of the thread
//   items_per_second   rows, or ids with their repetitions ÷ CPU time
//
// Ceilings beside them: SplitLines only finds line ends; ParseWithStrtof is the
// same row by the C library, without any check.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "partitioner/split.h"
#include "tests/worker/data/encoded_data.h"
#include "worker/client/unique_ids.h"
#include "worker/data/line_source.h"
#include "worker/data/open_examples.h"
#include "worker/data/piece_reader.h"
#include "worker/data/planted_model.h"
#include "worker/data/synthetic.h"

namespace shoal {
namespace {

constexpr uint64_t kIds = 1'000'000;
constexpr int kFields = 39;
constexpr int kRows = 60'000;

const std::string& Text() {
  static const std::string* const text = [] {
    const PlantedModel model({kFields, 13, kIds, 1.1, 1});
    auto* made = new std::string;
    PlantedRow row;
    for (int i = 0; i < kRows; ++i) {
      model.Draw(i, &row);
      AppendLibSvm(row, made);
    }
    return made;
  }();
  return *text;
}

// The same rows as TFRecord.
const std::string& Records() {
  static const std::string* const records = [] {
    const PlantedModel model({kFields, 13, kIds, 1.1, 1});
    auto* made = new std::string;
    PlantedRow row;
    for (int i = 0; i < kRows; ++i) {
      model.Draw(i, &row);
      std::vector<int64_t> ids(row.ids.begin(), row.ids.end());
      std::vector<float> values;
      for (const uint32_t value : row.values) {
        values.push_back(static_cast<float>(value) / 10000);
      }
      *made += TfRecord(TfExampleRow(row.label, ids, values));
    }
    return made;
  }();
  return *records;
}

const std::string& BytesOf(DataFormat format) {
  return format == DataFormat::kTfRecord ? Records() : Text();
}

class BenchFile final : public RandomAccessFile {
 public:
  explicit BenchFile(const std::string* bytes = &Text()) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(uint64_t offset,
                              absl::Span<char> out) const override {
    if (offset >= bytes_->size()) return 0;
    return bytes_->copy(out.data(), out.size(), offset);
  }
  uint64_t size() const override { return bytes_->size(); }

 private:
  const std::string* const bytes_;
};

class NoBadRows final : public BadRowSink {
 public:
  absl::Status Add(const BadRow& row) override {
    return absl::InternalError(row.reason);
  }
};

class MemoryFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(
      const std::string&) const override {
    return std::make_unique<BenchFile>();
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string&) const override {
    return absl::UnimplementedError("read-only");
  }
  absl::StatusOr<std::vector<FileInfo>> List(
      const std::string&) const override {
    return absl::UnimplementedError("one file");
  }
  absl::Status CreateDirectories(const std::string&) const override {
    return absl::UnimplementedError("read-only");
  }
  absl::Status WriteFileAtomically(const std::string&,
                                   absl::string_view) const override {
    return absl::UnimplementedError("read-only");
  }
};

void CountText(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * Text().size());
  state.SetItemsProcessed(state.iterations() * kRows);
}

void SplitLines(benchmark::State& state) {
  const BenchFile file;
  for (auto _ : state) {
    LineSource lines(&file, 0, file.size(), 1 << 20);
    Record line;
    while (lines.Next(&line).value()) benchmark::DoNotOptimize(line);
  }
  CountText(state);
}
BENCHMARK(SplitLines);

void ParseWithStrtof(benchmark::State& state) {
  std::vector<FeatureId> ids;
  std::vector<float> values;
  for (auto _ : state) {
    ids.clear();
    values.clear();
    char* p = const_cast<char*>(Text().c_str());
    while (*p != '\0') {
      benchmark::DoNotOptimize(std::strtof(p, &p));
      while (*p == ' ') {
        ids.push_back(std::strtoull(p, &p, 10));
        values.push_back(std::strtof(p + 1, &p));
      }
      ++p;
    }
    benchmark::DoNotOptimize(ids.data());
    benchmark::DoNotOptimize(values.data());
  }
  CountText(state);
}
BENCHMARK(ParseWithStrtof);

// From the bytes of a file to rows: 0 LibSVM, 1 TFRecord with both checksums.
void ParseRows(benchmark::State& state) {
  const DataFormat format =
      state.range(0) == 0 ? DataFormat::kLibSvm : DataFormat::kTfRecord;
  const BenchFile file(&BytesOf(format));
  ExampleBatch rows;
  NoBadRows bad;
  ExampleOptions options;
  options.feature_size = kIds;
  options.field_size = kFields;
  for (auto _ : state) {
    auto reader = OpenExamples(&file, {format, Compression::kNone}, 0,
                               file.size(), options)
                      .value();
    do {
      rows.Clear();
      if (!reader->ReadRows(1024, &rows, &bad).ok()) {
        state.SkipWithError("bad");
        break;
      }
    } while (rows.size() != 0);
  }
  state.SetBytesProcessed(state.iterations() * file.size());
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(ParseRows)->ArgName("tfrecord")->Arg(0)->Arg(1);

void ReadPiece(benchmark::State& state) {
  const MemoryFileSystem files;
  PieceReaderOptions options;
  options.feature_size = kIds;
  options.field_size = kFields;
  options.shuffle = state.range(0) != 0;
  Lease lease;
  lease.piece.end = Text().size();
  lease.batch_size = 1024;
  Batch batch;
  for (auto _ : state) {
    auto reader = PieceReader::Open(&files, "memory", lease, options).value();
    while (reader->Next(&batch).value()) benchmark::DoNotOptimize(batch);
  }
  CountText(state);
}
BENCHMARK(ReadPiece)->ArgName("shuffle")->Arg(0)->Arg(1);

// The ids of batches of 1,024 rows, as the data has them.
std::vector<std::vector<FeatureId>> BatchIds() {
  const PlantedModel model({kFields, 13, kIds, 1.1, 1});
  std::vector<std::vector<FeatureId>> batches(16);
  PlantedRow row;
  uint64_t i = 0;
  for (std::vector<FeatureId>& ids : batches) {
    for (int r = 0; r < 1024; ++r) {
      model.Draw(i++, &row);
      ids.insert(ids.end(), row.ids.begin(), row.ids.end());
    }
  }
  return batches;
}

void FindUniqueIds(benchmark::State& state) {
  const std::vector<std::vector<FeatureId>> batches = BatchIds();
  UniqueIds unique;
  size_t next = 0;
  for (auto _ : state) {
    unique.Build(batches[next++ % batches.size()]);
    benchmark::DoNotOptimize(unique.inverse().data());
  }
  state.SetItemsProcessed(state.iterations() * batches[0].size());
}
BENCHMARK(FindUniqueIds);

void SplitUniqueIds(benchmark::State& state) {
  UniqueIds unique;
  unique.Build(BatchIds()[0]);
  const TablePartition partition{static_cast<PartitionKind>(state.range(0)),
                                 kIds, 4};
  IdSplit split;
  for (auto _ : state) {
    SplitIds(partition, unique.distinct(), &split);
    benchmark::DoNotOptimize(split.position.data());
  }
  state.SetItemsProcessed(state.iterations() * unique.distinct().size());
}
BENCHMARK(SplitUniqueIds)
    ->ArgName("kind")
    ->Arg(static_cast<int>(PartitionKind::kFixedSize))
    ->Arg(static_cast<int>(PartitionKind::kMod))
    ->Arg(static_cast<int>(PartitionKind::kHash));

}  // namespace
}  // namespace shoal

BENCHMARK_MAIN();
