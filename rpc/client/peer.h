#ifndef SHOAL_RPC_CLIENT_PEER_H_
#define SHOAL_RPC_CLIENT_PEER_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "rpc/channel_options.h"
#include "rpc/client_loop.h"

namespace shoal {

// The client's end of one connection to one server, and the calls on it.
// Thread-safe.
class Peer {
 public:
  // Something in progress that the peer's end has to cut short.
  class Activity {
   public:
    // May be called at any time while it is registered; on any thread.
    virtual void Cancel() = 0;

   protected:
    ~Activity() = default;
  };

  // Runs once, as a rule on a thread of the loop: decode and post, nothing
  // else. A status names the peer. `reply` is empty unless the status is OK.
  using OnReply =
      absl::AnyInvocable<void(absl::Status, grpc::ByteBuffer reply) &&>;

  // REQUIRES: options.Validate().ok(). `loop` must outlive the peer. Connects
  // when first used, and again whenever the connection is lost.
  Peer(ChannelOptions options, ClientLoop* loop);
  // Cancels what is in progress and waits until its last event was handled. Not
  // on a thread of the loop.
  ~Peer();

  // `on_reply` may run inside the call where it cannot be made.
  void Call(const char* method, const grpc::ByteBuffer& request,
            absl::Duration timeout, OnReply on_reply);

  // For streams: registers and forgets an activity; whether the peer still
  // takes one; what every call needs in its context.
  bool Add(Activity* activity);
  void Remove(Activity* activity);
  void Prepare(grpc::ClientContext* context) const;
  grpc::GenericStub* stub() { return &stub_; }
  grpc::CompletionQueue* queue() { return queue_; }
  const std::string& address() const { return options_.address; }

  // The status of a call in words that name the peer.
  absl::Status Explain(const grpc::Status& status) const;
  absl::Status Explain(const absl::Status& status) const;

 private:
  const ChannelOptions options_;
  const std::string authorization_;
  grpc::CompletionQueue* const queue_;
  grpc::GenericStub stub_;
  Mutex mu_;
  CondVar idle_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::set<Activity*> active_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_CLIENT_PEER_H_
