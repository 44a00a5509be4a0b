#include <utility>

#include "rpc/server/handlers.h"
#include "rpc/transport/byte_buffer.h"
#include "wire/messages/common_messages.h"
#include "wire/messages/stats_messages.h"

namespace shoal {

void StatsHandler::Handle(const grpc::ByteBuffer& request,
                          absl::Duration timeout, Answer answer) {
  absl::StatusOr<ParameterService*> parameters = state()->parameters();
  if (!parameters.ok()) return answer.Send(parameters.status());
  v1::StatsRequest wire;
  absl::Status status = ParseMessage(request, &wire);
  if (!status.ok()) return answer.Send(std::move(status));
  StatsRequest stats;
  stats.identity = FromProto(wire.identity());
  (*parameters)
      ->Stats(std::move(stats), timeout,
              [identity = wire.identity(), answer = std::move(answer)](
                  absl::StatusOr<StatsReply> reply) mutable {
                if (!reply.ok()) return answer.Send(reply.status());
                v1::StatsReply wire_reply;
                ToProto(*reply, &wire_reply);
                *wire_reply.mutable_identity() = std::move(identity);
                answer.Send(ToByteBuffer(wire_reply));
              });
}

}  // namespace shoal
