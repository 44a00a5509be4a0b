#include "rpc/parameter_client.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "rpc/client/chunked_push.h"
#include "rpc/client/peer.h"
#include "rpc/client/split_pull.h"
#include "rpc/transport/byte_buffer.h"
#include "rpc/transport/method_names.h"
#include "wire/codec/identity_codec.h"
#include "wire/codec/pull_codec.h"
#include "wire/codec/pull_plan.h"
#include "wire/codec/push_codec.h"
#include "wire/messages/common_messages.h"
#include "wire/messages/stats_messages.h"

namespace shoal {
namespace {

// Bytes of memory that one client keeps for later messages.
constexpr uint64_t kKeptBytes = 128 << 20;

using PayloadFlow = PayloadCounters::Flow;

// One of the counters; null if there are none.
std::atomic<uint64_t>* TotalOf(PayloadCounters* payload,
                               PayloadFlow PayloadCounters::*method,
                               std::atomic<uint64_t> PayloadFlow::*direction) {
  return payload == nullptr ? nullptr : &(payload->*method.*direction);
}

}  // namespace

absl::Status ParameterClientOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(channel.Validate());
  if (chunk_bytes < kMessageOverhead ||
      chunk_bytes > channel.max_message_bytes - kMessageOverhead) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk_bytes = ", chunk_bytes, " is not in [64 KiB, ",
                     "max_message_bytes - 64 KiB = ",
                     channel.max_message_bytes - kMessageOverhead, "]"));
  }
  if (chunks_in_flight < 1 || chunks_in_flight > 64) {
    return absl::InvalidArgumentError(absl::StrCat(
        "chunks_in_flight = ", chunks_in_flight, " is not in [1, 64]"));
  }
  return absl::OkStatus();
}

class ParameterClient::Impl {
 public:
  Impl(ParameterClientOptions options, ClientLoop* loop, Executor* executor)
      : options_(std::move(options)),
        executor_(executor),
        pool_(WireBufferPool::Create(kKeptBytes)),
        asked_(TotalOf(options_.payload, &PayloadCounters::pull,
                       &PayloadCounters::Flow::sent)),
        pulled_(TotalOf(options_.payload, &PayloadCounters::pull,
                        &PayloadCounters::Flow::received)),
        pushed_(TotalOf(options_.payload, &PayloadCounters::push,
                        &PayloadCounters::Flow::sent)),
        peer_(options_.channel, loop) {
    SHOAL_DCHECK(options_.Validate().ok());
  }

  template <typename T>
  void Post(Done<T> done, absl::StatusOr<T> result) {
    executor_->Post(
        [done = std::move(done), result = std::move(result)]() mutable {
          std::move(done)(std::move(result));
        });
  }

  // Sends a pull that fits into one message. `request` must be valid until
  // `on_reply` is called.
  void PullOne(const PullRequest& request, absl::Duration timeout,
               SplitPull::OnPart on_reply) {
    peer_.Call(kPullMethod,
               ToByteBuffer(EncodePullRequest(request, pool_.get(), &asked_)),
               timeout,
               [this, &request, on_reply = std::move(on_reply)](
                   absl::Status status, grpc::ByteBuffer bytes) mutable {
                 PullReply reply;
                 if (status.ok()) {
                   const ReceivedMessage received(bytes);
                   status = peer_.Explain(DecodePullReply(
                       received.fragments(), request, &pulled_, &reply));
                 }
                 if (status.ok()) {
                   std::move(on_reply)(std::move(reply));
                 } else {
                   std::move(on_reply)(std::move(status));
                 }
               });
  }

  void Pull(PullRequest request, absl::Duration timeout, Done<PullReply> done) {
    absl::Status status = CheckPullRequest(request);
    if (!status.ok()) return Post<PullReply>(std::move(done), status);
    const absl::Time deadline = executor_->Now() + timeout;
    const auto pull = std::make_shared<SplitPull>(
        PlanPulls(request, options_.chunk_bytes),
        [this, deadline](const PullRequest& part, SplitPull::OnPart on_reply) {
          PullOne(part, deadline - executor_->Now(), std::move(on_reply));
        });
    pull->Start(options_.chunks_in_flight,
                [this, done = std::move(done)](
                    absl::StatusOr<PullReply> reply) mutable {
                  Post<PullReply>(std::move(done), std::move(reply));
                });
  }

  void Push(PushRequest request, absl::Duration timeout, Done<PushReply> done) {
    absl::Status status = CheckPushedBatches(request.batches);
    if (!status.ok()) return Post<PushReply>(std::move(done), status);
    WireMessage message = EncodePushRequest(request, pool_.get(), &pushed_);
    auto on_verdict = [this, done = std::move(done)](
                          absl::StatusOr<PushReply> reply) mutable {
      Post<PushReply>(std::move(done), std::move(reply));
    };
    if (message.size > options_.chunk_bytes) {
      const auto push = std::make_shared<ChunkedPush>(
          &peer_, executor_, request, ++uploads_, std::move(message),
          options_.chunk_bytes, executor_->Now() + timeout);
      return push->Start(options_.chunks_in_flight, std::move(on_verdict));
    }
    peer_.Call(kPushMethod, ToByteBuffer(message), timeout,
               [this, identity = std::move(request.identity),
                on_verdict = std::move(on_verdict)](
                   absl::Status status, grpc::ByteBuffer bytes) mutable {
                 PushReply reply;
                 if (status.ok()) {
                   const ReceivedMessage received(bytes);
                   status = peer_.Explain(
                       DecodePushReply(received.fragments(), identity, &reply));
                 }
                 if (status.ok()) {
                   on_verdict(std::move(reply));
                 } else {
                   on_verdict(std::move(status));
                 }
               });
  }

  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) {
    v1::StatsRequest wire;
    ToProto(request.identity, wire.mutable_identity());
    peer_.Call(
        kStatsMethod, ToByteBuffer(wire), timeout,
        [this, identity = std::move(request.identity), done = std::move(done)](
            absl::Status status, grpc::ByteBuffer bytes) mutable {
          absl::StatusOr<StatsReply> reply;
          if (status.ok()) {
            reply = DecodeStats(bytes, identity);
          } else {
            reply = std::move(status);
          }
          Post<StatsReply>(std::move(done), std::move(reply));
        });
  }

  CopyStats copy_stats() const {
    CopyStats stats;
    for (const CopyCounter* part : {&asked_, &pulled_, &pushed_}) {
      stats.payload_bytes += part->payload_bytes.load();
      stats.copied_bytes += part->copied_bytes.load();
    }
    return stats;
  }

 private:
  absl::StatusOr<StatsReply> DecodeStats(const grpc::ByteBuffer& bytes,
                                         const CallIdentity& asked) const {
    v1::StatsReply wire;
    StatsReply reply;
    absl::Status status = ParseMessage(bytes, &wire);
    if (status.ok()) status = FromProto(wire, &reply);
    if (!status.ok()) {
      return peer_.Explain(absl::DataLossError(status.message()));
    }
    SHOAL_RETURN_IF_ERROR(peer_.Explain(
        CheckAnswers(asked, FromProto(wire.identity()), &reply.version)));
    return reply;
  }

  const ParameterClientOptions options_;
  Executor* const executor_;
  const std::shared_ptr<WireBufferPool> pool_;
  CopyCounter asked_;   // ids of pulls
  CopyCounter pulled_;  // values
  CopyCounter pushed_;  // ids and gradients
  std::atomic<uint64_t> uploads_{0};
  Peer peer_;  // last: its destructor waits for all that use the others
};

ParameterClient::ParameterClient(ParameterClientOptions options,
                                 ClientLoop* loop, Executor* executor)
    : impl_(std::make_unique<Impl>(std::move(options), loop, executor)) {}

ParameterClient::~ParameterClient() = default;

void ParameterClient::Pull(PullRequest request, absl::Duration timeout,
                           Done<PullReply> done) {
  impl_->Pull(std::move(request), timeout, std::move(done));
}

void ParameterClient::Push(PushRequest request, absl::Duration timeout,
                           Done<PushReply> done) {
  impl_->Push(std::move(request), timeout, std::move(done));
}

void ParameterClient::Stats(StatsRequest request, absl::Duration timeout,
                            Done<StatsReply> done) {
  impl_->Stats(std::move(request), timeout, std::move(done));
}

CopyStats ParameterClient::copy_stats() const { return impl_->copy_stats(); }

}  // namespace shoal
