#include "tests/harness/simulated_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/stable_hash.h"
#include "wire/codec/chunk_codec.h"
#include "wire/codec/push_codec.h"
#include "wire/codec/push_frame.h"

namespace shoal {
namespace {

// A pull's bulk data as it travels: the caller may take its own back.
struct Cargo {
  std::vector<std::vector<FeatureId>> ids;
  std::vector<std::vector<float>> rows;
  std::vector<std::vector<float>> blocks;
};

// Points `request` into the cargo.
std::shared_ptr<Cargo> Load(PullRequest* request) {
  auto cargo = std::make_shared<Cargo>();
  for (TablePull& table : request->tables) {
    cargo->ids.emplace_back(table.ids.begin(), table.ids.end());
    cargo->rows.emplace_back(table.values.size());
  }
  for (BlockPull& block : request->blocks) {
    cargo->blocks.emplace_back(block.values.size());
  }
  for (size_t i = 0; i < request->tables.size(); ++i) {
    request->tables[i].ids = cargo->ids[i];
    request->tables[i].values = absl::MakeSpan(cargo->rows[i]);
  }
  for (size_t i = 0; i < request->blocks.size(); ++i) {
    request->blocks[i].values = absl::MakeSpan(cargo->blocks[i]);
  }
  return cargo;
}

void Unload(const Cargo& cargo, const PullRequest& to) {
  for (size_t i = 0; i < to.tables.size(); ++i) {
    std::copy(cargo.rows[i].begin(), cargo.rows[i].end(),
              to.tables[i].values.begin());
  }
  for (size_t i = 0; i < to.blocks.size(); ++i) {
    std::copy(cargo.blocks[i].begin(), cargo.blocks[i].end(),
              to.blocks[i].values.begin());
  }
}

// The bytes of a push on the wire.
std::shared_ptr<const std::string> Encode(const PushRequest& request) {
  static const uint64_t kKept = 0;
  const auto pool = WireBufferPool::Create(kKept);
  CopyCounter copies;
  const WireMessage message = EncodePushRequest(request, pool.get(), &copies);
  auto bytes = std::make_shared<std::string>();
  for (const absl::string_view fragment : message.fragments) {
    absl::StrAppend(bytes.get(), fragment);
  }
  return bytes;
}

uint64_t SubjectOf(const BatchId& batch) {
  return StableHashCombine(StableHashCombine(batch.epoch, batch.piece),
                           batch.index);
}

}  // namespace

class SimulatedCalls::Link : public std::enable_shared_from_this<Link> {
 public:
  Link(SimulatedNetwork* network, SimulatedExecutor* executor,
       const std::string& from, std::string address, std::string origin)
      : network_(network),
        executor_(executor),
        address_(std::move(address)),
        origin_(std::move(origin)),
        link_(SimulatedNetwork::LinkOf(from, address_)) {}

  void Pull(PullRequest request, absl::Duration timeout, Done<PullReply> done);
  void Push(PushRequest request, absl::Duration timeout, Done<PushReply> done);
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done);
  void Cancel();

 private:
  // The caller's end of a call: the first answer, or the deadline, ends it.
  template <typename Reply>
  struct Open {
    Done<Reply> done;
    bool ended = false;

    void End(absl::StatusOr<Reply> reply) {
      if (std::exchange(ended, true)) return;
      std::move(done)(std::move(reply));
    }
  };
  template <typename Reply>
  using OpenPtr = std::shared_ptr<Open<Reply>>;

  template <typename Reply>
  OpenPtr<Reply> Begin(absl::Duration timeout, Done<Reply> done) {
    auto open = std::make_shared<Open<Reply>>();
    open->done = std::move(done);
    const uint64_t number = ++calls_;
    open_.emplace(number, [open] {
      open->End(absl::CancelledError("the client ended first"));
    });
    executor_->PostAfter(timeout, [self = shared_from_this(), open, number] {
      self->open_.erase(number);
      open->End(absl::DeadlineExceededError("no answer in time"));
    });
    return open;
  }

  // Sends a request of which `task` is what the server does.
  template <typename Reply>
  void Send(const SimulatedNetwork::Message& message, OpenPtr<Reply> open,
            SimulatedNetwork::Served task) {
    network_->Deliver(
        address_, network_->Fate(message), std::move(task),
        [self = shared_from_this(), open = std::move(open)] {
          self->executor_->Post([self, open] {
            open->End(absl::UnavailableError(
                absl::StrCat(self->address_, ": connection refused")));
          });
        });
  }
  // Sends an answer back; `take` runs before a good one ends the call.
  template <typename Reply>
  void Answer(absl::string_view kind, uint64_t subject, OpenPtr<Reply> open,
              absl::StatusOr<Reply> reply, Task take = nullptr) {
    const absl::Duration delay =
        network_->Fate({link_, kind, subject, /*may_drop=*/true});
    if (delay == absl::InfiniteDuration()) return;
    executor_->PostAfter(delay, [open = std::move(open),
                                 reply = std::move(reply),
                                 take = std::move(take)]() mutable {
      if (open->ended) return;
      if (reply.ok() && take != nullptr) std::move(take)();
      open->End(std::move(reply));
    });
  }

  void PushChunks(const PushRequest& request,
                  std::shared_ptr<const std::string> bytes,
                  absl::Duration timeout, OpenPtr<PushReply> open);
  // At the server: the whole of a push has arrived.
  void Arrive(SimulatedServer* server,
              absl::Span<const absl::string_view> fragments,
              absl::Duration timeout, uint64_t subject,
              OpenPtr<PushReply> open);

  SimulatedNetwork* const network_;
  SimulatedExecutor* const executor_;
  const std::string address_;
  const std::string origin_;
  const uint64_t link_;
  uint64_t calls_ = 0;
  std::map<uint64_t, std::function<void()>> open_;  // how to end each
};

void SimulatedCalls::Link::Cancel() {
  for (auto& [number, end] : std::exchange(open_, {})) {
    executor_->Post(std::move(end));
  }
}

void SimulatedCalls::Link::Pull(PullRequest request, absl::Duration timeout,
                                Done<PullReply> done) {
  const auto open = Begin(timeout, std::move(done));
  PullRequest travelling = request;
  const std::shared_ptr<Cargo> cargo = Load(&travelling);
  Send(
      {link_, "pull", 0, /*may_drop=*/true}, open,
      [self = shared_from_this(), cargo, open, timeout, to = std::move(request),
       travelling = std::move(travelling)](SimulatedServer* server) mutable {
        if (server->parameters == nullptr) {
          self->Answer<PullReply>("no shard", 0, open,
                                  absl::UnavailableError("no shard yet"));
          return;
        }
        server->parameters->Pull(
            std::move(travelling), timeout,
            [self, cargo, open,
             to = std::move(to)](absl::StatusOr<PullReply> reply) mutable {
              self->Answer(
                  "pulled", 0, std::move(open), std::move(reply),
                  [cargo, to = std::move(to)] { Unload(*cargo, to); });
            });
      });
}

void SimulatedCalls::Link::Push(PushRequest request, absl::Duration timeout,
                                Done<PushReply> done) {
  const auto open = Begin(timeout, std::move(done));
  const std::shared_ptr<const std::string> bytes = Encode(request);
  const NetworkFaults& faults = network_->faults();
  if (faults.chunk_bytes != 0 && bytes->size() > faults.chunk_bytes) {
    PushChunks(request, bytes, timeout, open);
    return;
  }
  const uint64_t subject = SubjectOf(request.batches[0].id);
  const SimulatedNetwork::Message message = {
      link_, "push", subject, /*may_drop=*/true, faults.push_delay};
  const int copies = network_->Repeats(message) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    Send(message, open,
         [self = shared_from_this(), bytes, timeout, subject,
          open](SimulatedServer* server) mutable {
           self->Arrive(server, {absl::string_view(*bytes)}, timeout, subject,
                        std::move(open));
         });
  }
}

void SimulatedCalls::Link::PushChunks(const PushRequest& request,
                                      std::shared_ptr<const std::string> bytes,
                                      absl::Duration timeout,
                                      OpenPtr<PushReply> open) {
  const uint64_t size = network_->faults().chunk_bytes;
  PushChunk head;
  head.identity = request.identity;
  head.batch = request.batches[0].id;
  head.upload = network_->NextUpload();
  head.count = static_cast<uint32_t>((bytes->size() + size - 1) / size);
  head.total_bytes = bytes->size();
  head.crc32c = Crc32c(*bytes);
  const uint64_t batch = SubjectOf(head.batch);
  for (head.index = 0; head.index < head.count; ++head.index) {
    const SimulatedNetwork::Message message = {
        link_, "chunk", StableHashCombine(batch, head.index), /*may_drop=*/true,
        network_->faults().push_delay};
    const int copies = network_->Repeats(message) ? 2 : 1;
    PushChunk chunk = head;
    chunk.data = {absl::string_view(*bytes).substr(head.index * size, size)};
    for (int i = 0; i < copies; ++i) {
      ++network_->mutable_counts()->chunks;
      Send(message, open,
           [self = shared_from_this(), bytes, chunk, timeout, batch,
            open](SimulatedServer* server) mutable {
             const absl::Time now = server->executor->Now();
             server->assembler.Expire(now);
             auto whole = server->assembler.Add(chunk, bytes, now);
             if (!whole.ok()) {
               self->Answer<PushReply>("chunk refused", chunk.index,
                                       std::move(open), whole.status());
             } else if (whole->has_value()) {
               self->Arrive(server, (*whole)->fragments, timeout, batch,
                            std::move(open));
               server->assembler.Release((*whole)->bytes);
             }
           });
    }
  }
}

void SimulatedCalls::Link::Arrive(
    SimulatedServer* server, absl::Span<const absl::string_view> fragments,
    absl::Duration timeout, uint64_t subject, OpenPtr<PushReply> open) {
  if (server->parameters == nullptr) {
    Answer<PushReply>("no shard", subject, std::move(open),
                      absl::UnavailableError("no shard yet"));
    return;
  }
  // Holds what the request points to.
  auto frame = std::make_shared<PushFrame>();
  CopyCounter copies;
  const absl::Status decoded =
      frame->Decode(fragments, CodecLimits{}, &copies);
  if (!decoded.ok()) {
    Answer<PushReply>("malformed", subject, std::move(open), decoded);
    return;
  }
  server->parameters->Push(
      frame->request(), timeout,
      [self = shared_from_this(), frame, subject, on_push = server->on_push,
       open = std::move(open)](absl::StatusOr<PushReply> reply) mutable {
        if (on_push != nullptr) on_push(self->origin_, frame->request(), reply);
        self->Answer("pushed", subject, std::move(open), std::move(reply));
      });
}

void SimulatedCalls::Link::Stats(StatsRequest request, absl::Duration timeout,
                                 Done<StatsReply> done) {
  const auto open = Begin(timeout, std::move(done));
  Send({link_, "stats", 0, /*may_drop=*/true}, open,
       [self = shared_from_this(), open, timeout,
        request = std::move(request)](SimulatedServer* server) mutable {
         if (server->parameters == nullptr) return;
         server->parameters->Stats(
             std::move(request), timeout,
             [self, open](absl::StatusOr<StatsReply> reply) mutable {
               self->Answer("stats told", 0, std::move(open), std::move(reply));
             });
       });
}

SimulatedCalls::SimulatedCalls(SimulatedNetwork* network,
                               SimulatedExecutor* executor,
                               const SimulatedProcess& from,
                               std::string address, std::string origin)
    : link_(std::make_shared<Link>(network, executor, from.id(),
                                   std::move(address), std::move(origin))) {}

SimulatedCalls::~SimulatedCalls() { link_->Cancel(); }

void SimulatedCalls::Pull(PullRequest request, absl::Duration timeout,
                          Done<PullReply> done) {
  link_->Pull(std::move(request), timeout, std::move(done));
}

void SimulatedCalls::Push(PushRequest request, absl::Duration timeout,
                          Done<PushReply> done) {
  link_->Push(std::move(request), timeout, std::move(done));
}

void SimulatedCalls::Stats(StatsRequest request, absl::Duration timeout,
                           Done<StatsReply> done) {
  link_->Stats(std::move(request), timeout, std::move(done));
}

}  // namespace shoal
