#include "tests/harness/in_process_run.h"

#include <algorithm>
#include <utility>

#include "core/ps_members.h"
#include "gtest/gtest.h"
#include "partitioner/table_partition.h"

namespace shoal {

InProcessJobOptions SmallDeepFm(uint64_t feature_size, int field_size) {
  InProcessJobOptions options;
  options.model.model = "deepfm";
  options.model.feature_size = feature_size;
  options.model.field_size = field_size;
  options.model.embedding_size = 4;
  options.model.deep_layers = {8, 4};
  options.model.seed = 3;
  options.model.dense_optimizer.kind = OptimizerKind::kAdam;
  options.model.dense_optimizer.learning_rate = 0.01f;
  options.model.table_optimizer = options.model.dense_optimizer;
  options.backend = "reference";
  options.worker_loop.trainer.pipeline_depth = 0;
  options.prefetch = false;
  return options;
}

std::vector<LocalSource> ListOrFail(const FileSystem& files,
                                    const std::string& path) {
  auto listed = ListSources(&files, path);
  EXPECT_TRUE(listed.ok()) << listed.status();
  return listed.ok() ? *std::move(listed) : std::vector<LocalSource>{};
}

InProcessRun::InProcessRun(uint64_t schedule, int workers,
                           const FileSystem* files)
    : simulator_(schedule) {
  deps.file_system = files;
  deps.logger = &logger_;
  deps.control = &control_;
  deps.completions = &control_;
  for (int i = 0; i < workers; ++i) {
    train_.push_back(std::make_unique<SimulatedExecutor>(&simulator_));
    deps.train.push_back(train_.back().get());
  }
}

const JobReport& InProcessRun::Run(
    InProcessJobOptions options,
    const std::function<void(InProcessJob*)>& watch) {
  auto job = InProcessJob::Create(std::move(options), std::move(deps));
  EXPECT_TRUE(job.ok()) << job.status();
  if (!job.ok()) {
    report_.status = job.status();
    return report_;
  }
  job_ = *std::move(job);
  bool finished = false;
  job_->Start([&](JobReport report) {
    report_ = std::move(report);
    finished = true;
  });
  simulator_.RunUntil(
      [&] {
        if (watch != nullptr) watch(job_.get());
        return finished;
      },
      simulator_.Now() + absl::Hours(1));
  EXPECT_TRUE(finished) << "hangs";
  return report_;
}

std::vector<float> InProcessRun::Weights(uint64_t num_ids, int rank) {
  const ShardMap& map = job_->map();
  const ModelSpec& spec = job_->model_spec();
  const PsMembers ps{.count = static_cast<int>(job_->shards().size()),
                     .replicated = map.replicated};
  const size_t rows = num_ids * spec.tables[0].row_dim();
  std::vector<float> weights(rows + spec.dense_size());
  const auto all = absl::MakeSpan(weights);
  for (int shard = 0; shard < map.num_shards; ++shard) {
    PullWeights(shard, ps.MemberFor(shard, rank), num_ids, all.first(rows),
                all.subspan(rows));
  }
  return weights;
}

void InProcessRun::PullWeights(int shard, int member, uint64_t num_ids,
                               absl::Span<float> rows,
                               absl::Span<float> dense) {
  const ShardMap& map = job_->map();
  const size_t dim = job_->model_spec().tables[0].row_dim();
  std::vector<FeatureId> ids;
  for (uint64_t id = 0; id < num_ids; ++id) {
    if (ShardOf(map.tables[0], id) == shard) ids.push_back(id);
  }
  std::vector<float> own(ids.size() * dim);
  PullRequest request;
  request.read_only = true;
  request.identity.job = InProcessJob::kJob;
  request.identity.shard = report_.ps[member].stats.version.life;
  request.identity.worker = request.identity.shard;
  request.identity.map_version = map.version;
  if (!ids.empty()) request.tables.push_back({0, ids, absl::MakeSpan(own)});
  for (size_t b = 0; b < map.blocks.size(); ++b) {
    const DenseBlock& block = map.blocks[b];
    if (block.shard != shard) continue;
    request.blocks.push_back({static_cast<uint32_t>(b),
                              dense.subspan(block.flat_begin, block.size())});
  }
  ParameterShard* const served = job_->shards()[member].get();
  served->ServeUntil(absl::InfiniteFuture());
  bool pulled = false;
  served->Pull(request, absl::Seconds(1), [&](absl::StatusOr<PullReply> reply) {
    EXPECT_TRUE(reply.ok()) << reply.status();
    pulled = true;
  });
  simulator_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(pulled);
  for (size_t i = 0; i < ids.size(); ++i) {
    std::copy_n(own.begin() + i * dim, dim, rows.begin() + ids[i] * dim);
  }
}

}  // namespace shoal
