#ifndef SHOAL_RPC_SERVER_BYTE_BUDGET_H_
#define SHOAL_RPC_SERVER_BYTE_BUDGET_H_

#include <cstdint>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "base/executor.h"
#include "base/mutex.h"

namespace shoal {

// Limits the bytes that all calls of one server hold together. A call that
// finds no room waits, and the call that has waited longest comes first. An
// owner (one connection) gets only a part of the room, so that the calls of a
// frozen or flooding connection leave room for other connections. Thread-safe.
//
//   budget.Take(owner, 64 << 20, [](ByteBudget::Share share) {
//     … share.ShrinkTo(read); …   // the destructor gives the rest back
//   });
class ByteBudget {
 public:
  // Bytes that a call has taken. The destructor gives them back. The budget
  // must outlive the share. Thread-compatible.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(owner_, other.owner_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() { ShrinkTo(0); }

    uint64_t bytes() const { return bytes_; }
    // Gives back all but `bytes` bytes. No effect if the share has fewer.
    void ShrinkTo(uint64_t bytes);

   private:
    friend class ByteBudget;
    Share(ByteBudget* budget, uint64_t owner, uint64_t bytes)
        : budget_(budget), owner_(owner), bytes_(bytes) {}

    ByteBudget* budget_ = nullptr;
    uint64_t owner_ = 0;
    uint64_t bytes_ = 0;
  };
  using Taken = absl::AnyInvocable<void(Share) &&>;

  // At most `limit` bytes are taken at once. One owner takes at most
  // `owner_limit` bytes, but a single share may be larger. `executor` must
  // outlive the budget.
  ByteBudget(uint64_t limit, uint64_t owner_limit, Executor* executor)
      : limit_(limit), owner_limit_(owner_limit), executor_(executor) {}

  // Returns a share if there is room now that no waiting call could use.
  // REQUIRES: bytes <= limit.
  std::optional<Share> TryTake(uint64_t owner, uint64_t bytes);
  // Posts `taken` with a share as soon as there is room. REQUIRES:
  // bytes <= limit.
  void Take(uint64_t owner, uint64_t bytes, Taken taken);

  uint64_t taken_bytes() const;

 private:
  struct Waiter {
    uint64_t owner;
    uint64_t bytes;
    Taken taken;
  };

  bool OwnerHasRoom(uint64_t owner, uint64_t bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Share Add(uint64_t owner, uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveBack(uint64_t owner, uint64_t bytes);
  // Returns the tasks of the waiters that have room now. The caller posts them.
  std::vector<Task> ServeWaiters() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Post(std::vector<Task> tasks);

  const uint64_t limit_;
  const uint64_t owner_limit_;
  Executor* const executor_;
  mutable Mutex mu_;
  uint64_t taken_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, uint64_t> by_owner_ ABSL_GUARDED_BY(mu_);
  std::list<Waiter> waiters_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_BYTE_BUDGET_H_
