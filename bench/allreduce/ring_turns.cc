#include "bench/allreduce/ring_turns.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kNumberBytes = 8;
constexpr size_t kTurnBytes = 3 * kNumberBytes;

// The end of one call, for the thread that waits for it. The Collective ends
// each call by its deadline, so this wait needs none of its own.
class CallEnd {
 public:
  Done<CollectiveReply> Callback() {
    return [this](absl::StatusOr<CollectiveReply> reply) {
      MutexLock lock(&mu_);
      status_ = reply.status();
      ended_ = true;
      changed_.Signal();
    };
  }
  absl::Status Wait() {
    MutexLock lock(&mu_);
    while (!ended_) changed_.Wait(&mu_);
    return status_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

// One rank's calls and its values.
class TurnCalls {
 public:
  TurnCalls(Collective* ring, const RingTurnsOptions& options)
      : ring_(ring), options_(options) {}

  // Gives rank 0's turn to all ranks.
  absl::Status Share(AllReduceTurn* turn) {
    std::string bytes = EncodeTurn(*turn);
    const bool first = step_ == 0;
    CallEnd end;
    ring_->Broadcast(NextTag("turn of the benchmark"), /*root=*/0,
                     absl::MakeSpan(bytes.data(), bytes.size()),
                     first ? options_.first_timeout : options_.timeout,
                     end.Callback());
    SHOAL_RETURN_IF_ERROR(end.Wait());
    if (first && options_.on_begin) options_.on_begin();
    return DecodeTurn(bytes, turn);
  }

  // Makes the AllReduces of a turn. *spent is their time.
  absl::Status Make(const AllReduceTurn& turn, absl::Duration* spent) {
    values_.resize(turn.bytes / sizeof(float));
    Fill(turn.check);
    const absl::Time begin = options_.clock->Now();
    for (uint64_t call = 0; call < turn.calls; ++call) {
      CallEnd end;
      ring_->AllReduce(
          NextTag(absl::StrCat("benchmark of ", turn.bytes, " bytes")),
          absl::MakeSpan(values_), options_.timeout, end.Callback());
      SHOAL_RETURN_IF_ERROR(end.Wait());
    }
    *spent = options_.clock->Now() - begin;
    return turn.check ? CheckSums() : absl::OkStatus();
  }

 private:
  CollectiveTag NextTag(std::string name) {
    CollectiveTag tag;
    tag.step = ++step_;
    tag.name = std::move(name);
    return tag;
  }

  // Zeros stay zeros, however often they are summed.
  void Fill(bool check) {
    std::fill(values_.begin(), values_.end(), 0.0f);
    for (size_t i = 0; check && i < values_.size(); ++i) {
      values_[i] = static_cast<float>(i % 8 + Own());
    }
  }
  size_t Own() const { return static_cast<size_t>(ring_->rank()) + 1; }

  // Whole numbers below 2^24, so the sums are exact.
  absl::Status CheckSums() const {
    const auto n = static_cast<size_t>(ring_->size());
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto sum = static_cast<float>(n * (i % 8) + n * (n + 1) / 2);
      if (values_[i] == sum) continue;
      return absl::DataLossError(absl::StrCat(
          "the sum of element ", i, " of ", values_.size(), " is ", values_[i],
          " and should be ", sum,
          ": memory or network changes data on its way; run a memory test on "
          "the hosts, and look at the error counts of their network cards"));
    }
    return absl::OkStatus();
  }

  Collective* const ring_;
  const RingTurnsOptions options_;
  uint64_t step_ = 0;  // calls so far
  std::vector<float> values_;
};

uint64_t NumberAt(const std::string& bytes, size_t place) {
  uint64_t number = 0;
  for (size_t i = 0; i < kNumberBytes; ++i) {
    const auto byte =
        static_cast<unsigned char>(bytes[place * kNumberBytes + i]);
    number |= static_cast<uint64_t>(byte) << (8 * i);
  }
  return number;
}

}  // namespace

std::string EncodeTurn(const AllReduceTurn& turn) {
  std::string bytes;
  for (const uint64_t number :
       {turn.bytes, turn.calls, static_cast<uint64_t>(turn.check)}) {
    for (size_t i = 0; i < kNumberBytes; ++i) {
      bytes.push_back(static_cast<char>((number >> (8 * i)) & 0xff));
    }
  }
  return bytes;
}

absl::Status DecodeTurn(const std::string& bytes, AllReduceTurn* turn) {
  if (bytes.size() != kTurnBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank 0 says a turn in ", bytes.size(), " bytes and not ",
                     kTurnBytes, "; run the same version on all ranks"));
  }
  turn->bytes = NumberAt(bytes, 0);
  turn->calls = NumberAt(bytes, 1);
  const uint64_t check = NumberAt(bytes, 2);
  turn->check = check == 1;
  if (turn->bytes > kTurnBytesMost || turn->bytes % sizeof(float) != 0 ||
      turn->calls > TurnPlan::kMostCalls || check > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rank 0 asks for ", turn->calls, " AllReduces of ", turn->bytes,
        " bytes, and at most ", TurnPlan::kMostCalls, " of ", kTurnBytesMost,
        " bytes, a multiple of 4, are possible; run the same version on all "
        "ranks"));
  }
  return absl::OkStatus();
}

absl::Status LeadTurns(Collective* ring, const RingTurnsOptions& options,
                       TurnPlan* plan) {
  TurnCalls calls(ring, options);
  while (true) {
    AllReduceTurn turn = plan->Next();
    SHOAL_RETURN_IF_ERROR(calls.Share(&turn));
    if (turn.calls == 0) return absl::OkStatus();
    absl::Duration spent;
    SHOAL_RETURN_IF_ERROR(calls.Make(turn, &spent));
    plan->OnTurn(spent);
  }
}

absl::Status FollowTurns(Collective* ring, const RingTurnsOptions& options) {
  TurnCalls calls(ring, options);
  while (true) {
    AllReduceTurn turn;
    SHOAL_RETURN_IF_ERROR(calls.Share(&turn));
    if (turn.calls == 0) return absl::OkStatus();
    absl::Duration spent;
    SHOAL_RETURN_IF_ERROR(calls.Make(turn, &spent));
  }
}

}  // namespace shoal
