#include "worker/client/sharded_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "core/canary.h"

namespace shoal {
namespace {

// Collects the replies of all shards. It lives until the last reply and is used
// only on the client's strand.
template <typename Reply>
class FanIn {
 public:
  using AllDone = absl::AnyInvocable<void(absl::Status, std::vector<Reply>) &&>;

  FanIn(ShardRange shards, Executor* executor, AllDone all_done)
      : first_(shards.begin),
        missing_(shards.end - shards.begin),
        replies_(missing_),
        executor_(executor),
        all_done_(std::move(all_done)) {}

  // Returns the completion for the call to shard `shard`, whose server has this
  // name in the log.
  static Done<Reply> CompletionFor(std::shared_ptr<FanIn> self, int shard,
                                   std::string server) {
    return [self = std::move(self), shard,
            server = std::move(server)](absl::StatusOr<Reply> r) mutable {
      Executor* executor = self->executor_;
      executor->Post([self = std::move(self), shard,
                      server = std::move(server), r = std::move(r)] {
        self->Take(shard, server, r);
      });
    };
  }

 private:
  void Take(int shard, const std::string& server,
            const absl::StatusOr<Reply>& reply) {
    if (reply.ok()) {
      replies_[shard - first_] = *reply;
    } else if (status_.ok()) {
      status_ = Annotate(reply.status(), server);
    }
    if (--missing_ == 0) {
      std::move(all_done_)(std::move(status_), std::move(replies_));
    }
  }

  const int first_;
  size_t missing_;
  absl::Status status_;
  std::vector<Reply> replies_;
  Executor* const executor_;
  AllDone all_done_;
};

// The ids of one shard among the ids of a split. Shards behind those of the
// table have none.
struct IdsOfShard {
  size_t begin = 0;
  size_t count = 0;
};

IdsOfShard IdsOf(const IdSplit& split, int shard) {
  const auto s = static_cast<size_t>(shard);
  if (s + 1 >= split.begin.size()) return {};
  return {split.begin[s], split.begin[s + 1] - split.begin[s]};
}

// Calls visit(block index, block) for the dense blocks of one shard.
template <typename Visit>
void ForEachBlockOf(const ShardMap& map, int shard, Visit visit) {
  for (size_t b = 0; b < map.blocks.size(); ++b) {
    if (map.blocks[b].shard == shard) {
      visit(static_cast<uint32_t>(b), map.blocks[b]);
    }
  }
}

}  // namespace

ShardedClient::ShardedClient(
    ShardedClientOptions options,
    std::vector<std::shared_ptr<ParameterService>> shards, Executor* executor)
    : options_(std::move(options)),
      shards_(std::move(shards)),
      executor_(executor) {
  for (size_t t = 0; t < options_.map.tables.size(); ++t) {
    if (options_.map.tables[t].kind == PartitionKind::kEveryShard) {
      canary_table_ = static_cast<uint32_t>(t);
    }
  }
}

CallIdentity ShardedClient::IdentityFor(int shard) const {
  return {options_.job, options_.worker, options_.shard_lives[shard],
          options_.map.version};
}

std::string ShardedClient::NameOf(int shard) const {
  if (shard == options_.map.replicated) {
    return absl::StrCat("this worker's copy of shard ", shard);
  }
  return absl::StrCat(
      "ps ", options_.members.empty() ? shard : options_.members[shard]);
}

void ShardedClient::Pull(StepParameters* step, bool read_only,
                         absl::AnyInvocable<void(absl::Status) &&> done) {
  PullFrom(all_shards(), step, read_only, std::move(done));
}

void ShardedClient::PullFrom(ShardRange shards, StepParameters* step,
                             bool read_only,
                             absl::AnyInvocable<void(absl::Status) &&> done) {
  SHOAL_DCHECK(shards.begin < shards.end);
  for (size_t t = 0; t < step->tables.size(); ++t) {
    TableParameters& table = step->tables[t];
    table.rows.ResizeDiscard(table.split.ids.size() * options_.row_dims[t]);
  }
  step->dense.ResizeDiscard(options_.dense_size);
  auto fan_in = std::make_shared<FanIn<PullReply>>(
      shards, executor_,
      [step, shards, size = shards_.size(), done = std::move(done)](
          absl::Status status, std::vector<PullReply> replies) mutable {
        step->pulled.assign(size, Version());
        step->colour = 0;
        step->step = replies[0].step;
        size_t shard = static_cast<size_t>(shards.begin);
        for (const PullReply& reply : replies) {
          step->pulled[shard++] = reply.version;
          step->colour = std::max(step->colour, reply.colour);
          step->step = std::min(step->step, reply.step);
        }
        std::move(done)(std::move(status));
      });
  for (int s = shards.begin; s < shards.end; ++s) {
    PullRequest request;
    request.identity = IdentityFor(s);
    request.read_only = read_only;
    for (size_t t = 0; t < step->tables.size(); ++t) {
      TableParameters& table = step->tables[t];
      const size_t dim = options_.row_dims[t];
      const auto [begin, count] = IdsOf(table.split, s);
      if (count == 0) continue;
      request.tables.push_back(
          {.table = static_cast<uint32_t>(t),
           .ids = absl::MakeConstSpan(table.split.ids).subspan(begin, count),
           .values = table.rows.span().subspan(begin * dim, count * dim)});
    }
    ForEachBlockOf(
        options_.map, s, [&](uint32_t index, const DenseBlock& block) {
          request.blocks.push_back({.block = index,
                                    .values = step->dense.span().subspan(
                                        block.flat_begin, block.size())});
        });
    shards_[s]->Pull(std::move(request), options_.pull_timeout,
                     FanIn<PullReply>::CompletionFor(fan_in, s, NameOf(s)));
  }
}

absl::StatusOr<std::shared_ptr<ShardedClient::Canaries>>
ShardedClient::CanariesOf(absl::Span<const PushedBatch> batches) const {
  if (!canary_table_.has_value()) return nullptr;
  auto canaries = std::make_shared<Canaries>();
  const auto gradients = CanaryGradients(options_.worker.start);
  for (const PushedBatch& batch : batches) {
    SHOAL_ASSIGN_OR_RETURN(const FeatureId row, CanaryRow(batch.id));
    if (batch.rejected) continue;
    canaries->rows.push_back(row);
    canaries->gradients.insert(canaries->gradients.end(), gradients.begin(),
                               gradients.end());
  }
  return canaries;
}

void ShardedClient::Push(absl::Span<const PushedBatch> batches,
                         const StepParameters& step, Done<Verdict> done) {
  PushTo(all_shards(), batches, step, std::move(done));
}

void ShardedClient::PushTo(ShardRange shards,
                           absl::Span<const PushedBatch> batches,
                           const StepParameters& step, Done<Verdict> done) {
  SHOAL_DCHECK(shards.begin < shards.end);
  SHOAL_DCHECK(CheckPushedBatches(batches).ok());
  auto canaries = CanariesOf(batches);
  if (!canaries.ok()) {
    executor_->Post(
        [done = std::move(done), status = canaries.status()]() mutable {
          std::move(done)(std::move(status));
        });
    return;
  }
  PushParts(shards, batches, step, *std::move(canaries), std::move(done));
}

void ShardedClient::PushParts(ShardRange shards,
                              absl::Span<const PushedBatch> batches,
                              const StepParameters& step,
                              std::shared_ptr<Canaries> canaries,
                              Done<Verdict> done) {
  auto fan_in = std::make_shared<FanIn<PushReply>>(
      shards, executor_,
      [done = std::move(done), canaries](
          absl::Status status, std::vector<PushReply> replies) mutable {
        if (!status.ok()) {
          std::move(done)(std::move(status));
          return;
        }
        std::move(done)(replies[0].verdict);
      });
  for (int s = shards.begin; s < shards.end; ++s) {
    shards_[s]->Push(PartOf(s, batches, step, canaries.get()),
                     options_.push_timeout,
                     FanIn<PushReply>::CompletionFor(fan_in, s, NameOf(s)));
  }
}

void ShardedClient::PushToShard(int shard, uint64_t number,
                                const PushedBatch& batch,
                                const StepParameters& step,
                                Done<PushReply> done) {
  SHOAL_DCHECK(number > 0);
  auto canaries = CanariesOf(absl::MakeConstSpan(&batch, 1));
  if (!canaries.ok()) {
    executor_->Post(
        [done = std::move(done), status = canaries.status()]() mutable {
          std::move(done)(std::move(status));
        });
    return;
  }
  PushRequest request = PartOf(shard, absl::MakeConstSpan(&batch, 1), step,
                               canaries->get());
  request.step = number;
  shards_[shard]->Push(
      std::move(request), options_.push_timeout,
      [executor = executor_, server = NameOf(shard),
       canaries = *std::move(canaries),
       done = std::move(done)](absl::StatusOr<PushReply> reply) mutable {
        if (!reply.ok()) reply = Annotate(reply.status(), server);
        executor->Post(
            [done = std::move(done), reply = std::move(reply)]() mutable {
              std::move(done)(std::move(reply));
            });
      });
}

PushRequest ShardedClient::PartOf(int shard,
                                  absl::Span<const PushedBatch> batches,
                                  const StepParameters& step,
                                  const Canaries* canaries) const {
  PushRequest request;
  request.identity = IdentityFor(shard);
  request.batches.assign(batches.begin(), batches.end());
  request.colour = step.colour;
  request.pulled = step.pulled[shard];
  if (!AllRejected(batches)) AddGradients(shard, step, canaries, &request);
  return request;
}

void ShardedClient::AddGradients(int shard, const StepParameters& step,
                                 const Canaries* canaries,
                                 PushRequest* request) const {
  for (size_t t = 0; t < step.tables.size(); ++t) {
    const TableParameters& table = step.tables[t];
    const size_t dim = options_.row_dims[t];
    const auto [begin, count] = IdsOf(table.split, shard);
    if (count == 0) continue;
    request->tables.push_back(
        {.table = static_cast<uint32_t>(t),
         .ids = absl::MakeConstSpan(table.split.ids).subspan(begin, count),
         .gradients = table.d_rows.span().subspan(begin * dim, count * dim)});
  }
  if (canaries != nullptr) {
    request->tables.push_back({.table = *canary_table_,
                               .ids = absl::MakeConstSpan(canaries->rows),
                               .gradients = canaries->gradients});
  }
  ForEachBlockOf(
      options_.map, shard, [&](uint32_t index, const DenseBlock& block) {
        request->blocks.push_back({.block = index,
                                   .gradients = step.d_dense.span().subspan(
                                       block.flat_begin, block.size())});
      });
}

}  // namespace shoal
