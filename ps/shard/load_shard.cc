#include "ps/shard/load_shard.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/safetensors_reader.h"
#include "partitioner/fixed_size.h"
#include "partitioner/table_partition.h"
#include "ps/shard/tensor_names.h"

namespace shoal {
namespace {

// The number of floats of one tensor that are held at a time, in addition to
// one block of each tensor.
constexpr size_t kChunkFloats = kChecksumBlockBytes / sizeof(float);

// One open file of the checkpoint.
class ShardFile {
 public:
  static absl::StatusOr<ShardFile> Open(const LoadShardOptions& options,
                                        int shard) {
    const WrittenFile& file = options.manifest->shards[shard].file;
    const std::string path = JoinPath(options.directory, file.file);
    auto reader = SafetensorsReader::Open(*options.files, path, file);
    if (absl::IsNotFound(reader.status())) {
      return absl::NotFoundError(absl::StrCat(
          reader.status().message(),
          ": this server needs the file, and it is not on this host; run the "
          "server on the host that saved the file, copy the checkpoint's files "
          "to this host, or give all servers one --model_dir that all of them "
          "can read"));
    }
    if (!reader.ok()) return reader.status();
    return ShardFile(&file, *std::move(reader));
  }

  // Returns nullptr if no tensor has this name.
  const WrittenTensor* Find(const std::string& name) const {
    for (const WrittenTensor& tensor : file_->tensors) {
      if (tensor.info.name == name) return &tensor;
    }
    return nullptr;
  }

  // DATA_LOSS unless there is a tensor with `elements` elements of this dtype.
  absl::StatusOr<CheckedTensor> Tensor(const std::string& name, DType dtype,
                                       uint64_t elements) const {
    const WrittenTensor* tensor = Find(name);
    if (tensor == nullptr || tensor->info.dtype != dtype ||
        tensor->info.bytes() != elements * DTypeBytes(dtype)) {
      return absl::DataLossError(absl::StrCat(
          reader_->path(), ": has no tensor '", name, "' of ", elements, " ",
          DTypeName(dtype), ", as the manifest's model needs it"));
    }
    return CheckedTensor(reader_.get(), tensor);
  }

  absl::StatusOr<uint64_t> Scalar(const std::string& name) const {
    SHOAL_ASSIGN_OR_RETURN(CheckedTensor tensor, Tensor(name, DType::kI64, 1));
    int64_t value = 0;
    SHOAL_RETURN_IF_ERROR(
        tensor.ReadElements<int64_t>(0, absl::MakeSpan(&value, 1)));
    return static_cast<uint64_t>(value);
  }

  const std::string& path() const { return reader_->path(); }

 private:
  ShardFile(const WrittenFile* file, std::unique_ptr<SafetensorsReader> reader)
      : file_(file), reader_(std::move(reader)) {}

  const WrittenFile* file_;
  std::unique_ptr<SafetensorsReader> reader_;
};

// Copies the rows of one table from one file into the table.
class RowLoader {
 public:
  RowLoader(const ShardFile& file, const TablePartition& partition, int shard,
            bool weights_only, EmbeddingTable* table)
      : file_(file),
        partition_(partition),
        shard_(shard),
        table_(table),
        parts_(RecordParts(table->spec())) {
    if (!weights_only) return;
    parts_.erase(std::remove_if(parts_.begin(), parts_.end(),
                                [](const RecordPart& p) { return p.slot; }),
                 parts_.end());
  }

  absl::Status Load() {
    const std::string ids = IdsTensorName(table_->spec().name);
    const WrittenTensor* found = file_.Find(ids);
    const uint64_t rows =
        found == nullptr ? 0 : found->info.bytes() / sizeof(FeatureId);
    SHOAL_ASSIGN_OR_RETURN(CheckedTensor id_tensor,
                           file_.Tensor(ids, DType::kI64, rows));
    std::vector<CheckedTensor> tensors;
    size_t widest = 1;
    for (const RecordPart& part : parts_) {
      SHOAL_ASSIGN_OR_RETURN(
          CheckedTensor tensor,
          file_.Tensor(part.tensor, DType::kF32, rows * part.floats));
      tensors.push_back(std::move(tensor));
      widest = std::max(widest, part.floats);
    }
    uint64_t begin = 0;
    uint64_t end = rows;
    if (partition_.kind == PartitionKind::kFixedSize) {
      // Ids ascend, and this shard's ids are neighbours.
      const uint64_t size = partition_.feature_size;
      const uint64_t n = partition_.num_shards;
      SHOAL_ASSIGN_OR_RETURN(
          begin,
          FirstRowFrom(FixedSizeBegin(size, n, shard_), rows, &id_tensor));
      SHOAL_ASSIGN_OR_RETURN(
          end,
          FirstRowFrom(FixedSizeBegin(size, n, shard_ + 1), rows, &id_tensor));
    }
    const uint64_t step = std::max<uint64_t>(1, kChunkFloats / widest);
    for (uint64_t row = begin; row < end; row += step) {
      SHOAL_RETURN_IF_ERROR(
          LoadRows(row, std::min(step, end - row), &id_tensor, &tensors));
    }
    return absl::OkStatus();
  }

  // The shared row, if both the file and the table have one.
  absl::Status LoadSharedRow() {
    if (!table_->HasSharedRow() || parts_.empty() ||
        file_.Find(SharedRowTensorName(parts_[0].tensor)) == nullptr) {
      return absl::OkStatus();
    }
    std::vector<std::vector<float>> values;
    std::vector<const float*> pointers;
    for (const RecordPart& part : parts_) {
      SHOAL_ASSIGN_OR_RETURN(CheckedTensor tensor,
                             file_.Tensor(SharedRowTensorName(part.tensor),
                                          DType::kF32, part.floats));
      values.emplace_back(part.floats);
      SHOAL_RETURN_IF_ERROR(
          tensor.ReadElements<float>(0, absl::MakeSpan(values.back())));
    }
    for (const auto& value : values) pointers.push_back(value.data());
    table_->RestoreSharedRow(parts_, pointers);
    return absl::OkStatus();
  }

 private:
  // The first row whose id is at least `id`.
  static absl::StatusOr<uint64_t> FirstRowFrom(FeatureId id, uint64_t rows,
                                               CheckedTensor* ids) {
    uint64_t low = 0;
    uint64_t high = rows;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      FeatureId found = 0;
      SHOAL_RETURN_IF_ERROR(
          ids->ReadElements<FeatureId>(middle, absl::MakeSpan(&found, 1)));
      if (found < id) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  bool IsMine(FeatureId id) const {
    if (partition_.kind == PartitionKind::kEveryShard) return true;
    if (partition_.feature_size != 0 && id >= partition_.feature_size) {
      return false;
    }
    return ShardOf(partition_, id) == shard_;
  }

  absl::Status LoadRows(uint64_t first, uint64_t count, CheckedTensor* ids,
                        std::vector<CheckedTensor>* tensors) {
    ids_.resize(count);
    SHOAL_RETURN_IF_ERROR(
        ids->ReadElements<FeatureId>(first, absl::MakeSpan(ids_)));
    mine_.clear();
    for (size_t i = 0; i < count; ++i) {
      if (IsMine(ids_[i])) mine_.push_back(i);
    }
    if (mine_.empty()) return absl::OkStatus();
    for (size_t k = 0; k < mine_.size(); ++k) ids_[k] = ids_[mine_[k]];
    ids_.resize(mine_.size());

    values_.resize(parts_.size());
    std::vector<const float*> pointers;
    for (size_t p = 0; p < parts_.size(); ++p) {
      const size_t floats = parts_[p].floats;
      values_[p].resize(count * floats);
      SHOAL_RETURN_IF_ERROR((*tensors)[p].ReadElements<float>(
          first * floats, absl::MakeSpan(values_[p])));
      if (mine_.size() < count) Compact(floats, &values_[p]);
      pointers.push_back(values_[p].data());
    }
    return Restore(pointers);
  }

  // Moves the rows mine_ to the front.
  void Compact(size_t floats, std::vector<float>* values) const {
    for (size_t k = 0; k < mine_.size(); ++k) {
      std::copy_n(values->begin() + mine_[k] * floats, floats,
                  values->begin() + k * floats);
    }
  }

  absl::Status Restore(absl::Span<const float* const> values) {
    SHOAL_RETURN_IF_ERROR(table_->CheckIds(ids_));
    SHOAL_RETURN_IF_ERROR(table_->Locate(ids_, /*read_only=*/false, &refs_));
    if (!refs_.shared.empty()) {
      table_->Release(&refs_);
      return absl::ResourceExhaustedError(absl::StrCat(
          "table '", table_->spec().name,
          "': the checkpoint has more rows "
          "for this shard than --table_row_limit = ",
          table_->spec().row_limit, ": raise it, or use more servers"));
    }
    if (table_->Restore(parts_, values, &refs_) == ids_.size()) {
      return absl::OkStatus();
    }
    return absl::DataLossError(absl::StrCat(file_.path(), ": tensor '",
                                            IdsTensorName(table_->spec().name),
                                            "' has an id twice"));
  }

  const ShardFile& file_;
  const TablePartition& partition_;
  const int shard_;
  EmbeddingTable* const table_;
  std::vector<RecordPart> parts_;
  // Memory that is used again for every part.
  std::vector<FeatureId> ids_;
  std::vector<size_t> mine_;
  std::vector<std::vector<float>> values_;
  RowRefs refs_;
};

// The saved shard whose counters and canary a shard takes. Pushes to replicated
// shards are steps of several batches, and pushes to others are not, so each
// kind takes those of its own kind, if there is one.
int HomeOf(const ShardMap& saved, const ShardMap& map, int shard) {
  const int singles =
      saved.replicated > 0 ? saved.replicated : saved.num_shards;
  const bool copy = shard == map.replicated;
  return copy && saved.replicated >= 0 ? saved.replicated : shard % singles;
}

class ShardLoader {
 public:
  ShardLoader(const LoadShardOptions& options, const ModelSpec& model,
              const ShardMap& map, int shard, const ShardContents& contents)
      : options_(options),
        saved_(*options.manifest),
        model_(model),
        map_(map),
        shard_(shard),
        home_(HomeOf(saved_.map, map, shard)),
        contents_(contents) {}

  // The saved shards that are read.
  std::vector<int> Sources() const {
    std::vector<int> sources;
    for (int source = 0; source < saved_.map.num_shards; ++source) {
      if (source == home_ || !TablesFrom(source).empty() ||
          !BlocksFrom(source).empty()) {
        sources.push_back(source);
      }
    }
    return sources;
  }

  absl::StatusOr<ShardCounters> Load() {
    ShardCounters counters;
    for (const int source : Sources()) {
      const std::vector<size_t> tables = TablesFrom(source);
      const std::vector<Overlap> overlaps = BlocksFrom(source);
      SHOAL_ASSIGN_OR_RETURN(const ShardFile file,
                             ShardFile::Open(options_, source));
      for (const size_t t : tables) {
        RowLoader rows(file, map_.tables[t], shard_, options_.weights_only,
                       contents_.tables[t].get());
        SHOAL_RETURN_IF_ERROR(rows.Load());
        if (source == home_) SHOAL_RETURN_IF_ERROR(rows.LoadSharedRow());
      }
      for (const Overlap& overlap : overlaps) {
        SHOAL_RETURN_IF_ERROR(LoadBlock(file, overlap));
      }
      if (source == home_) {
        SHOAL_ASSIGN_OR_RETURN(counters, LoadCounters(file));
      }
    }
    return counters;
  }

 private:
  // Elements [begin, end) of a dense variable that a saved block and a block of
  // this shard have in common.
  struct Overlap {
    uint32_t block = 0;  // in this shard's map
    const DenseBlock* saved = nullptr;
    int64_t begin = 0;
    int64_t end = 0;
  };

  // The tables of this shard that have rows in a file.
  std::vector<size_t> TablesFrom(int source) const {
    std::vector<size_t> tables;
    for (size_t t = 0; t < model_.tables.size(); ++t) {
      if (MayHoldRows(t, source)) tables.push_back(t);
    }
    return tables;
  }

  bool MayHoldRows(size_t t, int source) const {
    const TablePartition& mine = map_.tables[t];
    if (mine.kind == PartitionKind::kEveryShard) {
      return source == home_ && !options_.weights_only;
    }
    // The checkpoint's tables may have another order because of the canary.
    const TablePartition* theirs = nullptr;
    for (size_t i = 0; i < saved_.model.tables.size(); ++i) {
      if (saved_.model.tables[i].name == model_.tables[t].name) {
        theirs = &saved_.map.tables[i];
      }
    }
    if (theirs == nullptr) return false;
    // A shard beside those of the table, mine or theirs, has none of its rows.
    if (shard_ >= mine.num_shards || source >= theirs->num_shards) return false;
    if (mine.kind == theirs->kind && mine.num_shards == theirs->num_shards) {
      return source == shard_;
    }
    if (mine.kind != PartitionKind::kFixedSize ||
        theirs->kind != PartitionKind::kFixedSize) {
      return true;
    }
    const auto begin = [](const TablePartition& p, int shard) {
      return FixedSizeBegin(p.feature_size, p.num_shards, shard);
    };
    return begin(*theirs, source) < begin(mine, shard_ + 1) &&
           begin(mine, shard_) < begin(*theirs, source + 1);
  }

  std::vector<Overlap> BlocksFrom(int source) const {
    std::vector<Overlap> overlaps;
    for (size_t b = 0; b < map_.blocks.size(); ++b) {
      const DenseBlock& mine = map_.blocks[b];
      if (mine.shard != shard_) continue;
      for (const DenseBlock& saved : saved_.map.blocks) {
        if (saved.shard != source || saved_.model.dense[saved.variable].name !=
                                         model_.dense[mine.variable].name) {
          continue;
        }
        const int64_t begin = std::max(mine.begin, saved.begin);
        const int64_t end = std::min(mine.end, saved.end);
        if (begin >= end) continue;
        overlaps.push_back({static_cast<uint32_t>(b), &saved, begin, end});
      }
    }
    return overlaps;
  }

  absl::Status LoadBlock(const ShardFile& file, const Overlap& overlap) {
    const DenseBlock& mine = map_.blocks[overlap.block];
    const DenseSpec& spec = model_.dense[mine.variable];
    const uint64_t saved_size = overlap.saved->size();
    std::vector<float> chunk;
    // part 0: weights; then the slots in their order.
    std::vector<std::string> names = {spec.name};
    if (!options_.weights_only) {
      for (const SlotPart& slot : SlotParts(spec.optimizer.kind)) {
        names.push_back(SlotTensorName(spec.name, slot.name));
      }
    }
    for (size_t part = 0; part < names.size(); ++part) {
      SHOAL_ASSIGN_OR_RETURN(CheckedTensor tensor,
                             file.Tensor(names[part], DType::kF32, saved_size));
      for (int64_t at = overlap.begin; at < overlap.end;) {
        chunk.resize(std::min<int64_t>(kChunkFloats, overlap.end - at));
        SHOAL_RETURN_IF_ERROR(tensor.ReadElements<float>(
            at - overlap.saved->begin, absl::MakeSpan(chunk)));
        const size_t to = at - mine.begin;
        if (part == 0) {
          contents_.dense->Restore(overlap.block, to, chunk);
        } else {
          contents_.dense->RestoreSlots(overlap.block,
                                        (part - 1) * mine.size() + to, chunk);
        }
        at += static_cast<int64_t>(chunk.size());
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ShardCounters> LoadCounters(const ShardFile& file) {
    ShardCounters counters;
    SHOAL_ASSIGN_OR_RETURN(counters.count, file.Scalar(kCountTensor));
    SHOAL_ASSIGN_OR_RETURN(counters.admitted, file.Scalar(kAdmittedTensor));
    SHOAL_ASSIGN_OR_RETURN(const uint64_t colour, file.Scalar(kColourTensor));
    counters.colour = static_cast<Colour>(colour);
    if (options_.weights_only) return counters;
    constexpr uint64_t kColumns = 5;
    const WrittenTensor* found = file.Find(kMarksTensor);
    const uint64_t numbers =
        found == nullptr ? 1 : found->info.bytes() / sizeof(int64_t);
    if (numbers % kColumns != 0) {
      return absl::DataLossError(
          absl::StrCat(file.path(), ": tensor '", kMarksTensor,
                       "' is missing, or does not have five columns"));
    }
    SHOAL_ASSIGN_OR_RETURN(CheckedTensor tensor,
                           file.Tensor(kMarksTensor, DType::kI64, numbers));
    for (uint64_t at = 0; at < numbers; at += kColumns) {
      uint64_t run[kColumns];
      SHOAL_RETURN_IF_ERROR(
          tensor.ReadElements<uint64_t>(at, absl::MakeSpan(run)));
      constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
      if (run[0] > kMax || run[1] > kMax || run[4] > 2) {
        return absl::DataLossError(absl::StrCat(file.path(), ": tensor '",
                                                kMarksTensor, "': run ",
                                                at / kColumns,
                                                " is not valid"));
      }
      counters.marks.push_back({static_cast<uint32_t>(run[0]),
                                static_cast<uint32_t>(run[1]), run[2], run[3],
                                static_cast<Verdict>(run[4])});
    }
    return counters;
  }

  const LoadShardOptions& options_;
  const Manifest& saved_;
  const ModelSpec& model_;
  const ShardMap& map_;
  const int shard_;
  const int home_;  // the saved shard whose marks and canary are taken
  const ShardContents& contents_;
};

}  // namespace

std::vector<int> ShardsToLoad(const Manifest& saved, bool weights_only,
                              const ModelSpec& model, const ShardMap& map,
                              int shard) {
  LoadShardOptions options;
  options.manifest = &saved;
  options.weights_only = weights_only;
  const ShardContents none;
  return ShardLoader(options, model, map, shard, none).Sources();
}

absl::StatusOr<ShardCounters> LoadShard(const LoadShardOptions& options,
                                        const ModelSpec& model,
                                        const ShardMap& map, int shard,
                                        const ShardContents& contents) {
  SHOAL_DCHECK(shard >= 0 && shard < map.num_shards);
  SHOAL_DCHECK(map.tables.size() == model.tables.size());
  SHOAL_DCHECK(contents.tables.size() == model.tables.size());
  return ShardLoader(options, model, map, shard, contents).Load();
}

}  // namespace shoal
