#include "tests/conformance/parameter_service_conformance.h"

#include <cstdint>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/conformance/completion.h"

namespace shoal {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(30);
constexpr int kRowDim = 4;
constexpr int kKernel = 12;  // elements of block 0
constexpr int kBias = 4;     // elements of block 2
const Life kWorker = {1, 7};

ColumnSpec SgdColumn(std::string name, int dim, float rate,
                     InitializerSpec initializer = {}) {
  ColumnSpec column;
  column.variable = std::move(name);
  column.dim = dim;
  column.optimizer.kind = OptimizerKind::kSgd;
  column.optimizer.learning_rate = rate;
  column.initializer = initializer;
  return column;
}

DenseSpec SgdDense(std::string name, std::vector<int64_t> shape, float rate,
                   InitializerSpec initializer = {}) {
  DenseSpec dense;
  dense.name = std::move(name);
  dense.shape = std::move(shape);
  dense.optimizer.kind = OptimizerKind::kSgd;
  dense.optimizer.learning_rate = rate;
  dense.initializer = initializer;
  return dense;
}

}  // namespace

std::string ImplementationName(
    const testing::TestParamInfo<ParameterServiceImplementation>& info) {
  return info.param.name;
}

ParameterShardOptions ParameterServiceConformance::Options() {
  const InitializerSpec uniform = {InitializerKind::kUniform, 0.5f};
  ParameterShardOptions options;
  options.job = "conformance";
  options.life = Life{1, 3};
  options.shard = 0;
  options.model.model = "test";
  options.model.seed = 42;
  options.model.tables = {
      {"ids",
       100,
       {SgdColumn("wide", 1, 0.5f), SgdColumn("deep", 3, 0.25f, uniform)}},
      {"other", 10, {SgdColumn("tail", 2, 1)}},
  };
  options.model.dense = {SgdDense("kernel", {6, 4}, 0.5f, uniform),
                         SgdDense("bias", {4}, 1)};
  options.map.version = 5;
  options.map.num_shards = 2;
  options.map.tables = {{PartitionKind::kFixedSize, 100, 2},
                        {PartitionKind::kFixedSize, 10, 2}};
  options.map.blocks = {{0, 0, 12, 0, 0}, {0, 12, 24, 1, 12}, {1, 0, 4, 0, 24}};
  return options;
}

void ParameterServiceConformance::Start(ParameterShardOptions options) {
  harness_.reset();
  harness_ = GetParam().make(std::move(options));
  ASSERT_NE(harness_, nullptr);
  harness_->shard().ServeUntil(absl::InfiniteFuture());
}

CallIdentity ParameterServiceConformance::Identity() const {
  const ParameterShardOptions options = Options();
  return CallIdentity{options.job, kWorker, options.life, options.map.version};
}

absl::StatusOr<PullReply> ParameterServiceConformance::Pull(
    PullRequest request) {
  return CallAndWait<PullReply>([&](Done<PullReply> done) {
    harness_->service().Pull(request, kTimeout, std::move(done));
  });
}

absl::StatusOr<PushReply> ParameterServiceConformance::Push(
    PushRequest request) {
  return CallAndWait<PushReply>([&](Done<PushReply> done) {
    harness_->service().Push(request, kTimeout, std::move(done));
  });
}

absl::StatusOr<StatsReply> ParameterServiceConformance::Stats() {
  return CallAndWait<StatsReply>([&](Done<StatsReply> done) {
    harness_->service().Stats({Identity()}, kTimeout, std::move(done));
  });
}

absl::StatusOr<ParameterServiceConformance::Pulled>
ParameterServiceConformance::Pull(const std::vector<FeatureId>& ids,
                                  bool read_only) {
  const float unset = std::numeric_limits<float>::quiet_NaN();
  Pulled out;
  out.rows.assign(ids.size() * kRowDim, unset);
  out.kernel.assign(kKernel, unset);
  out.bias.assign(kBias, unset);
  PullRequest request;
  request.identity = Identity();
  request.read_only = read_only;
  request.tables = {{0, ids, absl::MakeSpan(out.rows)}};
  request.blocks = {{0, absl::MakeSpan(out.kernel)},
                    {2, absl::MakeSpan(out.bias)}};
  auto reply = Pull(std::move(request));
  if (!reply.ok()) return reply.status();
  out.reply = *reply;
  return out;
}

PushRequest ParameterServiceConformance::NewPush(uint32_t index,
                                                 uint32_t batches) const {
  PushRequest request;
  request.identity = Identity();
  for (uint32_t i = 0; i < batches; ++i) {
    request.batches.push_back({.id = {0, 0, index + i}, .lease = 1});
  }
  request.pulled = Version{Options().life, 0};
  return request;
}

TEST_P(ParameterServiceConformance, PullWritesEveryValueAndStaysTheSame) {
  const auto first = Pull({7, 0, 49});
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(first->rows[i * kRowDim], 0) << "wide starts at 0";
    for (int k = 1; k < kRowDim; ++k) {
      EXPECT_NE(first->rows[i * kRowDim + k], 0);
      EXPECT_LE(std::abs(first->rows[i * kRowDim + k]), 0.5f);
    }
  }
  EXPECT_THAT(first->bias, Each(0));
  EXPECT_EQ(first->reply.version, (Version{Options().life, 0}));
  // The same rows in another order, beside another one.
  const auto again = Pull({49, 3, 7});
  ASSERT_TRUE(again.ok()) << again.status();
  for (int k = 0; k < kRowDim; ++k) {
    EXPECT_EQ(again->rows[k], first->rows[2 * kRowDim + k]);
    EXPECT_EQ(again->rows[2 * kRowDim + k], first->rows[k]);
  }
  EXPECT_EQ(again->kernel, first->kernel);
}

TEST_P(ParameterServiceConformance, ReadOnlyPullsCreateNoRow) {
  const auto peeked = Pull({1, 2}, /*read_only=*/true);
  ASSERT_TRUE(peeked.ok()) << peeked.status();
  EXPECT_EQ(Stats()->rows, 0);
  const auto pulled = Pull({1, 2});
  ASSERT_TRUE(pulled.ok()) << pulled.status();
  EXPECT_EQ(peeked->rows, pulled->rows);
  const auto stats = Stats();
  EXPECT_EQ(stats->rows, 2);
  EXPECT_EQ(stats->lookups, 4);
}

TEST_P(ParameterServiceConformance, PushMovesRowsAndBlocksByTheirOwnRates) {
  const auto before = Pull({7, 9});
  ASSERT_TRUE(before.ok()) << before.status();
  const std::vector<FeatureId> ids = {9, 7};
  const std::vector<float> gradients = {1, 2, 3, 4, -1, -2, -3, -4};
  const std::vector<float> kernel(kKernel, 0.5f);
  const std::vector<float> bias = {1, 2, 3, 4};
  PushRequest request = NewPush(0);
  request.tables = {{0, ids, gradients}};
  request.blocks = {{2, bias}, {0, kernel}};
  const auto pushed = Push(request);
  ASSERT_TRUE(pushed.ok()) << pushed.status();
  EXPECT_EQ(pushed->verdict, Verdict::kApplied);
  EXPECT_FALSE(pushed->repeat);
  EXPECT_EQ(pushed->version, (Version{Options().life, 1}));

  const auto after = Pull({7, 9});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->reply.version, (Version{Options().life, 1}));
  for (int k = 0; k < kRowDim; ++k) {
    const float rate = k == 0 ? 0.5f : 0.25f;
    EXPECT_EQ(after->rows[k], before->rows[k] - rate * gradients[kRowDim + k]);
    EXPECT_EQ(after->rows[kRowDim + k],
              before->rows[kRowDim + k] - rate * gradients[k]);
  }
  for (int i = 0; i < kKernel; ++i) {
    EXPECT_EQ(after->kernel[i], before->kernel[i] - 0.25f);
  }
  EXPECT_THAT(after->bias, ElementsAre(-1, -2, -3, -4));
}

TEST_P(ParameterServiceConformance, AnEmptyPushMarksAndAdvancesTheCount) {
  ASSERT_TRUE(Pull({1}).ok());
  const uint64_t digest = Stats()->digest;
  const auto pushed = Push(NewPush(0));
  ASSERT_TRUE(pushed.ok()) << pushed.status();
  EXPECT_EQ(pushed->version.count, 1);
  EXPECT_TRUE(Push(NewPush(0))->repeat);
  const auto stats = Stats();
  EXPECT_EQ(stats->digest, digest);
  EXPECT_EQ(stats->pushes_applied, 1);
  EXPECT_EQ(stats->repeats_refused, 1);
}

TEST_P(ParameterServiceConformance, ARepeatChangesNothingWhoeverSendsIt) {
  const std::vector<FeatureId> ids = {3};
  const std::vector<float> gradients = {1, 1, 1, 1};
  PushRequest request = NewPush(4);
  request.tables = {{0, ids, gradients}};
  ASSERT_TRUE(Push(request).ok());
  const uint64_t digest = Stats()->digest;
  request.identity.worker = Life{1, 8};
  request.batches[0].lease = 2;
  for (int i = 0; i < 3; ++i) {
    const auto repeat = Push(request);
    ASSERT_TRUE(repeat.ok()) << repeat.status();
    EXPECT_TRUE(repeat->repeat);
    EXPECT_EQ(repeat->verdict, Verdict::kApplied);
    EXPECT_EQ(repeat->version.count, 1);
  }
  EXPECT_EQ(Stats()->digest, digest);
  EXPECT_EQ(Stats()->repeats_refused, 3);
  const MarkDelta delta = harness_->shard().TakeMarks();
  ASSERT_EQ(delta.marks.size(), 2);
  EXPECT_FALSE(delta.marks[0].repeat);
  EXPECT_EQ(delta.marks[0].lease, 1);
  EXPECT_TRUE(delta.marks[1].repeat);
  EXPECT_EQ(delta.marks[1].lease, 2);
}

TEST_P(ParameterServiceConformance, ANonFiniteGradientRejectsTheBatchForGood) {
  ASSERT_TRUE(Pull({3}).ok());
  const uint64_t digest = Stats()->digest;
  const std::vector<FeatureId> ids = {3};
  const std::vector<float> good = {1, 1, 1, 1};
  std::vector<float> bias = {0, 0, std::numeric_limits<float>::infinity(), 0};
  PushRequest request = NewPush(0);
  request.tables = {{0, ids, good}};
  request.blocks = {{2, bias}};
  const auto rejected = Push(request);
  ASSERT_TRUE(rejected.ok()) << rejected.status();
  EXPECT_EQ(rejected->verdict, Verdict::kRejected);
  EXPECT_FALSE(rejected->repeat);
  EXPECT_EQ(rejected->version.count, 0);
  bias[2] = 0;
  const auto repeat = Push(request);
  ASSERT_TRUE(repeat.ok()) << repeat.status();
  EXPECT_EQ(repeat->verdict, Verdict::kRejected);
  EXPECT_TRUE(repeat->repeat);
  const auto stats = Stats();
  EXPECT_EQ(stats->digest, digest);
  EXPECT_EQ(stats->pushes_rejected, 1);
  EXPECT_EQ(stats->pushes_applied, 0);
}

TEST_P(ParameterServiceConformance, ABatchThatTheWorkerRejectsIsMarkedSo) {
  ASSERT_TRUE(Pull({3}).ok());
  const uint64_t digest = Stats()->digest;
  PushRequest request = NewPush(0);
  request.batches[0].rejected = true;
  const std::vector<FeatureId> ids = {3};
  const std::vector<float> good = {1, 1, 1, 1};
  request.tables = {{0, ids, good}};
  EXPECT_TRUE(absl::IsInvalidArgument(Push(request).status()))
      << "rejected, and yet it brings a gradient";
  request.tables.clear();
  const auto rejected = Push(request);
  ASSERT_TRUE(rejected.ok()) << rejected.status();
  EXPECT_EQ(rejected->verdict, Verdict::kRejected);
  EXPECT_FALSE(rejected->repeat);
  EXPECT_EQ(rejected->version.count, 0);
  // A sound copy comes too late.
  request.batches[0].rejected = false;
  request.tables = {{0, ids, good}};
  const auto repeat = Push(request);
  ASSERT_TRUE(repeat.ok()) << repeat.status();
  EXPECT_EQ(repeat->verdict, Verdict::kRejected);
  EXPECT_TRUE(repeat->repeat);
  const auto stats = Stats();
  EXPECT_EQ(stats->digest, digest);
  EXPECT_EQ(stats->pushes_rejected, 1);
  EXPECT_EQ(stats->pushes_applied, 0);
}

TEST_P(ParameterServiceConformance, AnotherIdentityIsRefusedByBothValues) {
  struct Case {
    CallIdentity identity;
    std::string theirs, mine;
  };
  std::vector<Case> cases(4, Case{Identity()});
  cases[0].identity.job = "stranger";
  cases[0].theirs = "stranger";
  cases[0].mine = "conformance";
  cases[1].identity.shard = Life{1, 2};
  cases[1].theirs = "1.2";
  cases[1].mine = "1.3";
  cases[2].identity.map_version = 6;
  cases[2].theirs = "6";
  cases[2].mine = "5";
  // As of a worker of an earlier job that learned this shard's life.
  cases[3].identity.worker = Life{2, 7};
  cases[3].theirs = "2.7";
  cases[3].mine = "1.3";
  for (const Case& c : cases) {
    PullRequest pull;
    pull.identity = c.identity;
    PushRequest push = NewPush(0);
    push.identity = c.identity;
    const auto stats = CallAndWait<StatsReply>([&](Done<StatsReply> done) {
      harness_->service().Stats({c.identity}, kTimeout, std::move(done));
    });
    for (const absl::Status& status :
         {Pull(pull).status(), Push(push).status(), stats.status()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(std::string(status.message()), HasSubstr(c.theirs));
      EXPECT_THAT(std::string(status.message()), HasSubstr(c.mine));
    }
  }
  EXPECT_EQ(Stats()->pushes_applied, 0);
}

TEST_P(ParameterServiceConformance, ABlockCanBePulledInParts) {
  const auto whole = Pull({3});
  ASSERT_TRUE(whole.ok()) << whole.status();
  std::vector<float> parts(kKernel);
  PullRequest pull;
  pull.identity = Identity();
  pull.blocks = {{0, absl::MakeSpan(parts).subspan(0, 5), 0},
                 {0, absl::MakeSpan(parts).subspan(5), 5}};
  ASSERT_TRUE(Pull(pull).ok());
  EXPECT_EQ(parts, whole->kernel);

  pull.blocks = {{0, absl::MakeSpan(parts), 1}};
  EXPECT_EQ(Pull(pull).status().code(), absl::StatusCode::kInvalidArgument);
  pull.blocks = {{0, absl::MakeSpan(parts).subspan(0, 1), uint64_t{1} << 40}};
  EXPECT_EQ(Pull(pull).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(ParameterServiceConformance, AForeignRequestIsRefusedWhole) {
  ASSERT_TRUE(Pull({3}).ok());
  const uint64_t digest = Stats()->digest;
  const std::vector<FeatureId> good_ids = {3};
  const std::vector<FeatureId> no_ids = {};
  const std::vector<FeatureId> outside = {100};
  const std::vector<FeatureId> far_outside = {~FeatureId{0}};
  const std::vector<FeatureId> others = {50};
  const std::vector<FeatureId> twice = {4, 3, 4};
  const std::vector<float> f(kKernel, 1);
  const auto floats = [&f](size_t n) {
    return absl::MakeConstSpan(f).first(n);
  };

  const std::vector<TablePush> bad_tables = {
      {2, no_ids, floats(0)},   // no such table
      {1, outside, floats(2)},  // beyond feature_size
      {1, far_outside, floats(2)}, {1, good_ids, floats(1)},  // too short
      {1, good_ids, floats(3)},                               // too long
      {1, twice, floats(6)},                                  // an id twice
      {0, good_ids, floats(4)},                               // a table twice
  };
  std::vector<PushRequest> pushes;
  for (const TablePush& bad : bad_tables) {
    pushes.push_back(NewPush(0));
    pushes.back().tables = {{0, good_ids, floats(4)}, bad};
  }
  pushes.push_back(NewPush(0));
  pushes.back().tables = {{0, others, floats(4)}};  // shard 1's row
  const std::vector<BlockPush> bad_blocks = {
      {1, floats(12)},                   // shard 1's block
      {3, floats(4)},                    // no such block
      {~0u, floats(4)}, {2, floats(3)},  // too short
      {0, floats(12)},                   // a block twice
  };
  for (const BlockPush& bad : bad_blocks) {
    pushes.push_back(NewPush(0));
    pushes.back().tables = {{0, good_ids, floats(4)}};
    pushes.back().blocks = {{0, floats(12)}, bad};
  }
  for (size_t i = 0; i < pushes.size(); ++i) {
    const auto pushed = Push(pushes[i]);
    EXPECT_EQ(pushed.status().code(), absl::StatusCode::kInvalidArgument)
        << "push " << i << ": " << pushed.status();
  }

  std::vector<float> out(kKernel);
  const auto into = [&out](size_t n) {
    return absl::MakeSpan(out).subspan(0, n);
  };
  const std::vector<TablePull> bad_pulls = {{2, no_ids, into(0)},
                                            {0, outside, into(4)},
                                            {0, others, into(4)},
                                            {0, good_ids, into(3)},
                                            {0, good_ids, into(5)}};
  for (size_t i = 0; i < bad_pulls.size(); ++i) {
    PullRequest pull;
    pull.identity = Identity();
    pull.tables = {bad_pulls[i]};
    EXPECT_EQ(Pull(pull).status().code(), absl::StatusCode::kInvalidArgument)
        << "pull " << i;
  }
  for (const BlockPull& bad : {BlockPull{1, into(12)}, BlockPull{9, into(4)},
                               BlockPull{0, into(12), 1}}) {
    PullRequest pull;
    pull.identity = Identity();
    pull.blocks = {bad};
    EXPECT_EQ(Pull(pull).status().code(), absl::StatusCode::kInvalidArgument)
        << "block " << bad.block;
  }

  const auto stats = Stats();
  EXPECT_EQ(stats->digest, digest);
  EXPECT_EQ(stats->pushes_applied, 0);
  EXPECT_THAT(harness_->shard().TakeMarks().marks, testing::IsEmpty());
  // The batch was never marked: its good push is applied.
  EXPECT_FALSE(Push(NewPush(0))->repeat);
}

TEST_P(ParameterServiceConformance, NothingIsServedWithoutALease) {
  harness_->shard().ServeUntil(absl::UnixEpoch());
  PullRequest pull;
  pull.identity = Identity();
  for (const absl::Status& status :
       {Pull(pull).status(), Push(NewPush(0)).status(), Stats().status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("lease"));
  }
  harness_->shard().ServeUntil(absl::InfiniteFuture());
  EXPECT_FALSE(Push(NewPush(0))->repeat);
}

TEST_P(ParameterServiceConformance, ACallWithNoTimeLeftEndsByItsDeadline) {
  for (const absl::Duration timeout :
       {absl::ZeroDuration(), absl::Seconds(-1)}) {
    PullRequest pull;
    pull.identity = Identity();
    const auto pulled = CallAndWait<PullReply>([&](Done<PullReply> done) {
      harness_->service().Pull(pull, timeout, std::move(done));
    });
    EXPECT_EQ(pulled.status().code(), absl::StatusCode::kDeadlineExceeded);
    const auto pushed = CallAndWait<PushReply>([&](Done<PushReply> done) {
      harness_->service().Push(NewPush(0), timeout, std::move(done));
    });
    EXPECT_EQ(pushed.status().code(), absl::StatusCode::kDeadlineExceeded);
  }
}

TEST_P(ParameterServiceConformance, RowsBeyondTheMemoryLimitAreRefused) {
  // Blocks of 16 floats, then room for two records of table 0 (4 floats and a
  // header: 32 bytes).
  ParameterShardOptions options = Options();
  options.max_bytes = 16 * 4 + 2 * 32;
  ASSERT_NO_FATAL_FAILURE(Start(options));
  ASSERT_TRUE(Pull({1, 2}).ok());
  const std::vector<FeatureId> ids = {2, 3};
  const std::vector<float> gradients(8, 1);
  PushRequest push = NewPush(0);
  push.tables = {{0, ids, gradients}};
  const absl::Status refused = Pull({1, 2, 3}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kOutOfRange) << refused;
  EXPECT_NE(refused.message().find("--max_ps_bytes"), absl::string_view::npos);
  EXPECT_EQ(Push(push).status().code(), absl::StatusCode::kOutOfRange);
  const auto stats = Stats();
  EXPECT_EQ(stats->rows, 2);
  EXPECT_EQ(stats->pushes_applied, 0);
  // What needs no new row is served: existing rows, and read-only pulls.
  EXPECT_TRUE(Pull({2, 1}).ok());
  EXPECT_TRUE(Pull({1, 2, 3}, /*read_only=*/true).ok());
  push.tables = {{0, absl::MakeConstSpan(ids).first(1),
                  absl::MakeConstSpan(gradients).first(4)}};
  EXPECT_FALSE(Push(push)->repeat);
}

TEST_P(ParameterServiceConformance, StalenessIsWhatCameBetweenPullAndPush) {
  const std::vector<FeatureId> ids = {3};
  const std::vector<float> gradients(4, 1);
  for (uint32_t i = 0; i < 4; ++i) {
    PushRequest push = NewPush(i);
    if (i == 2) push.tables = {{0, ids, gradients}};
    if (i == 3) push.pulled = Version{Life{1, 1}, 0};  // an older life's reply
    ASSERT_TRUE(Push(push).ok());
  }
  const auto stats = Stats();
  ASSERT_EQ(stats->staleness.size(), 1);
  EXPECT_EQ(stats->staleness[0].first, kWorker);
  EXPECT_THAT(stats->staleness[0].second.buckets(),
              ElementsAre(testing::Pair(0, 1), testing::Pair(1, 1),
                          testing::Pair(2, 1)));
  EXPECT_EQ(stats->pulled_in_other_life, 1);
  ASSERT_EQ(stats->variables.size(), 5);
  EXPECT_EQ(stats->variables[1].variable, "deep");
  EXPECT_THAT(stats->variables[1].staleness.buckets(),
              ElementsAre(testing::Pair(2, 1)));
  EXPECT_EQ(stats->variables[4].variable, "bias");
  EXPECT_EQ(stats->variables[4].staleness.count(), 0);
}

TEST_P(ParameterServiceConformance, ConcurrentPushesAllCountOnce) {
  constexpr int kThreads = 4;
  constexpr int kBatches = 50;
  const std::vector<FeatureId> ids = {1, 2, 3};
  const std::vector<float> gradients(ids.size() * kRowDim, 0.25f);
  const std::vector<float> bias(kBias, 1);
  const auto before = Pull(ids);
  ASSERT_TRUE(before.ok()) << before.status();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Two threads send each batch, in opposite orders.
      std::vector<Completion<PushReply>> pushes(kBatches);
      for (int i = 0; i < kBatches; ++i) {
        const int index = t % 2 == 0 ? i : kBatches - 1 - i;
        pushes[i].Start([&](Done<PushReply> done) {
          PushRequest push = NewPush(t / 2 * kBatches + index);
          push.tables = {{0, ids, gradients}};
          push.blocks = {{2, bias}};
          harness_->service().Push(push, kTimeout, std::move(done));
        });
      }
      for (auto& push : pushes) {
        const auto reply = push.Wait();
        EXPECT_TRUE(reply.ok()) << reply.status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto after = Pull(ids);
  ASSERT_TRUE(after.ok()) << after.status();
  constexpr int kApplied = kThreads / 2 * kBatches;
  EXPECT_EQ(after->reply.version.count, kApplied);
  EXPECT_THAT(after->bias, Each(-kApplied));
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(after->rows[i * kRowDim], -0.5f * 0.25f * kApplied);
  }
  EXPECT_EQ(Stats()->repeats_refused, kApplied);
}

}  // namespace shoal
