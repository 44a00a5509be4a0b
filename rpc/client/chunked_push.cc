#include "rpc/client/chunked_push.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "rpc/transport/byte_buffer.h"
#include "rpc/transport/method_names.h"

namespace shoal {

ChunkedPush::ChunkedPush(Peer* peer, const Executor* clock,
                         const PushRequest& request, uint64_t upload,
                         WireMessage message, uint64_t chunk_bytes,
                         absl::Time deadline)
    : peer_(peer),
      clock_(clock),
      message_(std::move(message)),
      chunk_bytes_(chunk_bytes),
      deadline_(deadline),
      result_(absl::DataLossError(
          "the server took all chunks and gave no verdict")) {
  SHOAL_DCHECK(message_.fragments.size() == 1);
  head_.identity = request.identity;
  head_.batch = request.batches[0].id;
  head_.upload = upload;
  head_.count =
      static_cast<uint32_t>((message_.size + chunk_bytes_ - 1) / chunk_bytes_);
  head_.total_bytes = message_.size;
  head_.crc32c = Crc32c(message_.fragments[0]);
}

void ChunkedPush::Start(int in_flight, OnVerdict on_verdict) {
  const uint32_t lanes =
      std::min(head_.count, static_cast<uint32_t>(std::max(1, in_flight)));
  {
    MutexLock lock(&mu_);
    on_verdict_ = std::move(on_verdict);
    lanes_ = lanes;
  }
  for (uint32_t i = 0; i < lanes; ++i) SendNext();
}

void ChunkedPush::SendNext() {
  PushChunk chunk = head_;
  OnVerdict on_verdict;
  absl::StatusOr<PushReply> result;
  {
    MutexLock lock(&mu_);
    if (!failed_ && next_ < head_.count) {
      chunk.index = next_++;
    } else {
      if (--lanes_ > 0) return;
      on_verdict = std::move(on_verdict_);
      result = std::move(result_);
    }
  }
  if (on_verdict != nullptr) return std::move(on_verdict)(std::move(result));
  const absl::string_view data =
      message_.fragments[0].substr(chunk.index * chunk_bytes_, chunk_bytes_);
  peer_->Call(
      kPushChunkMethod,
      ToByteBuffer(EncodePushChunkHead(chunk, data.size()),
                   message_.buffer.get(), data),
      deadline_ - clock_->Now(),
      [self = shared_from_this()](absl::Status status, grpc::ByteBuffer bytes) {
        self->OnReply(std::move(status), bytes);
      });
}

void ChunkedPush::OnReply(absl::Status status, const grpc::ByteBuffer& bytes) {
  std::optional<PushReply> push;
  if (status.ok()) {
    const ReceivedMessage received(bytes);
    status = peer_->Explain(
        DecodePushChunkReply(received.fragments(), head_.identity, &push));
  }
  {
    MutexLock lock(&mu_);
    // The first error is the cause. Later errors are its consequences.
    if (!status.ok() && !failed_) {
      failed_ = true;
      result_ = std::move(status);
    } else if (push.has_value() && !failed_) {
      result_ = *push;
    }
  }
  SendNext();
}

}  // namespace shoal
