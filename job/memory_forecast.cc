#include "job/memory_forecast.h"

#include <algorithm>
#include <iostream>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "models/model_table.h"
#include "partitioner/table_partition.h"
#include "ps/shard/dense_store.h"
#include "ps/table/record_layout.h"
#include "rpc/server.h"

namespace shoal {
namespace {

constexpr uint64_t kMB = 1000 * 1000;

// What a process holds before it does anything: the program, its libraries,
// their threads. Measured, as the factors below are (bench/e2e/memory.py).
constexpr uint64_t kPsBase = 21 * kMB;
constexpr uint64_t kWorkerBase = 31 * kMB;
constexpr uint64_t kTrainBase = 20 * kMB;
constexpr uint64_t kLauncherBase = 12 * kMB;
// A window's arrays grow by doubling, and leave their old places in the heap.
constexpr uint64_t kWindowPercent = 160;
// Copies of a message that a server holds, in pieces or whole, for each batch
// of a worker under way; and of those that a worker holds.
constexpr uint64_t kServerCopies = 3;
constexpr uint64_t kWorkerCopies = 2;
// Of a dynamic table, beside a record: its entry in an index that is half full.
constexpr uint64_t kIndexBytes = 32;
// Floats and ids of what is read, parsed and sent.
constexpr uint64_t kFeatureBytes = 12;  // id and value
constexpr uint64_t kRowBytes = 5;       // label and offset
// Read ahead by a lease (worker/data/batch_prefetcher.h).
constexpr uint64_t kAheadBatches = 16;
constexpr uint64_t kAheadBytes = 16 << 20;
// Of an evaluation (cluster/evaluation.h): a row's score while it is reported
// on, and what takes the place of scores when there are too many.
constexpr uint64_t kScoreBytes = 13;
constexpr uint64_t kHistogramBytes = 128 << 20;
// Of a field in records and compressed files, whose rows are not counted.
constexpr uint64_t kUnknownFieldBytes = 4;

// Sums and products of what flags say, which may be anything.
uint64_t Add(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b
             ? std::numeric_limits<uint64_t>::max()
             : a + b;
}
uint64_t Times(uint64_t a, uint64_t b) {
  if (a != 0 && b > std::numeric_limits<uint64_t>::max() / a) {
    return std::numeric_limits<uint64_t>::max();
  }
  return a * b;
}

// What both sides of a batch are made of.
struct BatchSize {
  uint64_t features = 0;      // B × F
  uint64_t distinct = 0;      // ids, at most
  uint64_t row_floats = 0;    // of a row on the wire
  uint64_t dense_floats = 0;  // of all dense variables
  uint64_t in_flight = 0;     // batches of one worker that are under way

  uint64_t message_bytes() const {
    return Add(Times(distinct, 8 + 4 * row_floats), 4 * dense_floats);
  }
};

BatchSize SizeOfBatch(const JobFlags& flags, const JobPlan& plan) {
  BatchSize size;
  size.features = Times(static_cast<uint64_t>(flags.training.batch_size),
                        static_cast<uint64_t>(flags.model.field_size));
  size.distinct = size.features;
  if (flags.model.feature_size != 0) {
    size.distinct = std::min(size.distinct, flags.model.feature_size);
  }
  for (const TableSpec& table : plan.spec.tables) {
    if (!table.on_every_shard) size.row_floats += table.row_dim();
  }
  size.dense_floats = static_cast<uint64_t>(plan.spec.dense_size());
  size.in_flight = static_cast<uint64_t>(flags.PipelineDepth()) + 1;
  return size;
}

// A window of rows that are shuffled together, and batches cut from it: of the
// training rows. Evaluations keep the order, and read when training stands.
uint64_t ReaderBytes(const JobFlags& flags, const FilesSize& data) {
  const uint64_t row =
      static_cast<uint64_t>(flags.model.field_size) * kFeatureBytes + kRowBytes;
  const bool trains = flags.training.task_type == "train";
  uint64_t rows = flags.data.shuffle && trains
                      ? static_cast<uint64_t>(flags.data.shuffle_rows)
                      : 0;
  if (data.row_bytes != 0) {
    uint64_t piece = data.bytes;
    if (flags.data.piece_bytes > 0) piece = flags.data.piece_bytes;
    if (flags.data.piece_bytes < 0) {
      piece = std::clamp<uint64_t>(data.bytes / 32, 64 << 10, 64 << 20);
    }
    rows = std::min(rows, piece / data.row_bytes + 1);
  }
  const uint64_t batch =
      Times(static_cast<uint64_t>(flags.training.batch_size), row);
  const uint64_t ahead =
      std::min(Times(batch, kAheadBatches), Add(kAheadBytes, batch));
  return Add(Times(rows, kWindowPercent * row) / 100, ahead);
}

// What the coordinator keeps of an evaluation: scores, or their histogram.
uint64_t ScoresBytes(const JobFlags& flags, const FilesSize& data) {
  if (data.bytes == 0 || flags.training.task_type == "infer") return 0;
  const uint64_t row_bytes =
      data.row_bytes != 0
          ? data.row_bytes
          : kUnknownFieldBytes * static_cast<uint64_t>(flags.model.field_size);
  const uint64_t rows = data.bytes / row_bytes + 1;
  const uint64_t exact = static_cast<uint64_t>(flags.data.auc_exact_rows);
  return Add(Times(std::min(rows, exact), kScoreBytes),
             rows > exact ? kHistogramBytes : 0);
}

uint64_t StepBytes(const JobFlags& flags, const JobPlan& plan,
                   const BatchSize& batch) {
  // Examples, dense indexes and values, rows and their gradients, dense
  // variables and theirs (worker/train/train_step.h).
  uint64_t step = Times(batch.features, kFeatureBytes + 8);
  step = Add(step, Times(batch.distinct, 16 + 8 * batch.row_floats));
  step = Add(step, 8 * batch.dense_floats);
  // Those read, pulled, and pushed.
  const uint64_t steps = 2 * batch.in_flight + 1;
  const uint64_t model =
      FindModel(plan.model.model)
          ->memory_bytes(plan.model, flags.training.batch_size, batch.distinct);
  return Add(Times(step, steps), model);
}

uint64_t ShardBytes(const JobPlan& plan, int shard, bool* tables_grow) {
  uint64_t bytes = DenseStore::BytesOnShard(plan.spec, plan.map, shard);
  for (size_t i = 0; i < plan.spec.tables.size(); ++i) {
    const TableSpec& table = plan.spec.tables[i];
    if (table.on_every_shard) continue;
    const uint64_t record = RecordLayout(table).stride();
    if (!table.dynamic()) {
      bytes = Add(bytes, Times(RowsOnShard(plan.map.tables[i], shard), record));
    } else if (table.row_limit != 0) {
      bytes = Add(bytes, Times(table.row_limit, record + kIndexBytes));
    } else {
      *tables_grow = true;
    }
  }
  return bytes;
}

std::string Bytes(uint64_t bytes) {
  if (bytes < 1000 * kMB) return absl::StrCat((bytes + kMB / 2) / kMB, " MB");
  return absl::StrFormat("%.1f GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

MemoryForecast ForecastMemory(const JobFlags& flags, const JobPlan& plan,
                              const DataSize& data) {
  MemoryForecast forecast;
  const BatchSize batch = SizeOfBatch(flags, plan);
  const uint64_t message = batch.message_bytes();
  RpcServerOptions server;
  server.SetMaxMessageBytes(
      static_cast<uint64_t>(flags.limits.max_message_bytes));
  for (int k = 0; k < flags.cluster.ps; ++k) {
    bool grows = false;
    uint64_t held = ShardBytes(plan, k, &grows);
    if (flags.limits.max_ps_bytes != 0) {
      held = grows ? flags.limits.max_ps_bytes
                   : std::min(held, flags.limits.max_ps_bytes);
      grows = false;
    }
    forecast.tables_grow |= grows;
    // A pull's answer and a push of every worker, as it comes and as it goes,
    // up to what a server lets calls hold.
    const uint64_t requests = std::min(
        Times(
            Times(message / flags.cluster.ps, kServerCopies * batch.in_flight),
            static_cast<uint64_t>(flags.cluster.workers)),
        server.max_call_memory());
    // The coordinator is in the first.
    const uint64_t scores = k == 0 ? ScoresBytes(flags, data.eval) : 0;
    forecast.ps.push_back(Add(Add(Add(kPsBase, held), requests), scores));
  }
  forecast.worker = Add(kWorkerBase, ReaderBytes(flags, data.train));
  forecast.worker = Add(forecast.worker, StepBytes(flags, plan, batch));
  forecast.worker =
      Add(forecast.worker, Times(message, kWorkerCopies * batch.in_flight));
  forecast.launcher = kLauncherBase;
  return forecast;
}

uint64_t ForecastOneProcess(const JobFlags& flags, const JobPlan& plan,
                            const DataSize& data) {
  bool grows = false;
  uint64_t held = ShardBytes(plan, 0, &grows);
  if (flags.limits.max_ps_bytes != 0) {
    held = grows ? flags.limits.max_ps_bytes
                 : std::min(held, flags.limits.max_ps_bytes);
  }
  const uint64_t worker = Add(ReaderBytes(flags, data.train),
                              StepBytes(flags, plan, SizeOfBatch(flags, plan)));
  return Add(Add(Add(kTrainBase, held), ScoresBytes(flags, data.eval)),
             Times(worker, static_cast<uint64_t>(flags.cluster.workers)));
}

namespace {

FilesSize MeasureFiles(const FileSystem& files, const std::string& paths) {
  FilesSize data;
  if (paths.empty()) return data;
  const auto listed = files.List(paths);
  if (!listed.ok() || listed->empty()) return data;
  for (const FileInfo& file : *listed) {
    data.bytes = Add(data.bytes, file.size);
  }
  const auto file = files.OpenForRead(listed->front().path);
  if (!file.ok()) return data;
  std::string head(std::min<uint64_t>((*file)->size(), 64 << 10), '\0');
  const auto size = (*file)->Read(0, absl::MakeSpan(&head[0], head.size()));
  if (!size.ok()) return data;
  // Records and compressed files are no lines.
  if (head.find('\0') < *size) return data;
  const uint64_t lines = static_cast<uint64_t>(
      std::count(head.begin(), head.begin() + *size, '\n'));
  // Fewer are no text, or rows longer than any that is read.
  if (lines >= 8) data.row_bytes = *size / lines;
  return data;
}

}  // namespace

DataSize MeasureData(const FileSystem& files, const JobFlags& flags) {
  return {MeasureFiles(files, flags.TrainingData()),
          MeasureFiles(files, flags.data.val_data_dir)};
}

HostForecast ForecastHost(const JobFlags& flags, const JobPlan& plan,
                          const DataSize& data, const HostMemory& host) {
  HostForecast result;
  std::string what;
  int processes = 1;
  if (flags.command == Command::kTrain) {
    bool grows = false;
    ShardBytes(plan, 0, &grows);
    result.tables_grow = grows && flags.limits.max_ps_bytes == 0;
    result.bytes = ForecastOneProcess(flags, plan, data);
  } else {
    const MemoryForecast forecast = ForecastMemory(flags, plan, data);
    result.tables_grow = forecast.tables_grow;
    if (flags.command == Command::kPs) {
      result.bytes = forecast.ps[flags.cluster.task_index];
    } else if (flags.command == Command::kWorker) {
      result.bytes = forecast.worker;
      result.tables_grow = false;
    } else {
      processes = 1 + flags.cluster.ps + flags.cluster.workers;
      result.bytes = Add(
          forecast.launcher,
          Times(forecast.worker, static_cast<uint64_t>(flags.cluster.workers)));
      for (const uint64_t ps : forecast.ps) {
        result.bytes = Add(result.bytes, ps);
      }
      what = absl::StrCat(
          "ps ~",
          Bytes(*std::max_element(forecast.ps.begin(), forecast.ps.end())),
          " each, worker ~", Bytes(forecast.worker), " each; ");
    }
  }
  result.line = absl::StrCat(
      "memory: ", what, processes,
      processes == 1 ? " process ~" : " processes ~", Bytes(result.bytes),
      host.total_bytes == 0
          ? std::string()
          : absl::StrCat(" of ", Bytes(host.total_bytes), " (", host.whose,
                         "; ", Bytes(host.available_bytes), " free)"),
      result.tables_grow
          ? ", and what tables without --feature_size or --table_row_limit "
            "grow to"
          : "");
  return result;
}

absl::Status CheckMemory(uint64_t bytes, const HostMemory& host) {
  if (host.total_bytes == 0 || bytes <= host.total_bytes) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "about ", Bytes(bytes), " of memory are needed, and ", host.whose,
      " has ", Bytes(host.total_bytes),
      ": use more hosts (--ps_hosts, --hosts), a smaller --embedding_size, "
      "--batch_size or --shuffle_rows, an optimizer with fewer slots, or "
      "--table_row_limit; --memory_check=off tries it all the same"));
}

absl::Status ForecastAndCheck(const JobFlags& flags, const JobPlan& plan,
                              const FileSystem& files) {
  // A launcher has done it for its processes.
  if (!flags.output.print_config && flags.monitoring.memory_check == "off") {
    return absl::OkStatus();
  }
  const HostMemory host = ReadHostMemory();
  const HostForecast forecast =
      ForecastHost(flags, plan, MeasureData(files, flags), host);
  if (flags.output.print_config) std::cerr << forecast.line << std::endl;
  const absl::Status fits = CheckMemory(forecast.bytes, host);
  if (flags.monitoring.memory_check == "on" && !fits.ok()) return fits;
  if (host.available_bytes != 0 && forecast.bytes > host.available_bytes) {
    std::cerr << "memory: warning: about " << Bytes(forecast.bytes)
              << " are needed, and only " << Bytes(host.available_bytes)
              << " are free" << std::endl;
  }
  return absl::OkStatus();
}

}  // namespace shoal
