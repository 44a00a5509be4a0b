#include "bench/micro/raw_transport.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_unary_call.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/shoal.grpc.pb.h"
#include "rpc/transport/completion_tag.h"
#include "rpc/transport/method_names.h"

namespace shoal {
namespace {

using Service =
    v1::ParameterServer::WithRawMethod_Push<v1::ParameterServer::Service>;
constexpr int kPlaces = 32;

// A buffer that shares `memory`, which must outlive the buffer.
grpc::ByteBuffer BufferOf(const std::string& memory) {
  grpc::Slice slice(memory.data(), memory.size(), grpc::Slice::STATIC_SLICE);
  return grpc::ByteBuffer(&slice, 1);
}

// A slot for one call on the server.
class Place final : public CompletionTag {
 public:
  // `replying` counts the slots that have not yet accepted another call since
  // their last one.
  Place(Service* service, grpc::ServerCompletionQueue* queue,
        const std::string* reply, std::atomic<int>* replying)
      : service_(service), queue_(queue), reply_(reply), replying_(replying) {}

  void Accept() {
    replied_ = false;
    call_.emplace();
    service_->RequestPush(&call_->context, &call_->request, &call_->writer,
                          queue_, queue_, Tag());
  }

 private:
  struct Call {
    Call() : writer(&context) {}
    grpc::ServerContext context;
    grpc::ByteBuffer request;
    grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer;
  };

  void OnEvent(bool ok) override {
    if (replied_) {
      Accept();
      --*replying_;
      replying_->notify_all();
      return;
    }
    if (!ok) return;  // the server shuts down
    replied_ = true;
    ++*replying_;
    call_->writer.Finish(BufferOf(*reply_), grpc::Status::OK, Tag());
  }

  Service* const service_;
  grpc::ServerCompletionQueue* const queue_;
  const std::string* const reply_;
  std::atomic<int>* const replying_;
  std::optional<Call> call_;
  bool replied_ = false;
};

// A call of the client. Deletes itself at its end.
class ClientCall final : public CompletionTag {
 public:
  ClientCall(grpc::GenericStub* stub, grpc::CompletionQueue* queue,
             const std::string& request, absl::AnyInvocable<void()> done)
      : done_(std::move(done)) {
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::seconds(10));
    reader_ = stub->PrepareUnaryCall(&context_, kPushMethod, BufferOf(request),
                                     queue);
    reader_->StartCall();
    reader_->Finish(&reply_, &status_, Tag());
  }

 private:
  void OnEvent(bool) override {
    if (!status_.ok()) std::abort();
    absl::AnyInvocable<void()> done = std::move(done_);
    delete this;
    done();
  }

  absl::AnyInvocable<void()> done_;
  grpc::ClientContext context_;
  grpc::ByteBuffer reply_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader_;
};

}  // namespace

class RawTransport::Impl {
 public:
  Impl(uint64_t request_bytes, uint64_t reply_bytes)
      : request_(request_bytes, 'x'), reply_(reply_bytes, 'y') {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(-1);
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(&service_);
    server_queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) std::abort();
    for (int i = 0; i < kPlaces; ++i) {
      places_.push_back(std::make_unique<Place>(&service_, server_queue_.get(),
                                                &reply_, &replying_));
      places_.back()->Accept();
    }
    grpc::ChannelArguments args;
    args.SetMaxReceiveMessageSize(-1);
    args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port),
                                  grpc::InsecureChannelCredentials(), args));
    server_thread_ =
        std::thread([this] { CompletionTag::RunQueue(server_queue_.get()); });
    client_thread_ =
        std::thread([this] { CompletionTag::RunQueue(&client_queue_); });
  }

  ~Impl() {
    client_queue_.Shutdown();
    client_thread_.join();
    // The server may not accept a call after the shutdown.
    for (int n = replying_; n != 0; n = replying_) replying_.wait(n);
    server_->Shutdown(std::chrono::system_clock::now());
    server_queue_->Shutdown();
    server_thread_.join();
  }

  void Call(absl::AnyInvocable<void()> done) {
    new ClientCall(stub_.get(), &client_queue_, request_, std::move(done));
  }

 private:
  const std::string request_;
  const std::string reply_;
  Service service_;
  std::atomic<int> replying_{0};
  std::unique_ptr<grpc::ServerCompletionQueue> server_queue_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::unique_ptr<Place>> places_;
  grpc::CompletionQueue client_queue_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::thread server_thread_;
  std::thread client_thread_;
};

RawTransport::RawTransport(uint64_t request_bytes, uint64_t reply_bytes)
    : impl_(std::make_unique<Impl>(request_bytes, reply_bytes)) {}

RawTransport::~RawTransport() = default;

void RawTransport::Call(absl::AnyInvocable<void()> done) {
  impl_->Call(std::move(done));
}

}  // namespace shoal
