#ifndef SHOAL_RPC_PARAMETER_CLIENT_H_
#define SHOAL_RPC_PARAMETER_CLIENT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "base/executor.h"
#include "base/saturating.h"
#include "core/parameter_service.h"
#include "rpc/channel_options.h"
#include "rpc/client_loop.h"
#include "rpc/copy_stats.h"

namespace shoal {

struct ParameterClientOptions {
  ChannelOptions channel;
  // A push that takes more bytes on the wire travels in chunks of this size; a
  // pull that asks for more, as several pulls. Not above the server's
  // max_message_bytes less 64 KiB. Smaller ones share the connection more
  // evenly and cost more calls.
  uint64_t chunk_bytes = 16 << 20;
  // Chunks of one push, and parts of one pull, that are under way at once.
  int chunks_in_flight = 3;

  absl::Status Validate() const;

  // What the calls of a worker take at most, with so many batches under way,
  // each of whose pulls and pushes is of so many bytes over all shards
  // (wire/codec/message_bytes.h): a message as it is encoded and as gRPC holds
  // it.
  static uint64_t MemoryBytes(uint64_t message_bytes, uint64_t batches) {
    return SaturatingTimes(message_bytes, 2 * batches);
  }
};

// A shard in another process, over gRPC. Every error names the server. Errors
// beyond ParameterService's own: DATA_LOSS (a reply that is not what was asked
// for), CANCELLED (the client was destroyed first), others that the server or
// gRPC may return.
//
// Gradients are copied once, before Push returns; ids and values once, on a
// thread of the loop, before `done` is posted.
class ParameterClient final : public ParameterService {
 public:
  // REQUIRES: options.Validate().ok(). `done`s are posted on `executor`. The
  // loop and the executor must outlive the client.
  ParameterClient(ParameterClientOptions options, ClientLoop* loop,
                  Executor* executor);
  // Cancels calls in progress; their `done`s are posted before it returns. Not
  // on a thread of the loop.
  ~ParameterClient() override;

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override;
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override;
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override;

  CopyStats copy_stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_PARAMETER_CLIENT_H_
