#ifndef SHOAL_RPC_SERVER_HANDLERS_H_
#define SHOAL_RPC_SERVER_HANDLERS_H_

#include <optional>
#include <string>
#include <utility>

#include "rpc/server/unary_handler.h"

namespace shoal {

// One class for each unary method of proto/shoal.proto, each in the .cc file of
// its name. A handler decodes and validates the request on the thread that read
// it, calls the service on the same thread, and encodes the reply on the thread
// that completes it. A pull that had to wait for room for its reply calls the
// service on the server's executor, if its client still waits.

class PullHandler final : public UnaryHandler {
 public:
  using UnaryHandler::UnaryHandler;
  void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
              Answer answer) override;
};

class PushHandler final : public UnaryHandler {
 public:
  using UnaryHandler::UnaryHandler;
  void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
              Answer answer) override;
};

// Stages the chunk. Serves the push when its last chunk has arrived.
class PushChunkHandler final : public UnaryHandler {
 public:
  using UnaryHandler::UnaryHandler;
  void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
              Answer answer) override;

 private:
  absl::Status HandleChunk(const grpc::ByteBuffer& request,
                           absl::Duration timeout, Answer* answer);
};

class StatsHandler final : public UnaryHandler {
 public:
  using UnaryHandler::UnaryHandler;
  void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
              Answer answer) override;
};

class RegisterHandler final : public UnaryHandler {
 public:
  using UnaryHandler::UnaryHandler;
  void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
              Answer answer) override;
};

class SaveCheckpointHandler final : public UnaryHandler {
 public:
  // `job`: the label of the job for which every request is, whatever label it
  // bears; nullopt: the label of the request counts.
  explicit SaveCheckpointHandler(ServerState* state,
                                 std::optional<std::string> job = std::nullopt)
      : UnaryHandler(state), job_(std::move(job)) {}
  void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
              Answer answer) override;

 private:
  const std::optional<std::string> job_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_HANDLERS_H_
