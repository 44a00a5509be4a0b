#include <utility>

#include "rpc/server/handlers.h"
#include "rpc/transport/byte_buffer.h"

namespace shoal {

void SaveCheckpointHandler::Handle(const grpc::ByteBuffer& request,
                                   absl::Duration timeout, Answer answer) {
  absl::StatusOr<ClusterService*> cluster = state()->cluster();
  if (!cluster.ok()) return answer.Send(cluster.status());
  v1::SaveCheckpointRequest wire;
  absl::Status status = ParseMessage(request, &wire);
  if (!status.ok()) return answer.Send(std::move(status));
  (*cluster)->SaveCheckpoint(
      SaveCheckpointRequest{job_.value_or(wire.job())}, timeout,
      [answer =
           std::move(answer)](absl::StatusOr<SavedCheckpoint> saved) mutable {
        if (!saved.ok()) return answer.Send(saved.status());
        v1::SaveCheckpointReply reply;
        reply.set_path(saved->path);
        reply.set_step(saved->step);
        answer.Send(ToByteBuffer(reply));
      });
}

}  // namespace shoal
