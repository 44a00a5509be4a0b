#include "tests/job/step_oracle.h"

#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cluster/lane_deal.h"
#include "cluster/piece_order.h"
#include "core/piece_table.h"
#include "core/unique_ids.h"
#include "gtest/gtest.h"
#include "models/backend/create_backend.h"
#include "models/create_model.h"
#include "tests/conformance/completion.h"
#include "tests/ps/shard_set.h"
#include "worker/data/piece_reader.h"
#include "worker/train/gradient_check.h"
#include "worker/train/train_step.h"

namespace shoal {
namespace {

using Lanes = std::vector<std::vector<Batch>>;  // by rank, in order

// The batches of the job's epochs.
class LaneReader {
 public:
  LaneReader(const InProcessJobOptions& options, const FileSystem& files)
      : options_(options), files_(files), reader_(options.reader) {
    reader_.feature_size = options.model.feature_size;
    reader_.field_size = options.model.field_size;
    reader_.seed = options.model.seed;
    std::vector<SourceInfo> sources;
    for (const LocalSource& file : options.train) sources.push_back(file.info);
    pieces_ = BuildPieceTable(sources, options.coordinator.piece_bytes).value();
    for (const Piece& piece : pieces_) {
      pieces_to_deal_.uncut.push_back(sources[piece.source].compressed);
    }
  }

  Lanes Read(uint32_t epoch) {
    pieces_to_deal_.order =
        ShuffledPieces(options_.model.seed, epoch,
                       static_cast<uint32_t>(pieces_.size()));
    const std::vector<int> hosts(options_.workers);
    const LaneDeal deal = LaneDeal::OfEpoch(pieces_to_deal_, hosts).value();
    Lanes lanes(options_.workers);
    for (size_t rank = 0; rank < lanes.size(); ++rank) {
      for (const LanePart& part : deal.lane(rank)) {
        ReadPart(epoch, part, &lanes[rank]);
      }
    }
    return lanes;
  }

 private:
  void ReadPart(uint32_t epoch, const LanePart& part,
                std::vector<Batch>* batches) const {
    Lease lease;
    lease.epoch = epoch;
    lease.piece = pieces_[part.piece];
    lease.batch_size = options_.coordinator.batch_size;
    lease.stride = part.stride;
    lease.offset = part.offset;
    const LocalSource& file = options_.train[lease.piece.source];
    const auto reader =
        PieceReader::Open(&files_, file.path, lease, reader_).value();
    Batch batch;
    while (reader->Next(&batch).value()) {
      batches->push_back(std::exchange(batch, {}));
    }
  }

  const InProcessJobOptions& options_;
  const FileSystem& files_;
  PieceReaderOptions reader_;
  std::vector<Piece> pieces_;
  PiecesToDeal pieces_to_deal_;
};

void Add(absl::Span<const float> from, std::vector<float>* to) {
  if (to->empty()) {
    to->assign(from.begin(), from.end());
    return;
  }
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}

// The model, its one shard, and the sum of a step.
class SerialTrainer {
 public:
  explicit SerialTrainer(const InProcessJobOptions& options)
      : field_size_(options.model.field_size),
        clip_norm_(options.worker_loop.trainer.clip_norm),
        spec_(MakeModelSpec(options.model).value()),
        backend_(CreateBackend(options.backend).value()),
        model_(CreateModel(options.model, backend_.get()).value()),
        shards_(spec_,
                spec_.tables[0].dynamic() ? PartitionKind::kHash
                                          : PartitionKind::kFixedSize,
                /*num_shards=*/1) {}

  // Adds the gradient of a batch to the step.
  void AddBatch(const Batch& batch) {
    TrainStep step;
    step.batch = batch;
    PrepareStep({shards_.map().tables[0]}, field_size_, &unique_, &step);
    TableParameters& table = step.parameters.tables[0];
    const std::vector<FeatureId> ids(table.split.ids.begin(),
                                     table.split.ids.end());
    const size_t dim = spec_.tables[0].row_dim();
    table.rows.ResizeDiscard(ids.size() * dim);
    step.parameters.dense.ResizeDiscard(spec_.dense_size());
    Pull(ids, table.rows.span(), step.parameters.dense.span());
    ComputeStep(field_size_, model_.get(), &step, StepLoss::kSum);
    const auto examples = static_cast<double>(batch.examples.size());
    CheckGradient(step.loss_sum, clip_norm_ * examples, &step.parameters);
    ASSERT_FALSE(step.parameters.rejected);
    for (size_t i = 0; i < ids.size(); ++i) {
      Add(table.d_rows.span().subspan(i * dim, dim), &sum_.rows[ids[i]]);
    }
    Add(step.parameters.d_dense.span(), &sum_.dense);
    examples_ += static_cast<float>(batch.examples.size());
    batches_.push_back({.id = batch.id, .lease = 1});
  }

  // Divides the sum and applies it.
  void EndStep() {
    for (auto& [id, row] : sum_.rows) Divide(&row);
    Divide(&sum_.dense);
    sum_.batch = batches_[0].id;
    sum_.more.assign(batches_.begin() + 1, batches_.end());
    const auto reply = shards_.Push(0, sum_);
    ASSERT_TRUE(reply.ok()) << reply.status();
    sum_ = {};
    batches_.clear();
    examples_ = 0;
  }

  uint64_t Digest() { return shards_.Digest(); }
  std::vector<float> Weights(uint64_t num_ids) {
    std::vector<FeatureId> ids(num_ids);
    for (uint64_t i = 0; i < num_ids; ++i) ids[i] = i;
    const size_t rows = num_ids * spec_.tables[0].row_dim();
    std::vector<float> weights(rows + spec_.dense_size());
    const auto all = absl::MakeSpan(weights);
    Pull(ids, all.first(rows), all.subspan(rows), /*read_only=*/true);
    return weights;
  }

 private:
  void Divide(std::vector<float>* values) const {
    for (float& value : *values) value /= examples_;
  }
  void Pull(absl::Span<const FeatureId> ids, absl::Span<float> rows,
            absl::Span<float> dense, bool read_only = false) {
    PullRequest request;
    request.identity = shards_.Identity(0);
    request.read_only = read_only;
    request.tables = {{0, ids, rows}};
    for (size_t b = 0; b < shards_.map().blocks.size(); ++b) {
      const DenseBlock& block = shards_.map().blocks[b];
      request.blocks.push_back({static_cast<uint32_t>(b),
                                dense.subspan(block.flat_begin, block.size())});
    }
    const auto reply = CallAndWait<PullReply>([&](Done<PullReply> done) {
      shards_.shard(0).Pull(request, absl::Seconds(30), std::move(done));
    });
    EXPECT_TRUE(reply.ok()) << reply.status();
  }

  const int field_size_;
  const double clip_norm_;
  const ModelSpec spec_;
  const std::unique_ptr<Backend> backend_;
  const std::unique_ptr<Model> model_;
  ShardSet shards_;
  UniqueIds unique_;
  // The step so far.
  BatchGradient sum_;
  PushedBatches batches_;
  float examples_ = 0;
};

std::string NameOf(const ModelSpec& spec, uint64_t num_ids, size_t element) {
  const TableSpec& table = spec.tables[0];
  const size_t dim = table.row_dim();
  if (element < num_ids * dim) {
    size_t place = element % dim;
    for (const ColumnSpec& column : table.columns) {
      const auto width = static_cast<size_t>(column.dim);
      if (place < width) {
        return absl::StrCat(column.variable, " of id ", element / dim,
                            ", float ", place);
      }
      place -= width;
    }
  }
  size_t place = element - num_ids * dim;
  for (const DenseSpec& dense : spec.dense) {
    const auto size = static_cast<size_t>(dense.size());
    if (place < size) return absl::StrCat(dense.name, ", float ", place);
    place -= size;
  }
  return "a variable that is not there";
}

}  // namespace

SerialSteps TrainStepsSerially(const InProcessJobOptions& options,
                               const FileSystem& files, uint64_t num_ids) {
  SerialSteps serial;
  LaneReader reader(options, files);
  SerialTrainer trainer(options);
  for (uint32_t epoch = 0; epoch < options.coordinator.num_epochs; ++epoch) {
    const Lanes lanes = reader.Read(epoch);
    for (size_t s = 0;; ++s) {
      uint64_t ranks = 0;
      for (const std::vector<Batch>& lane : lanes) {
        if (s >= lane.size()) continue;
        ++ranks;
        trainer.AddBatch(lane[s]);
        const size_t examples = lane[s].examples.size();
        serial.examples += examples;
        serial.short_batches += examples < options.coordinator.batch_size;
      }
      if (ranks == 0) break;
      trainer.EndStep();
      ++serial.steps;
      serial.batches += ranks;
      serial.partial_steps += ranks < lanes.size();
    }
  }
  serial.digest = trainer.Digest();
  serial.weights = trainer.Weights(num_ids);
  return serial;
}

std::string FirstDifference(const ModelSpec& spec, uint64_t num_ids,
                            absl::Span<const float> a,
                            absl::Span<const float> b) {
  if (a.size() != b.size()) {
    return absl::StrCat(a.size(), " and ", b.size(), " weights");
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i])) {
      continue;
    }
    return absl::StrFormat("%s: %.9g and %.9g", NameOf(spec, num_ids, i), a[i],
                           b[i]);
  }
  return "";
}

}  // namespace shoal
