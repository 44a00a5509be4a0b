// Bytes a second of saving and loading one shard in this process. Beside that,
// a file of the same size is written in blocks of 1 MiB, synced, and read.
// Argument: rows of the table (144 bytes each in the file: 17 floats, 17
// accumulators and the id). The file must fit into /tmp. The share is Save /
// WriteFile and Load / ReadFile of one run.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/path.h"
#include "benchmark/benchmark.h"
#include "checkpoint/checkpoint_directory.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {
namespace {

constexpr char kDirectory[] = "/tmp/shoal-checkpoint-bench";
constexpr uint64_t kBlock = uint64_t{1} << 20;

class InlineExecutor final : public Executor {
 public:
  void Post(Task task) override { std::move(task)(); }
  void PostAt(absl::Time, Task task) override { std::move(task)(); }
  absl::Time Now() const override { return absl::Now(); }
};

// A shard with every row in existence.
class Trained {
 public:
  Trained(uint64_t rows, bool dynamic) {
    OptimizerSpec adagrad;
    adagrad.kind = OptimizerKind::kAdagrad;
    const InitializerSpec uniform = {InitializerKind::kUniform, 0.01f};
    options_.job = "bench";
    options_.model.model = "bench";
    TableSpec table;
    table.name = "fm";
    table.feature_size = dynamic ? 0 : rows;
    table.columns = {{"fm_w", 1, adagrad, uniform},
                     {"fm_v", 16, adagrad, uniform}};
    options_.model.tables = {table};
    options_.map.tables = {
        {dynamic ? PartitionKind::kHash : PartitionKind::kFixedSize,
         table.feature_size, 1}};
    options_.life = Life{1, 1};
    shard_ = *ParameterShard::Create(options_, &executor_);
    shard_->ServeUntil(absl::InfiniteFuture());
    std::vector<FeatureId> ids(4096);
    std::vector<float> values(ids.size() * 17);
    for (uint64_t first = 0; first < rows; first += ids.size()) {
      ids.resize(std::min<uint64_t>(4096, rows - first));
      for (size_t i = 0; i < ids.size(); ++i) ids[i] = first + i;
      PullRequest pull;
      pull.identity = {"bench", Life{1, 2}, Life{1, 1}, 1};
      pull.tables = {{0, ids, absl::MakeSpan(values).first(ids.size() * 17)}};
      shard_->Pull(pull, absl::Seconds(10), [](absl::StatusOr<PullReply>) {});
    }
  }

  Manifest Save(const FileSystem& files) {
    SaveShardOptions save;
    save.files = &files;
    save.directory = kDirectory;
    Manifest manifest;
    manifest.model = options_.model;
    manifest.map = options_.map;
    auto entry = shard_->Save(save);
    if (entry.ok()) manifest.shards = {*std::move(entry)};
    return manifest;
  }

  bool Load(const FileSystem& files, const Manifest& manifest) {
    LoadShardOptions load;
    load.files = &files;
    load.directory = kDirectory;
    load.manifest = &manifest;
    return ParameterShard::Load(options_, &executor_, load).ok();
  }

 private:
  InlineExecutor executor_;
  ParameterShardOptions options_;
  std::unique_ptr<ParameterShard> shard_;
};

void Clear(const FileSystem& files) {
  (void)files.Remove(JoinPath(kDirectory, ShardFileName(0, 1)));
  (void)files.Remove(JoinPath(kDirectory, "raw"));
  (void)files.Remove(kDirectory);
}

template <bool dynamic>
void Save(benchmark::State& state) {
  const auto files = NewPosixFileSystem();
  Trained trained(state.range(0), dynamic);
  uint64_t bytes = 0;
  for (auto _ : state) {
    const Manifest manifest = trained.Save(*files);
    if (manifest.shards.empty()) return state.SkipWithError("not saved");
    bytes += manifest.bytes();
  }
  state.SetBytesProcessed(bytes);
  Clear(*files);
}

template <bool dynamic>
void Load(benchmark::State& state) {
  const auto files = NewPosixFileSystem();
  Trained trained(state.range(0), dynamic);
  const Manifest manifest = trained.Save(*files);
  for (auto _ : state) {
    if (!trained.Load(*files, manifest)) {
      return state.SkipWithError("not loaded");
    }
  }
  state.SetBytesProcessed(state.iterations() * manifest.bytes());
  Clear(*files);
}

// Writes `bytes` in blocks. They are on the disk when it returns.
bool WriteRaw(const FileSystem& files, uint64_t bytes) {
  const std::string block(kBlock, 'x');
  if (!files.CreateDirectories(kDirectory).ok()) return false;
  auto file = files.Create(JoinPath(kDirectory, "raw"));
  if (!file.ok()) return false;
  for (uint64_t at = 0; at < bytes; at += kBlock) {
    if (!(*file)->Append(block).ok()) return false;
  }
  return (*file)->Sync().ok() && (*file)->Close().ok();
}

void WriteFile(benchmark::State& state) {
  const auto files = NewPosixFileSystem();
  const uint64_t bytes = 144 * state.range(0);
  for (auto _ : state) {
    if (!WriteRaw(*files, bytes)) return state.SkipWithError("not written");
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  Clear(*files);
}

void ReadFile(benchmark::State& state) {
  const auto files = NewPosixFileSystem();
  const uint64_t bytes = 144 * state.range(0);
  if (!WriteRaw(*files, bytes)) return state.SkipWithError("not written");
  std::vector<char> block(kBlock);
  for (auto _ : state) {
    auto file = files->OpenForRead(JoinPath(kDirectory, "raw"));
    if (!file.ok()) return state.SkipWithError("not read");
    for (uint64_t at = 0; at < (*file)->size(); at += kBlock) {
      benchmark::DoNotOptimize((*file)->Read(at, absl::MakeSpan(block)).ok());
    }
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  Clear(*files);
}

BENCHMARK(WriteFile)->Arg(2'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(ReadFile)->Arg(2'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Save<false>)->Arg(2'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Save<true>)->Arg(2'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Load<false>)->Arg(2'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(Load<true>)->Arg(2'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shoal

BENCHMARK_MAIN();
