#include "rpc/cluster_client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/client/client_stream.h"
#include "rpc/client/peer.h"
#include "rpc/transport/byte_buffer.h"
#include "rpc/transport/method_names.h"
#include "wire/messages/register_messages.h"

namespace shoal {
namespace {

class ClientSession final : public ClusterSession {
 public:
  explicit ClientSession(std::shared_ptr<ClientStream> stream)
      : stream_(std::move(stream)) {}
  ~ClientSession() override { stream_->Close(); }
  void Send(ProcessMessage message) override {
    stream_->Send(std::move(message));
  }

 private:
  const std::shared_ptr<ClientStream> stream_;
};

}  // namespace

absl::Status ClusterClientOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(channel.Validate());
  if (max_queued_bytes < (1 << 20)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "max_queued_bytes = ", max_queued_bytes, " is below 1 MiB"));
  }
  return absl::OkStatus();
}

class ClusterClient::Impl {
 public:
  Impl(ClusterClientOptions options, ClientLoop* loop, Executor* executor,
       Executor* probes)
      : max_queued_bytes_(options.max_queued_bytes),
        executor_(executor),
        probes_(probes),
        peer_(std::move(options.channel), loop) {}

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) {
    v1::RegisterRequest wire;
    ToProto(request, &wire);
    peer_.Call(kRegisterMethod, ToByteBuffer(wire), timeout,
               [this, done = std::move(done)](absl::Status status,
                                              grpc::ByteBuffer bytes) mutable {
                 absl::StatusOr<RegisterReply> reply =
                     status.ok() ? DecodeReply(bytes) : std::move(status);
                 executor_->Post([done = std::move(done),
                                  reply = std::move(reply)]() mutable {
                   std::move(done)(std::move(reply));
                 });
               });
  }

  void SaveCheckpoint(const SaveCheckpointRequest& request,
                      absl::Duration timeout, Done<SavedCheckpoint> done) {
    v1::SaveCheckpointRequest wire;
    wire.set_job(request.job);
    peer_.Call(kSaveCheckpointMethod, ToByteBuffer(wire), timeout,
               [this, done = std::move(done)](absl::Status status,
                                              grpc::ByteBuffer bytes) mutable {
                 v1::SaveCheckpointReply wire_reply;
                 if (status.ok()) status = ParseMessage(bytes, &wire_reply);
                 absl::StatusOr<SavedCheckpoint> saved =
                     SavedCheckpoint{wire_reply.path(), wire_reply.step()};
                 if (!status.ok()) saved = std::move(status);
                 executor_->Post([done = std::move(done),
                                  saved = std::move(saved)]() mutable {
                   std::move(done)(std::move(saved));
                 });
               });
  }

  std::unique_ptr<ClusterSession> OpenSession(const SessionOpening& opening,
                                              SessionHandler handler) {
    auto stream = std::make_shared<ClientStream>(
        &peer_, executor_, probes_, max_queued_bytes_, std::move(handler));
    peer_.Add(stream.get());
    stream->Start(opening);
    return std::make_unique<ClientSession>(std::move(stream));
  }

 private:
  absl::StatusOr<RegisterReply> DecodeReply(
      const grpc::ByteBuffer& bytes) const {
    v1::RegisterReply wire;
    RegisterReply reply;
    absl::Status status = ParseMessage(bytes, &wire);
    if (status.ok()) status = FromProto(wire, &reply);
    if (!status.ok())
      return peer_.Explain(absl::DataLossError(status.message()));
    return reply;
  }

  const uint64_t max_queued_bytes_;
  Executor* const executor_;
  Executor* const probes_;
  Peer peer_;  // last: its destructor waits for all that use the others
};

ClusterClient::ClusterClient(ClusterClientOptions options, ClientLoop* loop,
                             Executor* executor, Executor* probes)
    : impl_(std::make_unique<Impl>(std::move(options), loop, executor,
                                   probes)) {}

ClusterClient::~ClusterClient() = default;

void ClusterClient::Register(RegisterRequest request, absl::Duration timeout,
                             Done<RegisterReply> done) {
  impl_->Register(std::move(request), timeout, std::move(done));
}

std::unique_ptr<ClusterSession> ClusterClient::OpenSession(
    SessionOpening opening, SessionHandler handler) {
  return impl_->OpenSession(opening, std::move(handler));
}

void ClusterClient::SaveCheckpoint(SaveCheckpointRequest request,
                                   absl::Duration timeout,
                                   Done<SavedCheckpoint> done) {
  impl_->SaveCheckpoint(request, timeout, std::move(done));
}

}  // namespace shoal
