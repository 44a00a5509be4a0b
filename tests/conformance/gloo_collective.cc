#include "tests/conformance/gloo_collective.h"

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstring>
#include <deque>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "core/collective_operation.h"
#include "rpc/ring/ring_frame.h"

namespace shoal {
namespace {

// What a rank says about an operation, in a record of one size.
constexpr size_t kRecordBytes = RingFrameHeader::kBytes + kRingAnnouncementMax;

struct GlooCall {
  CollectiveOperation operation;
  absl::Span<float> values;
  absl::Span<const char> given;
  GatheredParts* parts = nullptr;
  absl::Span<char> bytes;
  Done<CollectiveReply> done;
};

// Gloo blocks its caller, so each rank has a thread.
class GlooCollective final : public Collective {
 public:
  GlooCollective(std::shared_ptr<gloo::Context> context,
                 uint64_t max_part_bytes, Executor* executor)
      : context_(std::move(context)),
        max_part_bytes_(max_part_bytes),
        executor_(executor),
        thread_([this] { Run(); }) {}
  ~GlooCollective() override {
    {
      MutexLock lock(&mu_);
      stopping_ = true;
      wake_.Signal();
    }
    thread_.join();
  }

  int rank() const override { return context_->rank; }
  int size() const override { return context_->size; }

  void AllReduce(CollectiveTag tag, absl::Span<float> values, absl::Duration,
                 Done<CollectiveReply> done) override {
    GlooCall call;
    call.operation = MakeOperation(CollectiveKind::kAllReduce, std::move(tag),
                                   1, values.size());
    call.values = values;
    Submit(std::move(call), std::move(done));
  }
  void AllGather(CollectiveTag tag, absl::Span<const char> bytes,
                 GatheredParts* parts, absl::Duration,
                 Done<CollectiveReply> done) override {
    GlooCall call;
    call.operation = MakeOperation(CollectiveKind::kAllGather, std::move(tag),
                                   1, bytes.size());
    call.given = bytes;
    call.parts = parts;
    Submit(std::move(call), std::move(done));
  }
  void Broadcast(CollectiveTag tag, int root, absl::Span<char> bytes,
                 absl::Duration, Done<CollectiveReply> done) override {
    GlooCall call;
    call.operation = MakeOperation(CollectiveKind::kBroadcast, std::move(tag),
                                   1, bytes.size());
    call.operation.root = static_cast<uint32_t>(root);
    call.bytes = bytes;
    Submit(std::move(call), std::move(done));
  }

 private:
  void Submit(GlooCall call, Done<CollectiveReply> done) {
    call.done = std::move(done);
    MutexLock lock(&mu_);
    queue_.push_back(std::move(call));
    wake_.Signal();
  }

  void Run() {
    while (true) {
      GlooCall call;
      {
        MutexLock lock(&mu_);
        while (queue_.empty() && !stopping_) wake_.Wait(&mu_);
        if (queue_.empty()) return;
        call = std::move(queue_.front());
        queue_.pop_front();
      }
      absl::Status status;
      try {
        status = Perform(&call);
      } catch (const std::exception& error) {
        status = absl::UnavailableError(error.what());
      }
      executor_->Post([done = std::move(call.done), status]() mutable {
        if (status.ok()) {
          std::move(done)(CollectiveReply());
        } else {
          std::move(done)(status);
        }
      });
    }
  }

  std::vector<CollectiveOperation> Exchange(
      const CollectiveOperation& operation) {
    if (size() == 1) return {operation};
    const size_t ranks = static_cast<size_t>(size());
    std::string own = EncodeAnnouncement(0, rank(), operation);
    const size_t used = own.size();
    own.resize(kRecordBytes);
    own[0] = static_cast<char>(used - RingFrameHeader::kBytes);
    std::string all(ranks * kRecordBytes, '\0');
    gloo::AllgatherOptions options(context_);
    options.setTag(++tag_);
    options.setInput(own.data(), own.size());
    options.setOutput(all.data(), all.size());
    gloo::allgather(options);
    std::vector<CollectiveOperation> by_rank;
    for (size_t r = 0; r < ranks; ++r) {
      const absl::string_view record =
          absl::string_view(all).substr(r * kRecordBytes, kRecordBytes);
      by_rank.push_back(*DecodeAnnouncement(
          record.substr(RingFrameHeader::kBytes,
                        static_cast<unsigned char>(record[0]))));
    }
    return by_rank;
  }

  absl::Status Perform(GlooCall* call) {
    const std::vector<CollectiveOperation> by_rank = Exchange(call->operation);
    const absl::Status agreed = CheckOperations(by_rank, max_part_bytes_);
    if (!agreed.ok()) return agreed;
    switch (call->operation.kind) {
      case CollectiveKind::kAllReduce:
        Reduce(call->values);
        break;
      case CollectiveKind::kAllGather:
        Gather(by_rank, call->given, call->parts);
        break;
      case CollectiveKind::kBroadcast:
        if (size() > 1 && !call->bytes.empty()) {
          gloo::BroadcastOptions options(context_);
          options.setTag(++tag_);
          options.setRoot(static_cast<int>(call->operation.root));
          options.setOutput(call->bytes.data(), call->bytes.size());
          gloo::broadcast(options);
        }
        break;
    }
    return absl::OkStatus();
  }

  void Reduce(absl::Span<float> values) {
    if (size() == 1 || values.empty()) return;
    gloo::AllreduceOptions options(context_);
    options.setTag(++tag_);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(static_cast<void (*)(
        void*, const void*, const void*, size_t)>(&gloo::sum<float>));
    gloo::allreduce(options);
  }

  void Gather(const std::vector<CollectiveOperation>& by_rank,
              absl::Span<const char> given, GatheredParts* parts) {
    std::vector<size_t> lengths;
    size_t total = 0;
    for (const CollectiveOperation& operation : by_rank) {
      lengths.push_back(static_cast<size_t>(operation.length));
      total += lengths.back();
    }
    std::string all(total, '\0');
    if (size() > 1 && total > 0) {
      gloo::AllgathervOptions options(context_);
      options.setTag(++tag_);
      options.setInput(const_cast<char*>(given.data()), given.size());
      options.setOutput(all.data(), lengths);
      gloo::allgatherv(options);
    }
    parts->Reset(size());
    size_t at = 0;
    for (int r = 0; r < size(); ++r) {
      const size_t length = lengths[static_cast<size_t>(r)];
      if (r == rank()) {
        parts->Refer(r, given);
      } else if (length > 0) {
        std::memcpy(parts->Allocate(r, length).data(), all.data() + at,
                    length);
      }
      at += length;
    }
  }

  const std::shared_ptr<gloo::Context> context_;
  const uint64_t max_part_bytes_;
  Executor* const executor_;
  uint32_t tag_ = 0;
  Mutex mu_;
  CondVar wake_;
  std::deque<GlooCall> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace

std::vector<std::unique_ptr<Collective>> MakeGlooCollectives(
    uint64_t max_part_bytes, absl::Span<Executor* const> executors) {
  const int size = static_cast<int>(executors.size());
  gloo::rendezvous::HashStore store;
  std::vector<std::shared_ptr<gloo::Context>> contexts(executors.size());
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([r, size, &store, &contexts] {
      try {
        gloo::transport::tcp::attr attr;
        attr.hostname = "127.0.0.1";
        std::shared_ptr<gloo::transport::Device> device =
            gloo::transport::tcp::CreateDevice(attr);
        auto context =
            std::make_shared<gloo::rendezvous::Context>(r, size);
        context->connectFullMesh(store, device);
        contexts[static_cast<size_t>(r)] = context;
      } catch (const std::exception&) {
        // The caller finds no context.
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::unique_ptr<Collective>> ranks;
  for (size_t r = 0; r < contexts.size(); ++r) {
    if (contexts[r] == nullptr) return {};
    ranks.push_back(std::make_unique<GlooCollective>(
        contexts[r], max_part_bytes, executors[r]));
  }
  return ranks;
}

}  // namespace shoal
