#include "ps/shard/save_shard.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/safetensors_writer.h"
#include "ps/shard/shard_stats.h"
#include "ps/shard/tensor_names.h"

namespace shoal {
namespace {

// Fills one tensor.
class TensorSink {
 public:
  TensorSink(SafetensorsWriter* writer, size_t index,
             const std::function<bool()>* cancelled)
      : writer_(writer), index_(index), cancelled_(cancelled) {
    buffer_.reserve(kChecksumBlockBytes);
  }

  template <typename T>
  void Add(absl::Span<const T> values) {
    absl::string_view bytes(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(T));
    while (!bytes.empty() && status_.ok()) {
      const size_t n =
          std::min<size_t>(bytes.size(), kChecksumBlockBytes - buffer_.size());
      buffer_.append(bytes.data(), n);
      bytes.remove_prefix(n);
      if (buffer_.size() == kChecksumBlockBytes) Flush();
    }
  }
  void AddOne(int64_t value) { Add(absl::MakeConstSpan(&value, 1)); }
  // Returns false if the rest is not needed.
  bool ok() const { return status_.ok(); }

  absl::Status Finish() {
    if (status_.ok()) Flush();
    return status_;
  }

 private:
  void Flush() {
    if (*cancelled_ != nullptr && (*cancelled_)()) {
      status_ = absl::CancelledError("the save was cancelled");
      return;
    }
    status_ = writer_->Append(index_, buffer_);
    buffer_.clear();
  }

  SafetensorsWriter* const writer_;
  const size_t index_;
  const std::function<bool()>* const cancelled_;
  std::string buffer_;
  absl::Status status_;
};

// A tensor and the function that fills it.
struct PlannedTensor {
  TensorInfo info;
  std::function<void(TensorSink*)> fill;
};
using Plan = std::vector<PlannedTensor>;

void PlanScalar(const std::string& name, uint64_t value, Plan* plan) {
  plan->push_back({{name, DType::kI64, {}}, [value](TensorSink* sink) {
                     sink->AddOne(static_cast<int64_t>(value));
                   }});
}

void PlanCounters(const ShardCounters& counters, Plan* plan) {
  plan->push_back({{kMarksTensor, DType::kI64, {counters.marks.size(), 5}},
                   [&counters](TensorSink* sink) {
                     for (const MarkRun& run : counters.marks) {
                       sink->AddOne(run.epoch);
                       sink->AddOne(run.piece);
                       sink->AddOne(static_cast<int64_t>(run.begin));
                       sink->AddOne(static_cast<int64_t>(run.end));
                       sink->AddOne(static_cast<int64_t>(run.verdict));
                     }
                   }});
  PlanScalar(kCountTensor, counters.count, plan);
  PlanScalar(kAdmittedTensor, counters.admitted, plan);
  PlanScalar(kColourTensor, counters.colour, plan);
}

// The number of rows with an id of their own; the shared row is another tensor.
uint64_t SavedRows(const EmbeddingTable& table) {
  uint64_t rows = 0;
  table.ForEachSavedRow(
      [&rows](FeatureId, absl::Span<const float>) { ++rows; });
  return rows;
}

void PlanIds(const EmbeddingTable& table, uint64_t rows, Plan* plan) {
  plan->push_back({{IdsTensorName(table.spec().name), DType::kI64, {rows}},
                   [&table](TensorSink* sink) {
                     table.ForEachSavedRow(
                         [&](FeatureId id, absl::Span<const float>) {
                           if (sink->ok())
                             sink->AddOne(static_cast<int64_t>(id));
                         });
                   }});
}

void PlanRows(const EmbeddingTable& table, uint64_t rows, Plan* plan) {
  const std::vector<float> shared_row = table.SharedRow();
  for (const RecordPart& part : RecordParts(table.spec())) {
    TensorInfo info{part.tensor, DType::kF32, {rows, part.floats}};
    plan->push_back({std::move(info), [&table, part](TensorSink* sink) {
                       table.ForEachSavedRow(
                           [&](FeatureId, absl::Span<const float> floats) {
                             if (!sink->ok()) return;
                             sink->Add(floats.subspan(part.first, part.floats));
                           });
                     }});
    if (shared_row.empty()) continue;
    info = {SharedRowTensorName(part.tensor), DType::kF32, {part.floats}};
    plan->push_back({std::move(info), [shared_row, part](TensorSink* sink) {
                       sink->Add(absl::MakeConstSpan(shared_row)
                                     .subspan(part.first, part.floats));
                     }});
  }
}

// Reads floats [first, first + count) of a block with `gather`.
void AddFloats(const std::function<void(size_t, absl::Span<float>)>& gather,
               size_t first, size_t count, TensorSink* sink) {
  std::vector<float> chunk(
      std::min<size_t>(count, kChecksumBlockBytes / sizeof(float)));
  for (size_t done = 0; done < count && sink->ok();) {
    const auto part =
        absl::MakeSpan(chunk).first(std::min(chunk.size(), count - done));
    gather(first + done, part);
    sink->Add(absl::Span<const float>(part));
    done += part.size();
  }
}

void PlanBlock(const DenseStore& store, uint32_t block, const DenseSpec& spec,
               Plan* plan) {
  const size_t size = store.Size(block);
  std::vector<uint64_t> shape(spec.shape.begin(), spec.shape.end());
  if (!shape.empty()) shape[0] = size / spec.row_size();
  plan->push_back({{spec.name, DType::kF32, shape},
                   [&store, block, size](TensorSink* sink) {
                     AddFloats(
                         [&](size_t at, absl::Span<float> out) {
                           store.Gather(block, at, out);
                         },
                         0, size, sink);
                   }});
  size_t first = 0;
  for (const SlotPart& slot : SlotParts(spec.optimizer.kind)) {
    plan->push_back({{SlotTensorName(spec.name, slot.name), DType::kF32, shape},
                     [&store, block, size, first](TensorSink* sink) {
                       AddFloats(
                           [&](size_t at, absl::Span<float> out) {
                             store.GatherSlots(block, at, out);
                           },
                           first, size, sink);
                     }});
    first += size;
  }
}

// All tensors. Tensors with 8 bytes per element come first, so that each tensor
// is aligned.
Plan PlanTensors(const SealedShard& shard) {
  Plan plan;
  PlanCounters(shard.counters, &plan);
  std::vector<uint64_t> rows;
  for (const auto& table : shard.contents->tables) {
    rows.push_back(SavedRows(*table));
    PlanIds(*table, rows.back(), &plan);
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    PlanRows(*shard.contents->tables[i], rows[i], &plan);
  }
  for (size_t b = 0; b < shard.map->blocks.size(); ++b) {
    const auto block = static_cast<uint32_t>(b);
    if (!shard.contents->dense->Owns(block)) continue;
    PlanBlock(*shard.contents->dense, block,
              shard.model->dense[shard.map->blocks[b].variable], &plan);
  }
  return plan;
}

std::map<std::string, std::string> Metadata(const SealedShard& shard,
                                            const SaveShardOptions& options) {
  return {{"format", "shoal-shard"},
          {"format_version", absl::StrCat(kCheckpointFormatVersion)},
          {"model", shard.model->model},
          {"shard", absl::StrCat(shard.shard)},
          {"num_shards", absl::StrCat(shard.map->num_shards)},
          {"step", absl::StrCat(options.step)}};
}

void AddFigures(const SealedShard& shard, ShardEntry* entry) {
  entry->marks = shard.mark_totals.applied + shard.mark_totals.rejected;
  entry->marks_digest = shard.mark_totals.digest;
  std::map<std::string, uint64_t> lookups;
  for (size_t i = 0; i < shard.contents->tables.size(); ++i) {
    const EmbeddingTable& table = *shard.contents->tables[i];
    if (table.spec().on_every_shard) continue;
    entry->rows += table.rows();
    entry->lookups += shard.lookups[i];
    for (const ColumnSpec& column : table.spec().columns) {
      lookups[column.variable] = shard.lookups[i];
    }
  }
  for (const VariableStats& v : CountVariables(*shard.contents, *shard.model)) {
    entry->variables.push_back(
        {v.variable, v.rows, v.bytes, lookups[v.variable]});
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<WrittenShard>> WriteShard(
    const SealedShard& shard, const SaveShardOptions& options) {
  SHOAL_RETURN_IF_ERROR(options.files->CreateDirectories(options.directory));
  const Plan plan = PlanTensors(shard);
  std::vector<TensorInfo> tensors;
  for (const PlannedTensor& tensor : plan) tensors.push_back(tensor.info);
  SHOAL_ASSIGN_OR_RETURN(
      auto writer,
      SafetensorsWriter::Create(
          options.files,
          JoinPath(options.directory,
                   ShardFileName(shard.shard, shard.map->num_shards)),
          options.attempt, Metadata(shard, options), std::move(tensors)));
  for (size_t i = 0; i < plan.size(); ++i) {
    TensorSink sink(writer.get(), i, &options.cancelled);
    plan[i].fill(&sink);
    SHOAL_RETURN_IF_ERROR(sink.Finish());
  }
  ShardEntry entry;
  entry.shard = shard.shard;
  entry.attempt = options.attempt;
  SHOAL_ASSIGN_OR_RETURN(entry.file, writer->Finish());
  AddFigures(shard, &entry);
  return std::make_unique<WrittenShard>(std::move(writer), std::move(entry),
                                        options);
}

}  // namespace shoal
