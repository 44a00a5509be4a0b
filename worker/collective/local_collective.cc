#include "worker/collective/local_collective.h"

#include <string>
#include <utility>

#include "worker/collective/local_group.h"

namespace shoal {
namespace {

class LocalCollective final : public Collective {
 public:
  LocalCollective(std::shared_ptr<LocalGroup> group, int rank)
      : group_(std::move(group)), rank_(rank) {}
  ~LocalCollective() override { group_->Leave(rank_); }

  int rank() const override { return rank_; }
  int size() const override { return group_->size(); }

  void AllReduce(CollectiveTag tag, absl::Span<float> values,
                 absl::Duration timeout,
                 Done<CollectiveReply> done) override {
    LocalCall call = Call(std::move(tag), CollectiveKind::kAllReduce,
                          values.size(), std::move(done));
    call.values = values;
    group_->Submit(rank_, std::move(call), timeout);
  }

  void AllGather(CollectiveTag tag, absl::Span<const char> bytes,
                 GatheredParts* parts, absl::Duration timeout,
                 Done<CollectiveReply> done) override {
    LocalCall call = Call(std::move(tag), CollectiveKind::kAllGather,
                          bytes.size(), std::move(done));
    call.given = bytes;
    call.parts = parts;
    group_->Submit(rank_, std::move(call), timeout);
  }

  void Broadcast(CollectiveTag tag, int root, absl::Span<char> bytes,
                 absl::Duration timeout,
                 Done<CollectiveReply> done) override {
    LocalCall call = Call(std::move(tag), CollectiveKind::kBroadcast,
                          bytes.size(), std::move(done));
    call.operation.root = static_cast<uint32_t>(root);
    call.bytes = bytes;
    group_->Submit(rank_, std::move(call), timeout);
  }

 private:
  LocalCall Call(CollectiveTag tag, CollectiveKind kind, uint64_t length,
                 Done<CollectiveReply> done) const {
    LocalCall call;
    call.operation = MakeOperation(kind, std::move(tag),
                                   group_->generation(), length);
    call.done = std::move(done);
    return call;
  }

  const std::shared_ptr<LocalGroup> group_;
  const int rank_;
};

}  // namespace

std::vector<std::unique_ptr<Collective>> MakeLocalCollectives(
    const LocalCollectiveOptions& options,
    absl::Span<Executor* const> executors) {
  const auto group = std::make_shared<LocalGroup>(options, executors);
  std::vector<std::unique_ptr<Collective>> ranks;
  for (int rank = 0; rank < group->size(); ++rank) {
    ranks.push_back(std::make_unique<LocalCollective>(group, rank));
  }
  return ranks;
}

}  // namespace shoal
