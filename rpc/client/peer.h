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

// The client's side of a connection to one server, and the calls on it.
// Thread-safe.
class Peer {
 public:
  // A call or stream that the destructor of Peer must cancel.
  class Activity {
   public:
    // May be called at any time while the activity is registered, on any
    // thread.
    virtual void Cancel() = 0;

   protected:
    ~Activity() = default;
  };

  // Called once, usually on a thread of the loop. It may decode and post, and
  // must do nothing that takes longer. The status names the peer. `reply` is
  // empty unless the status is OK.
  using OnReply =
      absl::AnyInvocable<void(absl::Status, grpc::ByteBuffer reply) &&>;

  // Connects at the first call, and again whenever the connection is lost.
  // `loop` must outlive the peer. REQUIRES: options.Validate().ok().
  Peer(ChannelOptions options, ClientLoop* loop);
  // Cancels all activities and waits until their last event was handled.
  // REQUIRES: the caller is not a thread of the loop.
  ~Peer();

  // `on_reply` may run before Call returns, if the call cannot be made.
  void Call(const char* method, const grpc::ByteBuffer& request,
            absl::Duration timeout, OnReply on_reply);

  // The following functions are for streams. Add registers an activity; it
  // returns false if the peer is being destroyed. Remove undoes Add.
  bool Add(Activity* activity);
  void Remove(Activity* activity);
  // Adds the metadata of every call to its context.
  void Prepare(grpc::ClientContext* context) const;
  grpc::GenericStub* stub() { return &stub_; }
  grpc::CompletionQueue* queue() { return queue_; }
  const std::string& address() const { return options_.address; }

  // Adds the peer's name and address to the message of a call's status.
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
