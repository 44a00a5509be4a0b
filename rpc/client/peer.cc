#include "rpc/client/peer.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "rpc/client/client_loop_impl.h"
#include "rpc/transport/completion_tag.h"
#include "rpc/transport/grpc_status.h"

namespace shoal {
namespace {

int Millis(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

std::shared_ptr<grpc::Channel> MakeChannel(const ChannelOptions& options) {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  args.SetMaxSendMessageSize(-1);  // the server has the limit
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
              Millis(options.reconnect_initial));
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, Millis(options.reconnect_max));
  // The time that one attempt to connect gets has this name in gRPC.
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
              Millis(options.connect_timeout));
  args.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS,
              Millis(options.reconnect_max));
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, Millis(options.keepalive_time));
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Millis(options.keepalive_timeout));
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // RetryingParameterService retries: it keeps the batch id, and ends with the
  // caller's timeout.
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Each client has its own connection, so that the messages of sessions do not
  // queue behind bulk.
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(options.target(),
                                   grpc::InsecureChannelCredentials(), args);
}

// gRPC's own message when the deadline has passed.
constexpr char kDeadlineText[] = "Deadline Exceeded";

// One unary call. Deletes itself after its reply.
class UnaryCall final : public CompletionTag, public Peer::Activity {
 public:
  explicit UnaryCall(Peer* peer) : peer_(peer) {}

  void Start(const char* method, const grpc::ByteBuffer& request,
             absl::Duration timeout, Peer::OnReply on_reply) {
    MutexLock lock(&mu_);
    on_reply_ = std::move(on_reply);
    timeout_ = timeout;
    peer_->Prepare(&context_);
    const absl::Duration bounded =
        std::clamp(timeout, absl::ZeroDuration(), absl::Hours(24));
    // The monotonic clock does not jump.
    context_.set_deadline(
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                     gpr_time_from_micros(absl::ToInt64Microseconds(bounded),
                                          GPR_TIMESPAN)));
    reader_ = peer_->stub()->PrepareUnaryCall(&context_, method, request,
                                              peer_->queue());
    reader_->StartCall();
    reader_->Finish(&reply_, &status_, Tag());
  }

  void Cancel() override { context_.TryCancel(); }

  void OnEvent(bool ok) override {
    Peer::OnReply on_reply;
    absl::Status status;
    grpc::ByteBuffer reply;
    {
      MutexLock lock(&mu_);
      on_reply = std::move(on_reply_);
      if (status_.ok()) reply.Swap(&reply_);
      status = status_.error_message() == kDeadlineText
                   ? peer_->Explain(absl::DeadlineExceededError(
                         absl::StrCat("no answer within ",
                                      absl::FormatDuration(absl::Ceil(
                                          timeout_, absl::Milliseconds(1))))))
                   : peer_->Explain(status_);
    }
    std::move(on_reply)(std::move(status), std::move(reply));
    on_reply = nullptr;
    peer_->Remove(this);
    delete this;
  }

 private:
  Peer* const peer_;
  Mutex mu_;
  absl::Duration timeout_;
  Peer::OnReply on_reply_;
  grpc::ClientContext context_;
  grpc::ByteBuffer reply_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader_;
};

}  // namespace

Peer::Peer(ChannelOptions options, ClientLoop* loop)
    : options_(std::move(options)),
      authorization_(options_.token.empty()
                         ? ""
                         : absl::StrCat("Bearer ", options_.token)),
      queue_(&loop->impl_->queue),
      stub_(MakeChannel(options_)) {
  SHOAL_DCHECK(options_.Validate().ok());
}

Peer::~Peer() {
  MutexLock lock(&mu_);
  closed_ = true;
  for (Activity* activity : active_) activity->Cancel();
  while (!active_.empty()) idle_.Wait(&mu_);
}

bool Peer::Add(Activity* activity) {
  MutexLock lock(&mu_);
  if (closed_) return false;
  active_.insert(activity);
  return true;
}

void Peer::Remove(Activity* activity) {
  MutexLock lock(&mu_);
  active_.erase(activity);
  if (active_.empty()) idle_.SignalAll();
}

void Peer::Prepare(grpc::ClientContext* context) const {
  if (!authorization_.empty()) {
    context->AddMetadata("authorization", authorization_);
  }
}

void Peer::Call(const char* method, const grpc::ByteBuffer& request,
                absl::Duration timeout, OnReply on_reply) {
  if (timeout <= absl::ZeroDuration()) {
    return std::move(on_reply)(
        Explain(absl::DeadlineExceededError("no time was left for the call")),
        {});
  }
  auto call = std::make_unique<UnaryCall>(this);
  if (!Add(call.get())) {
    return std::move(on_reply)(
        Explain(absl::CancelledError("the client is being destroyed")), {});
  }
  // The event of the call may come, and delete the call, before Start returns.
  call.release()->Start(method, request, timeout, std::move(on_reply));
}

absl::Status Peer::Explain(const grpc::Status& status) const {
  return Explain(FromGrpcStatus(status));
}

absl::Status Peer::Explain(const absl::Status& status) const {
  return Annotate(status,
                  absl::StrCat(options_.peer, " (", options_.target(), ")"));
}

}  // namespace shoal
