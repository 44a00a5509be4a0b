#include "rpc/server/server_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/token.h"

namespace shoal {
namespace {

// One connection may have 1 / kConnectionPart of a budget.
constexpr uint64_t kConnectionPart = 4;

CodecLimits MakeLimits(const RpcServerOptions& options) {
  CodecLimits limits;
  limits.max_reply_bytes = options.max_message_bytes;
  return limits;
}

ChunkAssemblerOptions MakeAssemblerOptions(const RpcServerOptions& options) {
  ChunkAssemblerOptions result;
  result.max_staged_bytes = options.max_staged_bytes;
  result.deadline = options.chunk_deadline;
  return result;
}

}  // namespace

ServerState::ServerState(const RpcServerOptions& options,
                         ClusterService* cluster, Executor* executor)
    : options_(options),
      limits_(MakeLimits(options)),
      cluster_(cluster),
      executor_(executor),
      authorization_(absl::StrCat("Bearer ", options.token)),
      buffers_(WireBufferPool::Create(options.max_kept_bytes)),
      pull_copies_(options.payload == nullptr
                       ? nullptr
                       : &options.payload->pull.received),
      push_copies_(options.payload == nullptr
                       ? nullptr
                       : &options.payload->push.received),
      pull_frames_(options.max_kept_bytes),
      push_frames_(options.max_kept_bytes),
      request_budget_(options.max_request_bytes,
                      options.max_request_bytes / kConnectionPart, executor),
      reply_budget_(options.max_reply_bytes,
                    options.max_reply_bytes / kConnectionPart, executor),
      transfers_(
          std::make_shared<TransferWatch>(options.transfer_deadline, executor)),
      assembler_(MakeAssemblerOptions(options)) {}

absl::Status ServerState::Authenticate(
    const grpc::ServerContext& context) const {
  if (options_.token.empty()) return absl::OkStatus();
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) {
    return absl::UnauthenticatedError(
        "the call has no token: give every process the same --token_file");
  }
  const absl::string_view given(found->second.data(), found->second.size());
  if (!ConstantTimeEquals(given, authorization_)) {
    return absl::UnauthenticatedError(
        "the call's token is not this job's: give every process the same "
        "--token_file");
  }
  return absl::OkStatus();
}

void ServerState::set_parameters(ParameterService* parameters) {
  MutexLock lock(&mu_);
  parameters_ = parameters;
}

absl::StatusOr<ParameterService*> ServerState::parameters() {
  MutexLock lock(&mu_);
  if (parameters_ == nullptr) {
    return absl::UnavailableError("starting: the shard is not ready yet");
  }
  return parameters_;
}

absl::StatusOr<ClusterService*> ServerState::cluster() const {
  if (cluster_ == nullptr) {
    return absl::UnimplementedError(
        "this process is not the job's coordinator: connect to ps 0");
  }
  return cluster_;
}

absl::StatusOr<std::optional<ChunkAssembler::Whole>> ServerState::Stage(
    const PushChunk& chunk, std::shared_ptr<const void> owner) {
  MutexLock lock(&mu_);
  auto result = assembler_.Add(chunk, std::move(owner), executor_->Now());
  if (assembler_.uploads() > 0 && !expiry_scheduled_) {
    ScheduleExpiry(assembler_.NextExpiry());
  }
  return result;
}

void ServerState::ReleaseStaged(uint64_t bytes) {
  MutexLock lock(&mu_);
  assembler_.Release(bytes);
}

void ServerState::ScheduleExpiry(absl::Time when) {
  expiry_scheduled_ = true;
  executor_->PostAt(when, [weak = weak_from_this()] {
    const std::shared_ptr<ServerState> self = weak.lock();
    if (self == nullptr) return;
    MutexLock lock(&self->mu_);
    self->expiry_scheduled_ = false;
    self->assembler_.Expire(self->executor_->Now());
    if (self->assembler_.uploads() > 0) {
      self->ScheduleExpiry(self->assembler_.NextExpiry());
    }
  });
}

void ServerState::Enter() {
  MutexLock lock(&mu_);
  ++inside_;
}

void ServerState::Leave() {
  MutexLock lock(&mu_);
  if (--inside_ == 0) all_left_.SignalAll();
}

void ServerState::WaitUntilAllLeft() {
  MutexLock lock(&mu_);
  while (inside_ > 0) all_left_.Wait(&mu_);
}

}  // namespace shoal
