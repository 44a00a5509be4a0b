#include "job/memory_forecast.h"

#include <algorithm>
#include <iostream>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/saturating.h"
#include "cluster/evaluation.h"
#include "core/piece_table.h"
#include "job/options_from_flags.h"
#include "job/step_room.h"
#include "job/training_mode.h"
#include "job/worker_host.h"
#include "models/model_table.h"
#include "rpc/parameter_client.h"
#include "rpc/server.h"
#include "wire/codec/message_bytes.h"
#include "worker/data/batch_prefetcher.h"
#include "worker/train/train_step.h"

namespace shoal {
namespace {

constexpr uint64_t kMB = 1000 * 1000;

// Memory that a process holds before it does anything: the program, its
// libraries and their threads. Measured by bench/e2e/memory.py. The parts of a
// process say what they need on top of this.
constexpr uint64_t kPsBase = 21 * kMB;
constexpr uint64_t kWorkerBase = 31 * kMB;
constexpr uint64_t kTrainBase = 20 * kMB;
constexpr uint64_t kLauncherBase = 12 * kMB;
// Bytes of a field in records and compressed files, whose rows are not counted.
constexpr uint64_t kUnknownFieldBytes = 4;

StepSize SizeOfStep(const JobFlags& flags, const JobPlan& plan) {
  StepSize size;
  size.features =
      SaturatingTimes(static_cast<uint64_t>(flags.training.batch_size),
                      static_cast<uint64_t>(flags.model.field_size));
  size.distinct_ids = size.features;
  if (flags.model.feature_size != 0) {
    size.distinct_ids = std::min(size.distinct_ids, flags.model.feature_size);
  }
  for (const TableSpec& table : plan.spec.tables) {
    if (!table.on_every_shard) size.row_floats += table.row_dim();
  }
  size.dense_floats = static_cast<uint64_t>(plan.spec.dense_size());
  return size;
}

// Memory of a worker's reader of training rows. Evaluations read while training
// stands still.
uint64_t ReaderBytes(const JobFlags& flags, const FilesSize& data) {
  uint64_t rows = std::numeric_limits<uint64_t>::max();  // of a piece
  if (data.row_bytes != 0) {
    uint64_t piece = data.bytes;
    if (flags.data.piece_bytes > 0) piece = flags.data.piece_bytes;
    if (flags.data.piece_bytes < 0) {
      piece = PieceBytesForBatches(
          data.bytes, static_cast<uint64_t>(flags.training.batch_size),
          data.row_bytes);
    }
    rows = piece / data.row_bytes + 1;
  }
  const uint64_t batch =
      SaturatingTimes(static_cast<uint64_t>(flags.training.batch_size),
                      ExampleBatch::BytesOfExample(
                          static_cast<uint64_t>(flags.model.field_size)));
  const LeasePurpose purpose = flags.training.Trains()
                                   ? LeasePurpose::kTrain
                                   : LeasePurpose::kEvaluate;
  // The last batches of a piece are there while the next piece is read.
  return SaturatingAdd(
      PieceReaderOptionsFromFlags(flags).MemoryBytes(purpose, rows),
      SaturatingTimes(BatchPrefetcherOptions().MemoryBytes(batch), 2));
}

// Memory of the scores that the coordinator keeps for an evaluation.
uint64_t ScoresBytes(const JobFlags& flags, const JobPlan& plan,
                     const FilesSize& data) {
  if (data.bytes == 0 || flags.training.Infers()) return 0;
  const uint64_t row_bytes =
      data.row_bytes != 0
          ? data.row_bytes
          : kUnknownFieldBytes * static_cast<uint64_t>(flags.model.field_size);
  const CoordinatorOptions options = CoordinatorOptionsFromFlags(flags, plan);
  return Evaluation::MemoryBytes(*options.metrics, data.bytes / row_bytes + 1,
                                 options.auc_exact_rows);
}

// Memory of a worker's steps and model.
uint64_t ComputeBytes(const JobFlags& flags, const JobPlan& plan) {
  const StepSize size = SizeOfStep(flags, plan);
  return SaturatingAdd(
      WorkerLoopOptionsFromFlags(flags).trainer.MemoryBytes(size),
      FindModel(plan.model.model)
          ->memory_bytes(plan.model, flags.training.batch_size,
                         size.distinct_ids));
}

ParameterShardOptions::Memory ShardMemory(const JobFlags& flags,
                                          const JobPlan& plan, int shard) {
  ParameterShardOptions options = PsLoopOptionsFromFlags(flags).shard;
  options.model = plan.spec;
  options.map = plan.map;
  options.shard = shard;
  return options.MemoryBytes();
}

// Memory of the rounds of a rank (worker/train/ring_round.h): its own part and
// those of the others, their merged rows and a copy of these, each with at most
// the rows of one push of every rank, and the index by which rows are merged
// (core/row_merge.h). If the ranks have no rows, the sum of the dense gradient.
uint64_t RingBytes(const JobFlags& flags, const JobPlan& plan) {
  constexpr uint64_t kIndexBytesOfId = 112;
  if (plan.ps.num_servers() > 0) {
    return SaturatingTimes(sizeof(float), SizeOfStep(flags, plan).dense_floats);
  }
  const uint64_t ids = SizeOfStep(flags, plan).distinct_ids;
  const uint64_t of_rank =
      SaturatingAdd(SaturatingTimes(3, StepMessageBytes(flags, plan)),
                    SaturatingTimes(kIndexBytesOfId, ids));
  return SaturatingTimes(of_rank,
                         static_cast<uint64_t>(flags.cluster.workers));
}

// Shards among which the rows of a batch are spread.
uint64_t ShardsOfRows(const JobPlan& plan) {
  return static_cast<uint64_t>(plan.map.ShardsOf(PartitionKind::kHash));
}

// Bytes of one batch's push to a shard: its even part of the rows, and the
// dense blocks of the shard.
StepSize SizeOnShard(const JobFlags& flags, const JobPlan& plan, int shard) {
  StepSize size = SizeOfStep(flags, plan);
  size.distinct_ids = size.distinct_ids / ShardsOfRows(plan) + 1;
  size.dense_floats = 0;
  for (const DenseBlock& block : plan.map.blocks) {
    if (block.shard != shard) continue;
    size.dense_floats += static_cast<uint64_t>(block.size());
  }
  return size;
}

uint64_t PushBytes(const StepSize& size) {
  return BatchMessageBytes(size.distinct_ids, size.row_floats,
                           size.dense_floats);
}

// Memory of the sum of a step's pushes on a shard (ps/shard/step_sum.h): the
// merged rows of each table with their index (core/row_merge.h), and the dense
// blocks.
uint64_t StepSumBytes(const JobFlags& flags, const JobPlan& plan, int shard) {
  constexpr uint64_t kIndexBytesOfId = 104;
  const StepSize size = SizeOnShard(flags, plan, shard);
  const auto tables = static_cast<uint64_t>(std::count_if(
      plan.spec.tables.begin(), plan.spec.tables.end(),
      [](const TableSpec& table) { return !table.on_every_shard; }));
  const uint64_t of_id = tables * kIndexBytesOfId + 4 * size.row_floats;
  const uint64_t ids = SaturatingTimes(
      size.distinct_ids, static_cast<uint64_t>(flags.cluster.workers));
  return SaturatingAdd(SaturatingTimes(of_id, ids), 4 * size.dense_floats);
}

// Memory that a PS needs for the calls of the workers. It has the answer of a
// pull and a push of every worker, as messages come and go; in a mode of steps
// the pushes of all workers wait there at once, and their sum comes on top.
uint64_t CallBytes(const JobFlags& flags, const JobPlan& plan, int shard) {
  RpcServerOptions server = RpcServerOptionsFromFlags(flags);
  const auto workers = static_cast<uint64_t>(flags.cluster.workers);
  const uint64_t messages = SaturatingTimes(
      WorkerLoopOptionsFromFlags(flags).trainer.batches_in_flight(), workers);
  if (!KindOf(flags.training.mode).steps) {
    return server.MemoryBytes(
        StepMessageBytes(flags, plan) / ShardsOfRows(plan), messages);
  }
  SetRoomForSteps(flags, plan, &server);
  const uint64_t push = PushBytes(SizeOnShard(flags, plan, shard));
  return SaturatingAdd(server.MemoryBytes(push, messages),
                       StepSumBytes(flags, plan, shard));
}

// The most of CallBytes of all shards.
uint64_t MostCallBytes(const JobFlags& flags, const JobPlan& plan) {
  uint64_t most = 0;
  for (int shard = 0; shard < plan.map.num_shards; ++shard) {
    most = std::max(most, CallBytes(flags, plan, shard));
  }
  return most;
}

std::string Bytes(uint64_t bytes) {
  if (bytes < 1000 * kMB) return absl::StrCat((bytes + kMB / 2) / kMB, " MB");
  return absl::StrFormat("%.1f GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

uint64_t StepMessageBytes(const JobFlags& flags, const JobPlan& plan) {
  const StepSize size = SizeOfStep(flags, plan);
  return BatchMessageBytes(size.distinct_ids, size.row_floats,
                           size.dense_floats);
}

MemoryForecast ForecastMemory(const JobFlags& flags, const JobPlan& plan,
                              const DataSize& data) {
  MemoryForecast forecast;
  const uint64_t message = StepMessageBytes(flags, plan);
  const uint64_t in_flight =
      WorkerLoopOptionsFromFlags(flags).trainer.batches_in_flight();
  for (int member = 0; member < plan.ps.count; ++member) {
    const int index = plan.ps.ShardOf(member);
    const auto shard = ShardMemory(flags, plan, index);
    forecast.tables_grow |= shard.grows;
    uint64_t bytes = shard.bytes;
    // The PS of a rank is in the process of its worker, and its calls are no
    // messages.
    if (index != plan.ps.replicated) {
      bytes = SaturatingAdd(bytes, kPsBase);
      bytes = SaturatingAdd(bytes, CallBytes(flags, plan, index));
    }
    // The coordinator is in the process of PS 0.
    if (member == 0) {
      bytes = SaturatingAdd(bytes, ScoresBytes(flags, plan, data.eval));
    }
    forecast.ps.push_back(bytes);
  }
  forecast.worker = SaturatingAdd(kWorkerBase, ReaderBytes(flags, data.train));
  forecast.worker = SaturatingAdd(forecast.worker, ComputeBytes(flags, plan));
  if (flags.HasCopies()) {
    forecast.worker = SaturatingAdd(forecast.worker, RingBytes(flags, plan));
  }
  if (flags.HasServers()) {
    forecast.worker =
        SaturatingAdd(forecast.worker, ParameterClientOptions::MemoryBytes(
                                           message, in_flight));
  }
  forecast.launcher = kLauncherBase;
  return forecast;
}

uint64_t ForecastOneProcess(const JobFlags& flags, const JobPlan& plan,
                            const DataSize& data) {
  uint64_t worker =
      SaturatingAdd(ReaderBytes(flags, data.train), ComputeBytes(flags, plan));
  if (flags.HasCopies()) {
    worker = SaturatingAdd(worker, RingBytes(flags, plan));
  }
  uint64_t ps = ScoresBytes(flags, plan, data.eval);
  for (int member = 0; member < plan.ps.count; ++member) {
    const int shard = plan.ps.ShardOf(member);
    ps = SaturatingAdd(ps, ShardMemory(flags, plan, shard).bytes);
    if (KindOf(flags.training.mode).steps) {
      ps = SaturatingAdd(ps, StepSumBytes(flags, plan, shard));
    }
  }
  return SaturatingAdd(
      SaturatingAdd(kTrainBase, ps),
      SaturatingTimes(worker, static_cast<uint64_t>(flags.cluster.workers)));
}

namespace {

FilesSize MeasureFiles(const FileSystem& files, const std::string& paths) {
  FilesSize data;
  if (paths.empty()) return data;
  const auto listed = files.List(paths);
  if (!listed.ok() || listed->empty()) return data;
  for (const FileInfo& file : *listed) {
    data.bytes = SaturatingAdd(data.bytes, file.size);
  }
  const auto file = files.OpenForRead(listed->front().path);
  if (!file.ok()) return data;
  std::string head(std::min<uint64_t>((*file)->size(), 64 << 10), '\0');
  const auto size = (*file)->Read(0, absl::MakeSpan(&head[0], head.size()));
  if (!size.ok()) return data;
  // Records and compressed files are not lines.
  if (head.find('\0') < *size) return data;
  const uint64_t lines = static_cast<uint64_t>(
      std::count(head.begin(), head.begin() + *size, '\n'));
  // With fewer lines the file is not text, or its rows are longer than any row
  // that is read.
  if (lines >= 8) data.row_bytes = *size / lines;
  return data;
}

}  // namespace

DataSize MeasureData(const FileSystem& files, const JobFlags& flags) {
  return {MeasureFiles(files, flags.TrainingData()),
          MeasureFiles(files, flags.data.val_data_dir)};
}

namespace {

// True if the pushes of all workers wait on the servers for their step.
bool ParksPushes(const JobFlags& flags) {
  return KindOf(flags.training.mode).steps && !IsOneProcess(flags.command);
}

// The copy that each worker holds, for the line.
std::string CopyText(const JobFlags& flags, uint64_t bytes) {
  return absl::StrCat(
      flags.HasServers() ? "copy of the dense variables ~"
                         : "copy of all variables ~",
      Bytes(bytes));
}

// The part of a server's memory that the steps need, for the line.
std::string OfWhichSteps(const JobFlags& flags, const JobPlan& plan) {
  if (!ParksPushes(flags)) return "";
  return absl::StrCat(" (~", Bytes(MostCallBytes(flags, plan)),
                      " of it for the pushes of ", flags.cluster.workers,
                      " workers)");
}

// What a user can do if the memory does not suffice.
std::string Advice(const JobFlags& flags, const JobPlan& plan) {
  if (!flags.HasServers()) {
    return "each worker holds all variables; use a mode with parameter "
           "servers (--mode=sync)";
  }
  const absl::string_view more_hosts = "use more hosts (--ps_hosts, --hosts)";
  if (!ParksPushes(flags)) return std::string(more_hosts);
  return absl::StrCat(
      "a parameter server keeps the pushes of all ", flags.cluster.workers,
      " workers until their step is complete, and needs ~",
      Bytes(MostCallBytes(flags, plan)), " for them; use fewer workers "
      "(--workers, --worker_hosts), or ", more_hosts.substr(4));
}

}  // namespace

HostForecast ForecastHost(const JobFlags& flags, const JobPlan& plan,
                          const DataSize& data, const HostMemory& host) {
  HostForecast result;
  std::string what;
  int processes = 1;
  if (IsOneProcess(flags.command)) {
    result.tables_grow = ShardMemory(flags, plan, 0).grows;
    result.bytes = ForecastOneProcess(flags, plan, data);
    if (flags.HasCopies()) {
      const int shard = plan.ps.replicated;
      what = absl::StrCat(
          CopyText(flags, ShardMemory(flags, plan, shard).bytes), " each; ");
    }
  } else {
    const MemoryForecast forecast = ForecastMemory(flags, plan, data);
    result.tables_grow = forecast.tables_grow;
    if (flags.command == Command::kPs) {
      result.bytes = forecast.ps[flags.cluster.task_index];
      if (ParksPushes(flags)) {
        what = absl::StrCat("ps ~", Bytes(result.bytes),
                            OfWhichSteps(flags, plan), "; ");
      }
    } else if (flags.command == Command::kWorker) {
      if (!host.of_group) processes = WorkersOnHost(flags.cluster);
      uint64_t each = forecast.worker;
      if (flags.HasServers()) result.tables_grow = false;
      if (flags.HasCopies()) {
        const uint64_t copy = forecast.ps[plan.ps.MemberFor(
            plan.ps.replicated, flags.cluster.task_index)];
        each = SaturatingAdd(each, copy);
        what = absl::StrCat(CopyText(flags, copy), ", worker ~",
                            Bytes(forecast.worker), "; ");
      }
      result.bytes = SaturatingTimes(each, static_cast<uint64_t>(processes));
    } else {
      processes = 1 + flags.cluster.workers +
                  (flags.HasServers() ? flags.cluster.ps : 0);
      result.bytes = SaturatingAdd(
          forecast.launcher,
          SaturatingTimes(forecast.worker,
                          static_cast<uint64_t>(flags.cluster.workers)));
      for (const uint64_t ps : forecast.ps) {
        result.bytes = SaturatingAdd(result.bytes, ps);
      }
      const auto most = [&](int begin, int end) {
        return *std::max_element(forecast.ps.begin() + begin,
                                 forecast.ps.begin() + end);
      };
      const int servers = plan.ps.num_servers();
      if (flags.HasServers()) {
        what = absl::StrCat("ps ~", Bytes(most(0, servers)), " each",
                            OfWhichSteps(flags, plan), ", ");
      }
      if (flags.HasCopies()) {
        absl::StrAppend(&what, CopyText(flags, most(servers, plan.ps.count)),
                        " each, ");
      }
      absl::StrAppend(&what, "worker ~", Bytes(forecast.worker), " each; ");
    }
  }
  result.advice = Advice(flags, plan);
  result.line = absl::StrCat(
      "memory: ", what, processes,
      processes == 1 ? " process ~" : " processes ~", Bytes(result.bytes),
      host.total_bytes == 0
          ? std::string()
          : absl::StrCat(" of ", Bytes(host.total_bytes), " (", host.whose,
                         "; ", Bytes(host.available_bytes), " free)"),
      result.tables_grow
          ? ", plus the rows of tables without --feature_size or "
            "--table_row_limit"
          : "");
  return result;
}

absl::Status CheckMemory(const HostForecast& forecast, const HostMemory& host) {
  if (host.total_bytes == 0 || forecast.bytes <= host.total_bytes) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "about ", Bytes(forecast.bytes), " of memory are needed, and ",
      host.whose, " has ", Bytes(host.total_bytes), ": ", forecast.advice,
      ", a smaller --embedding_size, --batch_size or --shuffle_rows, an "
      "optimizer with fewer slots, or "
      "--table_row_limit; --memory_check=off starts the job all the same"));
}

absl::Status ForecastAndCheck(const JobFlags& flags, const JobPlan& plan,
                              const FileSystem& files) {
  // The launcher has made the forecast for this process.
  const bool print = flags.output.print_config != PrintConfig::kNone;
  if (!print && !flags.monitoring.memory_check) {
    return absl::OkStatus();
  }
  const HostMemory host = ReadHostMemory();
  const HostForecast forecast =
      ForecastHost(flags, plan, MeasureData(files, flags), host);
  if (print) std::cerr << forecast.line << std::endl;
  const absl::Status fits = CheckMemory(forecast, host);
  if (flags.monitoring.memory_check && !fits.ok()) return fits;
  if (host.available_bytes != 0 && forecast.bytes > host.available_bytes) {
    std::cerr << "memory: warning: about " << Bytes(forecast.bytes)
              << " are needed, and only " << Bytes(host.available_bytes)
              << " are free" << std::endl;
  }
  return absl::OkStatus();
}

}  // namespace shoal
