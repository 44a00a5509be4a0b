#ifndef SHOAL_RPC_SERVER_HANDLERS_H_
#define SHOAL_RPC_SERVER_HANDLERS_H_

#include "rpc/server/unary_handler.h"

namespace shoal {

// One class for each unary method of proto/shoal.proto; each in the .cc file of
// its name. All decode and validate on the thread that read the request, call
// the service there (a pull that waited for its reply's room: on the server's
// executor, if its client still waits), and encode the reply on the thread that
// completes it.

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

// Stages the chunk; with the last one of a push, serves the push.
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
  using UnaryHandler::UnaryHandler;
  void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
              Answer answer) override;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_HANDLERS_H_
