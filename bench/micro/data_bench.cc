// From bytes to batches, and from a batch's ids to the shards', on one thread.
// The data is synthetic (datatools/planted_model.h) and in memory: 39
// features a row, 13 of them decimals of four digits.
//
//   bytes_per_second   bytes of the file ÷ CPU time of the thread
//   items_per_second   rows, or ids with their repetitions ÷ CPU time
//
// Ceilings: SplitLines only finds line ends. ParseWithStrtof parses the same
// row with the C library, without any check. SumRecords reads every byte and
// checks nothing. For dedup, StampedTable is the bare loop: open addressing
// over cells that carry the number of the build, with prefetch, for ids below
// 2^32. For look-ups of 10 million ids, BareFind is a table of only (id,
// value), at the same load, with prefetch; FlatHashMapFind is Abseil's map.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/stable_hash.h"
#include "bench/micro/bench_rows.h"
#include "bench/micro/id_batches.h"
#include "core/unique_ids.h"
#include "partitioner/split.h"
#include "ps/table/hash_index.h"
#include "ps/table/memory_budget.h"
#include "ps/table/reserved_memory.h"
#include "tests/harness/read_only_file_system.h"
#include "worker/data/line_source.h"
#include "worker/data/open_examples.h"
#include "worker/data/piece_reader.h"

namespace shoal {
namespace {

const std::string& Text() { return BenchFileBytes(DataFormat::kLibSvm); }

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

class MemoryFileSystem final : public ReadOnlyFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(
      const std::string&) const override {
    return std::make_unique<BenchFile>();
  }
};

void CountText(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * Text().size());
  state.SetItemsProcessed(state.iterations() * kBenchRows);
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

void SumRecords(benchmark::State& state) {
  const std::string& bytes = BenchFileBytes(DataFormat::kTfRecord);
  for (auto _ : state) {
    uint64_t sum = 0;
    for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + i, sizeof(word));
      sum += word;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * bytes.size());
}
BENCHMARK(SumRecords);

// From the bytes of a file to rows: 0 LibSVM, 1 TFRecord with both checksums,
// 2 Criteo's lines.
void ParseRows(benchmark::State& state) {
  constexpr DataFormat kFormats[] = {DataFormat::kLibSvm, DataFormat::kTfRecord,
                                     DataFormat::kCriteo};
  const DataFormat format = kFormats[state.range(0)];
  const BenchFile file(&BenchFileBytes(format));
  ExampleBatch rows;
  NoBadRows bad;
  ExampleOptions options;
  options.feature_size = kBenchIds;
  options.field_size = kBenchFields;
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
  state.SetItemsProcessed(state.iterations() * kBenchRows);
}
BENCHMARK(ParseRows)->ArgName("format")->DenseRange(0, 2);

void ReadPiece(benchmark::State& state) {
  const MemoryFileSystem files;
  PieceReaderOptions options;
  options.feature_size = kBenchIds;
  options.field_size = kBenchFields;
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

void FindUniqueIds(benchmark::State& state) {
  const std::vector<std::vector<FeatureId>> batches = BenchRowIds(16, 1024);
  UniqueIds unique;
  size_t next = 0;
  for (auto _ : state) {
    unique.Build(batches[next++ % batches.size()]);
    benchmark::DoNotOptimize(unique.inverse().data());
  }
  state.SetItemsProcessed(state.iterations() * batches[0].size());
}
BENCHMARK(FindUniqueIds);

// The same for 40,000 ids of one law: 0 uniform over a million, 1 Zipf.
std::vector<FeatureId> FortyThousandIds(int law) {
  return DrawnIds(law == 0 ? IdLaw::kUniform : IdLaw::kZipf, kBenchIds, 40'000);
}

void Dedup40000(benchmark::State& state) {
  const std::vector<FeatureId> ids = FortyThousandIds(state.range(0));
  UniqueIds unique;
  for (auto _ : state) {
    unique.Build(ids);
    benchmark::DoNotOptimize(unique.inverse().data());
  }
  state.SetItemsProcessed(state.iterations() * ids.size());
}
BENCHMARK(Dedup40000)->ArgName("law")->Arg(0)->Arg(1);

void StampedTable40000(benchmark::State& state) {
  const std::vector<FeatureId> ids = FortyThousandIds(state.range(0));
  struct Cell {
    uint32_t stamp, id, index;
  };
  constexpr int kShift = 64 - 17;
  std::vector<Cell> cells(1 << 17);
  std::vector<uint32_t> distinct(ids.size());
  std::vector<uint32_t> inverse(ids.size());
  uint32_t stamp = 0;
  const auto home = [&](size_t i) {
    return (ids[std::min(i, ids.size() - 1)] * 0x9e3779b97f4a7c15ull) >> kShift;
  };
  for (auto _ : state) {
    ++stamp;
    uint32_t count = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      __builtin_prefetch(&cells[home(i + 16)], 1);
      const auto id = static_cast<uint32_t>(ids[i]);
      size_t at = home(i);
      while (cells[at].stamp == stamp && cells[at].id != id) {
        at = (at + 1) % cells.size();
      }
      if (cells[at].stamp != stamp) {
        distinct[count] = id;
        cells[at] = {stamp, id, count++};
      }
      inverse[i] = cells[at].index;
    }
    benchmark::DoNotOptimize(inverse.data());
    benchmark::DoNotOptimize(distinct.data());
  }
  state.SetItemsProcessed(state.iterations() * ids.size());
}
BENCHMARK(StampedTable40000)->ArgName("law")->Arg(0)->Arg(1);

constexpr uint64_t kTableIds = 10'000'000;
constexpr size_t kLookUps = 4'000'000;

// Argument: the law of the ids, 0 uniform or 1 Zipf. Looks up 10,000 ids at a
// time.
template <typename Find>
void LookUp(benchmark::State& state, const Find& find) {
  const std::vector<FeatureId> ids =
      DrawnIds(state.range(0) == 0 ? IdLaw::kUniform : IdLaw::kZipf, kTableIds,
               kLookUps);
  for (auto _ : state) {
    for (size_t i = 0; i < ids.size(); i += 10'000) {
      find(absl::MakeConstSpan(ids).subspan(i, 10'000));
    }
  }
  state.SetItemsProcessed(state.iterations() * ids.size());
}

void HashIndexFind(benchmark::State& state) {
  static MemoryBudget* const budget = new MemoryBudget(0);
  static HashIndex* const index = [] {
    auto* made = new HashIndex(budget);
    static RecordHeader record{};
    for (FeatureId id = 0; id < kTableIds; ++id) {
      if (!made->Reserve({id}).ok()) std::abort();
      made->Insert(id, &record);
    }
    return made;
  }();
  std::vector<RecordHeader*> found(10'000);
  LookUp(state, [&](absl::Span<const FeatureId> ids) {
    index->Find(ids, absl::MakeSpan(found));
    benchmark::DoNotOptimize(found.data());
  });
}
BENCHMARK(HashIndexFind)->ArgName("law")->Arg(0)->Arg(1);

void BareFind(benchmark::State& state) {
  struct Entry {
    uint64_t id, value;
  };
  constexpr int kBits = 24;  // 10 of 16.8 million, 0.6 full
  static const ReservedMemory* const memory =
      new ReservedMemory(*ReservedMemory::Create(sizeof(Entry) << kBits));
  auto* const entries = reinterpret_cast<Entry*>(memory->data());
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  const auto home = [](uint64_t id) { return StableHash(id) >> (64 - kBits); };
  if (entries[home(0)].value == 0) {
    for (uint64_t id = 0; id < kTableIds; ++id) {
      uint64_t at = home(id);
      while (entries[at].value != 0) at = (at + 1) & kMask;
      entries[at] = {id, id + 1};
    }
  }
  std::vector<uint64_t> found(10'000);
  LookUp(state, [&](absl::Span<const FeatureId> ids) {
    for (size_t i = 0; i < ids.size(); ++i) {
      __builtin_prefetch(entries + home(ids[std::min(i + 16, ids.size() - 1)]));
      uint64_t at = home(ids[i]);
      while (entries[at].id != ids[i]) at = (at + 1) & kMask;
      found[i] = entries[at].value;
    }
    benchmark::DoNotOptimize(found.data());
  });
}
BENCHMARK(BareFind)->ArgName("law")->Arg(0)->Arg(1);

void FlatHashMapFind(benchmark::State& state) {
  static const auto* const map = [] {
    auto* made = new absl::flat_hash_map<uint64_t, uint64_t>(kTableIds);
    for (uint64_t id = 0; id < kTableIds; ++id) (*made)[id] = id;
    return made;
  }();
  std::vector<uint64_t> found(10'000);
  LookUp(state, [&](absl::Span<const FeatureId> ids) {
    for (size_t i = 0; i < ids.size(); ++i)
      found[i] = map->find(ids[i])->second;
    benchmark::DoNotOptimize(found.data());
  });
}
BENCHMARK(FlatHashMapFind)->ArgName("law")->Arg(0)->Arg(1);

void SplitUniqueIds(benchmark::State& state) {
  UniqueIds unique;
  unique.Build(BenchRowIds(1, 1024)[0]);
  const TablePartition partition{static_cast<PartitionKind>(state.range(0)),
                                 kBenchIds, 4};
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
