#ifndef SHOAL_RPC_CLIENT_CHUNKED_PUSH_H_
#define SHOAL_RPC_CLIENT_CHUNKED_PUSH_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "core/parameter_service.h"
#include "rpc/client/peer.h"
#include "wire/codec/chunk_codec.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// Sends one encoded push as chunks, a few at a time. Its calls keep it alive.
// Thread-safe.
class ChunkedPush : public std::enable_shared_from_this<ChunkedPush> {
 public:
  using OnVerdict = absl::AnyInvocable<void(absl::StatusOr<PushReply>) &&>;

  // `upload` is a number that differs from those of earlier attempts at the
  // same batches. `deadline` is a time of `clock`. `peer` and `clock` must
  // outlive the calls. REQUIRES: `message` is one fragment.
  ChunkedPush(Peer* peer, const Executor* clock, const PushRequest& request,
              uint64_t upload, WireMessage message, uint64_t chunk_bytes,
              absl::Time deadline);

  // Sends the chunks with at most `in_flight` calls at once. `on_verdict` runs
  // once, when every call is over, on a thread of the loop.
  void Start(int in_flight, OnVerdict on_verdict);

 private:
  // The next step of a lane: sends a chunk, or ends the lane if no chunk is
  // left. The lane that ends last calls on_verdict_.
  void SendNext();
  void OnReply(absl::Status status, const grpc::ByteBuffer& bytes);

  Peer* const peer_;
  const Executor* const clock_;
  const WireMessage message_;
  const uint64_t chunk_bytes_;
  const absl::Time deadline_;
  PushChunk head_;  // fields of every chunk except the index; constant

  Mutex mu_;
  uint32_t next_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t lanes_ ABSL_GUARDED_BY(mu_) = 0;  // each with a call under way
  bool failed_ ABSL_GUARDED_BY(mu_) = false;
  absl::StatusOr<PushReply> result_ ABSL_GUARDED_BY(mu_);
  OnVerdict on_verdict_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_CLIENT_CHUNKED_PUSH_H_
