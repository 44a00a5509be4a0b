#include "worker/collective/local_group.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "worker/collective/collective_work.h"

namespace shoal {

LocalGroup::LocalGroup(const LocalCollectiveOptions& options,
                       absl::Span<Executor* const> executors)
    : options_(options),
      executors_(executors.begin(), executors.end()),
      ranks_(executors.size()) {
  SHOAL_DCHECK(!executors.empty() && options.max_queued >= 4096);
}

void LocalGroup::Complete(int rank, LocalCall call,
                          const absl::Status& status) const {
  executors_[static_cast<size_t>(rank)]->Post(
      [done = std::move(call.done), status]() mutable {
        if (status.ok()) {
          std::move(done)(CollectiveReply());
        } else {
          std::move(done)(status);
        }
      });
}

void LocalGroup::Submit(int rank, LocalCall call, absl::Duration timeout) {
  Executor* const executor = executors_[static_cast<size_t>(rank)];
  uint64_t number = 0;
  {
    MutexLock lock(&mu_);
    Rank& own = ranks_[static_cast<size_t>(rank)];
    absl::Status refused = ended_;
    if (refused.ok() &&
        own.queue.size() >= static_cast<size_t>(options_.max_queued)) {
      refused = absl::ResourceExhaustedError(
          absl::StrCat(options_.max_queued, " operations of rank ", rank,
                       " are queued already"));
    }
    if (!refused.ok()) {
      Complete(rank, std::move(call), refused);
      return;
    }
    number = own.called++;
    call.number = number;
    own.queue.push_back(std::move(call));
  }
  Work();
  // A timer for ever would stay for ever.
  if (timeout == absl::InfiniteDuration()) return;
  {
    MutexLock lock(&mu_);
    const Rank& own = ranks_[static_cast<size_t>(rank)];
    if (own.queue.empty() || own.queue.back().number < number) return;
  }
  executor->PostAt(executor->Now() + timeout,
                   [group = weak_from_this(), rank, number] {
                     const std::shared_ptr<LocalGroup> self = group.lock();
                     if (self != nullptr) self->OnDeadline(rank, number);
                   });
}

std::vector<LocalCall> LocalGroup::TakeRound() {
  for (const Rank& rank : ranks_) {
    if (rank.queue.empty()) return {};
  }
  std::vector<LocalCall> round;
  for (Rank& rank : ranks_) {
    round.push_back(std::move(rank.queue.front()));
    rank.queue.pop_front();
  }
  return round;
}

void LocalGroup::Work() {
  while (true) {
    std::vector<LocalCall> round;
    {
      MutexLock lock(&mu_);
      if (working_) return;
      round = TakeRound();
      if (round.empty()) return;
      working_ = true;
    }
    const absl::Status status = Perform(absl::MakeSpan(round));
    // Posted before another thread can take the next round, so that operations
    // complete in their order.
    for (int rank = 0; rank < size(); ++rank) {
      Complete(rank, std::move(round[static_cast<size_t>(rank)]), status);
    }
    MutexLock lock(&mu_);
    working_ = false;
    idle_.SignalAll();
  }
}

absl::Status LocalGroup::Perform(absl::Span<LocalCall> round) const {
  std::vector<CollectiveOperation> operations;
  for (const LocalCall& call : round) operations.push_back(call.operation);
  const absl::Status agreed =
      CheckOperations(operations, options_.max_part_bytes);
  if (!agreed.ok()) return agreed;
  switch (operations[0].kind) {
    case CollectiveKind::kAllReduce: {
      std::vector<absl::Span<float>> values;
      for (const LocalCall& call : round) values.push_back(call.values);
      SumRanks(options_.reduction, values);
      break;
    }
    case CollectiveKind::kAllGather: {
      std::vector<absl::Span<const char>> given;
      std::vector<GatheredParts*> parts;
      for (const LocalCall& call : round) {
        given.push_back(call.given);
        parts.push_back(call.parts);
      }
      GatherRanks(given, parts);
      break;
    }
    case CollectiveKind::kBroadcast: {
      std::vector<absl::Span<char>> bytes;
      for (const LocalCall& call : round) bytes.push_back(call.bytes);
      BroadcastRanks(static_cast<int>(operations[0].root), bytes);
      break;
    }
  }
  return absl::OkStatus();
}

std::string LocalGroup::Missing(uint64_t number) const {
  std::vector<std::string> missing;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].called <= number) missing.push_back(absl::StrCat(rank));
  }
  if (missing.empty()) return "the operations before it";
  return absl::StrCat(missing.size() == 1 ? "rank " : "ranks ",
                      absl::StrJoin(missing, ", "));
}

void LocalGroup::OnDeadline(int rank, uint64_t number) {
  MutexLock lock(&mu_);
  std::deque<LocalCall>& queue = ranks_[static_cast<size_t>(rank)].queue;
  if (queue.empty() || queue.front().number > number) return;
  const size_t at = static_cast<size_t>(number - queue.front().number);
  SHOAL_DCHECK(at < queue.size() && queue[at].number == number);
  const std::string what = queue[at].operation.ToString();
  const std::string missing = Missing(number);
  LocalCall late = std::move(queue[at]);
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
  Complete(rank, std::move(late),
           absl::DeadlineExceededError(absl::StrCat(
               what, " of rank ", rank, " waits for ", missing)));
  End(absl::UnavailableError(absl::StrCat("rank ", rank, " gave up ", what,
                                          ", which waits for ", missing)));
}

void LocalGroup::End(const absl::Status& status) {
  if (ended_.ok()) ended_ = status;
  for (int rank = 0; rank < size(); ++rank) {
    std::deque<LocalCall> queue;
    queue.swap(ranks_[static_cast<size_t>(rank)].queue);
    for (LocalCall& call : queue) Complete(rank, std::move(call), ended_);
  }
}

void LocalGroup::Leave(int rank) {
  MutexLock lock(&mu_);
  while (working_) idle_.Wait(&mu_);
  std::deque<LocalCall> queue;
  queue.swap(ranks_[static_cast<size_t>(rank)].queue);
  for (LocalCall& call : queue) {
    Complete(rank, std::move(call),
             absl::CancelledError("the collective was destroyed"));
  }
  End(absl::UnavailableError(absl::StrCat("rank ", rank, " has left")));
}

}  // namespace shoal
