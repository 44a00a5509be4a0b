#include "worker/client/sharded_client.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/canary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr Life kWorker = {1, 9};
constexpr BatchId kBatch = {0, 3, 5};

// Keeps what it is asked; answers when the test says so.
class FakeShard final : public ParameterService {
 public:
  void Pull(PullRequest request, absl::Duration,
            Done<PullReply> done) override {
    pull = std::move(request);
    on_pulled = std::move(done);
  }
  void Push(PushRequest request, absl::Duration,
            Done<PushReply> done) override {
    push = std::move(request);
    on_pushed = std::move(done);
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

  // Every value of row `id` is id, of block b 100 + b.
  void AnswerPull(Version version, Colour colour) {
    for (const TablePull& rows : pull.tables) {
      const size_t dim = rows.values.size() / rows.ids.size();
      for (size_t i = 0; i < rows.values.size(); ++i) {
        rows.values[i] = static_cast<float>(rows.ids[i / dim]);
      }
    }
    for (const BlockPull& block : pull.blocks) {
      for (float& value : block.values) {
        value = 100.0f + static_cast<float>(block.block);
      }
    }
    std::move(on_pulled)(PullReply{version, colour});
  }

  PullRequest pull;
  PushRequest push;
  Done<PullReply> on_pulled;
  Done<PushReply> on_pushed;
};

// Three shards of 9 rows of two floats; shards 0 and 2 have a dense block each.
class ShardedClientTest : public testing::Test {
 protected:
  ShardedClientTest() {
    ShardedClientOptions& options = options_;
    options.job = "job";
    options.worker = kWorker;
    options.map.version = 4;
    options.map.num_shards = 3;
    options.map.tables = {{PartitionKind::kFixedSize, 9, 3}};
    options.map.blocks = {
        {.variable = 0, .begin = 0, .end = 2, .shard = 2, .flat_begin = 0},
        {.variable = 1, .begin = 0, .end = 1, .shard = 0, .flat_begin = 2}};
    for (uint32_t s = 0; s < 3; ++s) {
      options.shard_lives.push_back({1, s + 1});
      shards_.push_back(std::make_shared<FakeShard>());
    }
    options.row_dims = {2};
    options.dense_size = 3;
    SplitIds(options.map.tables[0], {8, 0, 7},
             &step_.tables.emplace_back().split);
    MakeClient();
  }

  void MakeClient() {
    client_.emplace(options_,
                    std::vector<std::shared_ptr<ParameterService>>(
                        shards_.begin(), shards_.end()),
                    &executor_);
  }

  void Pull() {
    client_->Pull(&step_, /*read_only=*/false,
                  [this](absl::Status status) { pulled_ = status; });
  }
  void Push(const BatchId& batch = kBatch) {
    PushList({{.id = batch, .lease = 6, .examples = 70}});
  }
  void PushList(const PushedBatches& batches) {
    for (float i = 0; i < 6; ++i) gradients_.push_back(i);
    step_.tables[0].d_rows.ResizeDiscard(6);
    std::copy(gradients_.begin(), gradients_.end(),
              step_.tables[0].d_rows.data());
    step_.d_dense.ResizeDiscard(3);
    for (int i = 0; i < 3; ++i) step_.d_dense.data()[i] = 10.0f + i;
    client_->Push(batches, step_,
                  [this](auto verdict) { pushed_ = std::move(verdict); });
  }
  void PullAll() {
    Pull();
    for (uint32_t s = 0; s < 3; ++s) {
      shards_[s]->AnswerPull({{1, s + 1}, 10 + s}, /*colour=*/s);
    }
    simulator_.RunUntilIdle();
    ASSERT_EQ(pulled_, absl::OkStatus());
  }

  ShardedClientOptions options_;
  Simulator simulator_;
  SimulatedExecutor executor_{&simulator_};
  std::vector<std::shared_ptr<FakeShard>> shards_;
  StepParameters step_;
  std::vector<float> gradients_;
  std::optional<absl::Status> pulled_;
  std::optional<absl::StatusOr<Verdict>> pushed_;
  std::optional<ShardedClient> client_;
};

TEST_F(ShardedClientTest, APullAsksEachShardForItsOwnAndFillsInPlace) {
  Pull();
  const CallIdentity& identity = shards_[2]->pull.identity;
  EXPECT_EQ(identity.job, "job");
  EXPECT_EQ(identity.worker, kWorker);
  EXPECT_EQ(identity.shard, (Life{1, 3}));
  EXPECT_EQ(identity.map_version, 4u);
  EXPECT_THAT(shards_[0]->pull.tables[0].ids, ElementsAre(0));
  EXPECT_THAT(shards_[1]->pull.tables, IsEmpty()) << "asked all the same";
  EXPECT_THAT(shards_[2]->pull.tables[0].ids, ElementsAre(8, 7));

  shards_[1]->AnswerPull({{1, 2}, 20}, /*colour=*/5);
  shards_[0]->AnswerPull({{1, 1}, 10}, /*colour=*/4);
  simulator_.RunUntilIdle();
  EXPECT_FALSE(pulled_.has_value()) << "one shard is missing";
  shards_[2]->AnswerPull({{1, 3}, 30}, /*colour=*/4);
  simulator_.RunUntilIdle();
  EXPECT_EQ(pulled_, absl::OkStatus());
  EXPECT_THAT(step_.tables[0].rows.span(), ElementsAre(0, 0, 8, 8, 7, 7));
  EXPECT_THAT(step_.dense.span(), ElementsAre(100, 100, 101));
  EXPECT_EQ(step_.pulled[1], (Version{{1, 2}, 20}));
  EXPECT_EQ(step_.colour, 5u) << "the highest";
}

TEST_F(ShardedClientTest, APushGoesToEveryShardAlsoToOneWithNoRowOfIt) {
  PullAll();
  Push();
  for (uint32_t s = 0; s < 3; ++s) {
    const PushRequest& push = shards_[s]->push;
    EXPECT_THAT(push.batches, ElementsAre(PushedBatch{kBatch, 6, 70}));
    EXPECT_EQ(push.colour, 2u);
    EXPECT_EQ(push.pulled, (Version{{1, s + 1}, 10 + s}));
  }
  EXPECT_THAT(shards_[0]->push.tables[0].gradients, ElementsAre(0, 1));
  EXPECT_THAT(shards_[0]->push.blocks[0].gradients, ElementsAre(12));
  EXPECT_THAT(shards_[1]->push.tables, IsEmpty());
  EXPECT_THAT(shards_[1]->push.blocks, IsEmpty());
  EXPECT_THAT(shards_[2]->push.tables[0].gradients, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(shards_[2]->push.blocks[0].gradients, ElementsAre(10, 11));

  for (const auto& shard : shards_) {
    EXPECT_FALSE(pushed_.has_value());
    std::move(shard->on_pushed)(PushReply{Verdict::kRejected});
    simulator_.RunUntilIdle();
  }
  ASSERT_TRUE(pushed_.has_value() && pushed_->ok());
  EXPECT_EQ(**pushed_, Verdict::kRejected);
}

TEST_F(ShardedClientTest, EachTableOfTheModelHasRowsOfItsOwn) {
  options_.map.tables.push_back({PartitionKind::kMod, 9, 3});
  options_.row_dims = {2, 1};
  MakeClient();
  SplitIds(options_.map.tables[1], {5, 3}, &step_.tables.emplace_back().split);
  EXPECT_THAT(client_->partitions(), SizeIs(2));
  PullAll();
  EXPECT_THAT(shards_[0]->pull.tables, SizeIs(2));
  EXPECT_THAT(shards_[1]->pull.tables, IsEmpty());
  EXPECT_EQ(shards_[2]->pull.tables[1].table, 1u);
  EXPECT_THAT(shards_[2]->pull.tables[1].ids, ElementsAre(5));
  EXPECT_THAT(step_.tables[1].rows.span(), ElementsAre(3, 5));

  step_.tables[1].d_rows.ResizeDiscard(2);
  step_.tables[1].d_rows.data()[0] = 30;
  step_.tables[1].d_rows.data()[1] = 50;
  Push();
  EXPECT_THAT(shards_[0]->push.tables[1].gradients, ElementsAre(30));
  EXPECT_THAT(shards_[2]->push.tables[1].gradients, ElementsAre(50));
}

// The dense variables are on the replicated shard, and rows on the others.
class ReplicatedShardTest : public ShardedClientTest {
 protected:
  ReplicatedShardTest() {
    options_.map.replicated = 2;
    options_.map.tables = {{PartitionKind::kFixedSize, 9, 2},
                           {PartitionKind::kEveryShard, 0, 3}};
    for (DenseBlock& block : options_.map.blocks) block.shard = 2;
    SplitIds(options_.map.tables[0], {8, 0, 7}, &step_.tables[0].split);
    MakeClient();
  }
};

TEST_F(ReplicatedShardTest, APullMayAskTheReplicatedShardAlone) {
  client_->PullFrom(client_->replicated_shard(), &step_, /*read_only=*/true,
                    [this](absl::Status status) { pulled_ = status; });
  EXPECT_EQ(shards_[0]->on_pulled, nullptr);
  EXPECT_EQ(shards_[1]->on_pulled, nullptr);
  EXPECT_TRUE(shards_[2]->pull.read_only);
  EXPECT_THAT(shards_[2]->pull.tables, IsEmpty());
  shards_[2]->AnswerPull({{1, 3}, 30}, /*colour=*/4);
  simulator_.RunUntilIdle();
  EXPECT_EQ(pulled_, absl::OkStatus());
  EXPECT_THAT(step_.dense.span(), ElementsAre(100, 100, 101));
  EXPECT_THAT(step_.pulled,
              ElementsAre(Version(), Version(), Version{{1, 3}, 30}));
  EXPECT_EQ(step_.colour, 4u);
}

TEST_F(ReplicatedShardTest, RowsAndDenseGradientsMayBePushedApart) {
  PullAll();
  step_.tables[0].d_rows.ResizeDiscard(6);
  step_.d_dense.ResizeDiscard(3);
  const PushedBatches own = {{.id = kBatch}};
  client_->PushTo(client_->single_shards(), own, step_,
                  [this](auto verdict) { pushed_ = std::move(verdict); });
  for (int s = 0; s < 2; ++s) {
    const PushRequest& push = shards_[s]->push;
    EXPECT_EQ(push.batches, own);
    // Its rows, and its canary.
    EXPECT_THAT(push.tables, SizeIs(2));
    EXPECT_THAT(push.blocks, IsEmpty());
    EXPECT_EQ(push.pulled.count, 10u + s);
    std::move(shards_[s]->on_pushed)(PushReply{
        s == 0 ? Verdict::kRejected : Verdict::kApplied});
  }
  EXPECT_EQ(shards_[2]->on_pushed, nullptr);
  simulator_.RunUntilIdle();
  ASSERT_TRUE(pushed_.has_value() && pushed_->ok());
  EXPECT_EQ(**pushed_, Verdict::kRejected) << "of the first shard";

  StepParameters dense;
  dense.d_dense.ResizeDiscard(3);
  dense.pulled = step_.pulled;
  const PushedBatches all = {{.id = kBatch}, {.id = {0, 4, 0}}};
  pushed_.reset();
  client_->PushTo(client_->replicated_shard(), all, dense,
                  [this](auto verdict) { pushed_ = std::move(verdict); });
  const PushRequest& push = shards_[2]->push;
  EXPECT_EQ(push.batches, all);
  EXPECT_THAT(push.tables, SizeIs(1)) << "the canaries";
  EXPECT_THAT(push.tables[0].ids, SizeIs(2));
  EXPECT_THAT(push.blocks, SizeIs(2));
  EXPECT_EQ(push.pulled.count, 12u);
  std::move(shards_[2]->on_pushed)(absl::InternalError("gone"));
  simulator_.RunUntilIdle();
  ASSERT_TRUE(pushed_.has_value());
  EXPECT_THAT(std::string(pushed_->status().message()),
              StartsWith("this worker's copy of shard 2: gone"));
}

TEST_F(ShardedClientTest, AModelWithoutTablesPullsItsBlocksAlone) {
  options_.map.tables.clear();
  options_.row_dims.clear();
  step_.tables.clear();
  MakeClient();
  PullAll();
  EXPECT_THAT(shards_[0]->pull.tables, IsEmpty());
  EXPECT_THAT(step_.dense.span(), ElementsAre(100, 100, 101));
}

TEST_F(ShardedClientTest, WithACanaryTableEveryPushBringsItsBatchsCanary) {
  options_.map.tables.push_back({PartitionKind::kEveryShard, 0, 3});
  MakeClient();
  PullAll();
  Push();
  for (const auto& shard : shards_) {
    const TablePush& canary = shard->push.tables.back();
    EXPECT_EQ(canary.table, 1u);
    EXPECT_THAT(canary.ids, ElementsAre(*CanaryRow(kBatch)));
    EXPECT_THAT(canary.gradients, ElementsAre(-1, -CanaryOfStart(1)));
  }
  EXPECT_THAT(shards_[0]->push.tables, SizeIs(2));
  EXPECT_THAT(shards_[1]->push.tables, SizeIs(1));
}

TEST_F(ShardedClientTest, AListBringsACanaryOfEachBatchThatIsNotRejected) {
  options_.map.tables.push_back({PartitionKind::kEveryShard, 0, 3});
  MakeClient();
  PullAll();
  const PushedBatches list = {{.id = {0, 3, 5}},
                              {.id = {0, 4, 0}, .rejected = true},
                              {.id = {0, 1, 9}}};
  PushList(list);
  for (const auto& shard : shards_) {
    EXPECT_EQ(shard->push.batches, list);
    const TablePush& canary = shard->push.tables.back();
    EXPECT_EQ(canary.table, 1u);
    EXPECT_THAT(canary.ids,
                ElementsAre(*CanaryRow({0, 3, 5}), *CanaryRow({0, 1, 9})));
    EXPECT_THAT(canary.gradients, ElementsAre(-1, -CanaryOfStart(1), -1,
                                              -CanaryOfStart(1)));
  }
  EXPECT_THAT(shards_[2]->push.tables[0].gradients, ElementsAre(2, 3, 4, 5));
}

TEST_F(ShardedClientTest, AListOfRejectedBatchesBringsNothingElse) {
  options_.map.tables.push_back({PartitionKind::kEveryShard, 0, 3});
  MakeClient();
  PullAll();
  PushList({{.id = {0, 3, 5}, .rejected = true},
            {.id = {0, 4, 0}, .rejected = true}});
  for (const auto& shard : shards_) {
    EXPECT_THAT(shard->push.batches, SizeIs(2));
    EXPECT_THAT(shard->push.tables, IsEmpty());
    EXPECT_THAT(shard->push.blocks, IsEmpty());
  }
}

TEST_F(ShardedClientTest, ABatchWithoutACanaryRowIsAnErrorAndNotPushed) {
  options_.map.tables.push_back({PartitionKind::kEveryShard, 0, 3});
  MakeClient();
  PullAll();
  Push(BatchId{1 << 20, 0, 0});
  EXPECT_FALSE(pushed_.has_value()) << "completed inside the call";
  simulator_.RunUntilIdle();
  ASSERT_TRUE(pushed_.has_value());
  EXPECT_EQ(pushed_->status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(shards_[0]->on_pushed, nullptr);
}

TEST_F(ShardedClientTest, AFailureNamesTheShardAndWaitsForTheOthers) {
  Pull();
  std::move(shards_[1]->on_pulled)(absl::UnavailableError("gone"));
  simulator_.RunUntilIdle();
  EXPECT_FALSE(pulled_.has_value())
      << "the memory may still be written by the other shards";
  shards_[0]->AnswerPull({{1, 1}, 10}, 0);
  std::move(shards_[2]->on_pulled)(absl::InternalError("later"));
  simulator_.RunUntilIdle();
  ASSERT_TRUE(pulled_.has_value());
  EXPECT_EQ(pulled_->code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(pulled_->message()),
              AllOf(HasSubstr("ps 1"), HasSubstr("gone")));
}

// The replicas of a shard are several servers.
TEST_F(ShardedClientTest, AFailureNamesTheServerThatTheShardIsCalledAt) {
  options_.members = {0, 1, 5};
  MakeClient();
  Pull();
  std::move(shards_[2]->on_pulled)(absl::InternalError("gone"));
  for (uint32_t s = 0; s < 2; ++s) shards_[s]->AnswerPull({{1, s + 1}, 1}, 0);
  simulator_.RunUntilIdle();
  EXPECT_THAT(std::string(pulled_->message()), StartsWith("ps 5: "));
  Push();
  std::move(shards_[2]->on_pushed)(absl::InternalError("gone"));
  for (uint32_t s = 0; s < 2; ++s) {
    std::move(shards_[s]->on_pushed)(PushReply{});
  }
  simulator_.RunUntilIdle();
  EXPECT_THAT(std::string(pushed_->status().message()), StartsWith("ps 5: "));
  absl::StatusOr<PushReply> parked;
  client_->PushToShard(2, 1, {.id = kBatch, .examples = 70}, step_,
                       [&](auto reply) { parked = std::move(reply); });
  std::move(shards_[2]->on_pushed)(absl::InternalError("gone"));
  simulator_.RunUntilIdle();
  EXPECT_THAT(std::string(parked.status().message()), StartsWith("ps 5: "));
}

TEST_F(ShardedClientTest, MayBeDestroyedWhileCallsAreInFlight) {
  Pull();
  client_.reset();
  for (uint32_t s = 0; s < 3; ++s) shards_[s]->AnswerPull({{1, s + 1}, 1}, 0);
  simulator_.RunUntilIdle();
  EXPECT_EQ(pulled_, absl::OkStatus());
}

}  // namespace
}  // namespace shoal
