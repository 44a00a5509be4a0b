#include <utility>

#include "rpc/server/handlers.h"
#include "rpc/transport/byte_buffer.h"
#include "wire/messages/register_messages.h"

namespace shoal {

void RegisterHandler::Handle(const grpc::ByteBuffer& request,
                             absl::Duration timeout, Answer answer) {
  absl::StatusOr<ClusterService*> cluster = state()->cluster();
  if (!cluster.ok()) return answer.Send(cluster.status());
  v1::RegisterRequest wire;
  RegisterRequest registration;
  absl::Status status = ParseMessage(request, &wire);
  if (status.ok()) status = FromProto(wire, &registration);
  if (!status.ok()) return answer.Send(std::move(status));
  registration.peer = answer.peer();
  (*cluster)->Register(std::move(registration), timeout,
                       [answer = std::move(answer)](
                           absl::StatusOr<RegisterReply> reply) mutable {
                         if (!reply.ok()) return answer.Send(reply.status());
                         v1::RegisterReply wire_reply;
                         ToProto(*reply, &wire_reply);
                         answer.Send(ToByteBuffer(wire_reply));
                       });
}

}  // namespace shoal
