#include "tests/golden/golden_trainer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/pushed_batch.h"
#include "gtest/gtest.h"
#include "models/backend/create_backend.h"
#include "models/create_model.h"
#include "partitioner/build_shard_map.h"
#include "partitioner/split.h"
#include "worker/train/gradient_check.h"

namespace shoal {
namespace {

OptimizerSpec Optimizer(const GoldenFile& file, const std::string& side) {
  auto number = [&](const char* name) {
    return static_cast<float>(file.Number(absl::StrCat(side, ".", name)));
  };
  OptimizerSpec spec;
  spec.kind = *ParseOptimizerKind(file.Text(side + ".kind"));
  spec.learning_rate = number("learning_rate");
  spec.l2 = number("l2");
  spec.adagrad_initial_accumulator = number("adagrad_initial_accumulator");
  spec.ftrl_initial_accumulator = number("ftrl_initial_accumulator");
  spec.ftrl_l1 = number("ftrl_l1");
  spec.ftrl_l2 = number("ftrl_l2");
  spec.adam_beta1 = number("adam_beta1");
  spec.adam_beta2 = number("adam_beta2");
  spec.adam_epsilon = number("adam_epsilon");
  return spec;
}

ModelOptions Options(const GoldenFile& file, FirstLayer first_layer) {
  ModelOptions options;
  options.first_layer = first_layer;
  options.model = file.Text("model");
  options.feature_size = static_cast<uint64_t>(file.Number("feature_size"));
  options.field_size = static_cast<int>(file.Number("field_size"));
  options.embedding_size = static_cast<int>(file.Number("embedding_size"));
  options.deep_layers.clear();
  for (const double units : file.Numbers("deep_layers")) {
    options.deep_layers.push_back(static_cast<int>(units));
  }
  for (const double keep : file.Numbers("dropout")) {
    options.dropout_keep.push_back(static_cast<float>(keep));
  }
  options.seed = static_cast<uint64_t>(file.Number("seed"));
  options.dense_optimizer = Optimizer(file, "dense");
  options.table_optimizer = Optimizer(file, "table");
  options.wide_optimizer = Optimizer(file, "wide");
  return options;
}

Batch ReadBatch(const GoldenFile& file, int step) {
  auto tensor = [&](const char* name) {
    return file.Tensor(absl::StrCat(step, "/", name));
  };
  Batch batch;
  batch.id = {1, 2, static_cast<uint32_t>(step - 1)};
  ExampleBatch& examples = batch.examples;
  for (const double label : tensor("labels")) {
    examples.labels.push_back(static_cast<uint8_t>(label));
  }
  for (const double id : tensor("ids")) {
    examples.ids.push_back(static_cast<FeatureId>(id));
  }
  for (const double value : tensor("values")) {
    examples.values.push_back(static_cast<float>(value));
  }
  examples.offsets.assign(examples.labels.size() + 1, 0);
  for (const double example : tensor("example")) {
    ++examples.offsets[static_cast<size_t>(example) + 1];
  }
  for (size_t i = 1; i < examples.offsets.size(); ++i) {
    examples.offsets[i] += examples.offsets[i - 1];
  }
  return batch;
}

}  // namespace

GoldenTrainer::GoldenTrainer(const GoldenFile& file, const std::string& backend,
                             FirstLayer first_layer, int num_shards)
    : file_(file),
      options_(Options(file, first_layer)),
      backend_(*CreateBackend(backend)),
      model_(*CreateModel(options_, backend_.get())) {
  PartitionOptions partition;
  partition.cut_dense_bytes = 128;
  ShardedClientOptions client;
  client.job = "golden";
  client.worker = {1, 100};
  client.map = *BuildShardMap(spec(), partition, num_shards);
  client.row_dims = {spec().tables[0].row_dim()};
  client.dense_size = spec().dense_size();
  for (int s = 0; s < num_shards; ++s) {
    ParameterShardOptions options;
    options.job = client.job;
    options.model = spec();
    options.map = client.map;
    options.shard = s;
    options.life = {1, static_cast<uint32_t>(s + 1)};
    client.shard_lives.push_back(options.life);
    std::shared_ptr<ParameterShard> shard =
        *ParameterShard::Create(std::move(options), &executor_);
    shard->ServeUntil(absl::InfiniteFuture());
    shards_.push_back(std::move(shard));
  }
  client_ =
      std::make_unique<ShardedClient>(std::move(client), shards_, &executor_);
}

void GoldenTrainer::Run(const bool& done) {
  simulator_.RunUntil([&] { return done; },
                      simulator_.Now() + absl::Seconds(60));
  ASSERT_TRUE(done);
}

GoldenTrainer::Values GoldenTrainer::Pull(const std::vector<FeatureId>& ids) {
  StepParameters parameters;
  TableParameters& table = parameters.tables.emplace_back();
  SplitIds(client_->partitions()[0], ids, &table.split);
  bool done = false;
  client_->Pull(&parameters, /*read_only=*/true, [&](absl::Status status) {
    EXPECT_TRUE(status.ok()) << status;
    done = true;
  });
  Run(done);
  Values values;
  SplitColumns(table.split.ids, table.rows.span(), &values);
  SplitDense(parameters.dense.span(), &values);
  return values;
}

double GoldenTrainer::Compute(int step) {
  step_.batch = ReadBatch(file_, step);
  PrepareStep(client_->partitions(), options_.field_size, &unique_, &step_);
  bool done = false;
  client_->Pull(&step_.parameters, /*read_only=*/false,
                [&](absl::Status status) {
                  EXPECT_TRUE(status.ok()) << status;
                  done = true;
                });
  Run(done);
  ComputeStep(options_.field_size, model_.get(), &step_);
  CheckGradient(step_.loss_sum, file_.Number("clip_norm"), &step_.parameters);
  EXPECT_FALSE(step_.parameters.rejected);
  return step_.loss_sum / static_cast<double>(step_.batch.examples.size());
}

GoldenTrainer::Values GoldenTrainer::Gradients() const {
  Values values;
  const TableParameters& table = step_.parameters.tables[0];
  SplitColumns(table.split.ids, table.d_rows.span(), &values);
  SplitDense(step_.parameters.d_dense.span(), &values);
  return values;
}

void GoldenTrainer::Push() {
  bool done = false;
  const PushedBatch batch = {.id = step_.batch.id, .lease = 1};
  client_->Push(absl::MakeConstSpan(&batch, 1), step_.parameters,
                [&](absl::StatusOr<Verdict> verdict) {
                  EXPECT_TRUE(verdict.ok()) << verdict.status();
                  EXPECT_EQ(*verdict, Verdict::kApplied);
                  done = true;
                });
  Run(done);
}

void GoldenTrainer::SplitColumns(const std::vector<FeatureId>& ids,
                                 absl::Span<const float> floats,
                                 Values* out) const {
  const size_t dim = spec().tables[0].row_dim();
  std::map<FeatureId, absl::Span<const float>> rows;
  for (size_t i = 0; i < ids.size(); ++i) {
    rows[ids[i]] = floats.subspan(i * dim, dim);
  }
  for (const auto& [id, row] : rows) {
    size_t at = 0;
    for (const ColumnSpec& column : spec().tables[0].columns) {
      std::vector<float>& values = (*out)[column.variable];
      const auto part = row.subspan(at, column.dim);
      values.insert(values.end(), part.begin(), part.end());
      at += column.dim;
    }
  }
}

void GoldenTrainer::SplitDense(absl::Span<const float> flat,
                               Values* out) const {
  size_t at = 0;
  for (const DenseSpec& variable : spec().dense) {
    const auto part = flat.subspan(at, variable.size());
    (*out)[variable.name].assign(part.begin(), part.end());
    at += variable.size();
  }
}

}  // namespace shoal
