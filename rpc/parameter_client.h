#ifndef SHOAL_RPC_PARAMETER_CLIENT_H_
#define SHOAL_RPC_PARAMETER_CLIENT_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "base/executor.h"
#include "base/saturating.h"
#include "core/parameter_service.h"
#include "core/payload_bytes.h"
#include "rpc/channel_options.h"
#include "rpc/client_loop.h"
#include "rpc/copy_stats.h"

namespace shoal {

struct ParameterClientOptions {
  ChannelOptions channel;
  // Bytes of a chunk; at most the server's max_message_bytes less 64 KiB. A
  // push with more bytes on the wire is sent in chunks of this size, and a pull
  // that asks for more bytes is sent as several pulls. Smaller chunks share the
  // connection more evenly and cost more calls.
  uint64_t chunk_bytes = 16 << 20;
  // Chunks of one push, or parts of one pull, that are under way at once.
  int chunks_in_flight = 3;
  // The counters of this process, to which the client adds its payload; null:
  // none. They outlive the client.
  PayloadCounters* payload = nullptr;

  absl::Status Validate() const;

  // Upper bound on the memory of a worker's calls with `batches` batches under
  // way. `message_bytes` are the bytes of one batch's pull or push over all
  // shards (wire/codec/message_bytes.h). Each message counts twice: as it is
  // encoded, and as gRPC holds it.
  static uint64_t MemoryBytes(uint64_t message_bytes, uint64_t batches) {
    return SaturatingTimes(message_bytes, 2 * batches);
  }
};

// A shard in another process, called over gRPC. Every error names the server.
// Errors beyond those of ParameterService: DATA_LOSS (the reply is not what was
// asked for), CANCELLED (the client was destroyed before the reply), and others
// that the server or gRPC may return.
//
// Gradients are copied once, before Push returns. Ids and values are copied
// once, on a thread of the loop, before `done` is posted.
class ParameterClient final : public ParameterService {
 public:
  // Callbacks `done` are posted on `executor`. `loop` and `executor` must
  // outlive the client. REQUIRES: options.Validate().ok().
  ParameterClient(ParameterClientOptions options, ClientLoop* loop,
                  Executor* executor);
  // Cancels calls in progress, and posts their `done` before it returns.
  // REQUIRES: the caller is not a thread of the loop.
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
