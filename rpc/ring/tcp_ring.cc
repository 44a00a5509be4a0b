#include "rpc/tcp_ring.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "core/collective_operation.h"
#include "rpc/address.h"
#include "rpc/ring/ring_handshake.h"
#include "rpc/ring/ring_linker.h"
#include "rpc/ring/ring_thread.h"
#include "rpc/server/listening_sockets.h"
#include "rpc/token.h"

namespace shoal {
namespace {

// Time for which a connection may leave sent bytes unacknowledged.
constexpr absl::Duration kUserTimeout = absl::Seconds(60);

absl::Status Wrong(absl::string_view name, absl::string_view value,
                   absl::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " = ", value, " is not ", range));
}

RingSettings SettingsOf(const TcpRingOptions& options) {
  RingSettings settings;
  settings.job = options.job;
  settings.start = options.start;
  settings.generation = options.generation;
  settings.names = options.names;
  settings.rank = options.rank;
  settings.size = options.size;
  settings.reduction = options.reduction;
  settings.chunk_bytes = options.chunk_bytes;
  settings.max_part_bytes = options.max_part_bytes;
  return settings;
}

}  // namespace

RingPort::RingPort(std::unique_ptr<ListeningSockets> sockets,
                   std::string address)
    : sockets_(std::move(sockets)), address_(std::move(address)) {}
RingPort::RingPort(RingPort&&) noexcept = default;
RingPort& RingPort::operator=(RingPort&&) noexcept = default;
RingPort::~RingPort() = default;

absl::StatusOr<RingPort> RingPort::Open(const std::string& listen,
                                        absl::string_view token) {
  SHOAL_ASSIGN_OR_RETURN(Address address, ParseAddress(listen));
  if (!token.empty()) SHOAL_RETURN_IF_ERROR(CheckToken(token));
  if (!address.IsLoopback() && token.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot listen on ", listen,
        " without a token, since other machines reach that address: give "
        "--token_file"));
  }
  SHOAL_ASSIGN_OR_RETURN(ListeningSockets sockets,
                         ListeningSockets::Open(address, kUserTimeout));
  address.port = sockets.port();
  return RingPort(std::make_unique<ListeningSockets>(std::move(sockets)),
                  address.ToString());
}

absl::StatusOr<RingPort> RingPort::Copy() const {
  SHOAL_ASSIGN_OR_RETURN(ListeningSockets sockets, sockets_->Copy());
  return RingPort(std::make_unique<ListeningSockets>(std::move(sockets)),
                  address_);
}

absl::Status TcpRingOptions::Validate() const {
  if (size < 1 || size > 65536) {
    return Wrong("size", absl::StrCat(size), "in [1, 65536]");
  }
  if (rank < 0 || rank >= size) {
    return Wrong("rank", absl::StrCat(rank),
                 absl::StrCat("in [0, ", size, ")"));
  }
  if (size > 1) {
    SHOAL_ASSIGN_OR_RETURN(const Address address, ParseAddress(next));
    if (address.port == 0) return Wrong("next", next, "an address with a port");
  }
  if (job.size() > kRingJobMax) {
    return Wrong("job", job, absl::StrCat("of at most ", kRingJobMax,
                                          " bytes"));
  }
  if (chunk_bytes < 4096 || chunk_bytes > (16 << 20) || chunk_bytes % 64 != 0) {
    return Wrong("chunk_bytes", absl::StrCat(chunk_bytes),
                 "a multiple of 64 in [4 KiB, 16 MiB]");
  }
  if (max_queued < 4096) {
    return Wrong("max_queued", absl::StrCat(max_queued), "at least 4096");
  }
  if (max_strangers < 1) {
    return Wrong("max_strangers", absl::StrCat(max_strangers), "at least 1");
  }
  return token.empty() ? absl::OkStatus() : CheckToken(token);
}

TcpRing::TcpRing(std::unique_ptr<RingThread> thread)
    : thread_(std::move(thread)) {}

TcpRing::~TcpRing() = default;

absl::StatusOr<std::unique_ptr<TcpRing>> TcpRing::Start(
    RingPort port, TcpRingOptions options, Executor* executor) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  const RingSettings settings = SettingsOf(options);
  std::unique_ptr<RingLinker> linker;
  if (settings.size > 1) {
    SHOAL_ASSIGN_OR_RETURN(Address next, ParseAddress(options.next));
    linker = std::make_unique<RingLinker>(options, settings, std::move(next),
                                          std::move(port.sockets_), executor);
  }
  auto thread = std::make_unique<RingThread>(
      std::move(options), settings, std::move(linker),
      std::move(port.sockets_), executor);
  SHOAL_RETURN_IF_ERROR(thread->Start());
  return std::unique_ptr<TcpRing>(new TcpRing(std::move(thread)));
}

int TcpRing::rank() const { return thread_->settings().rank; }
int TcpRing::size() const { return thread_->settings().size; }
uint64_t TcpRing::bytes_sent() const { return thread_->bytes_sent(); }

void TcpRing::AllReduce(CollectiveTag tag, absl::Span<float> values,
                        absl::Duration timeout, Done<CollectiveReply> done) {
  RingCall call;
  call.operation =
      MakeOperation(CollectiveKind::kAllReduce, std::move(tag),
                    thread_->settings().generation, values.size());
  call.values = values;
  call.done = std::move(done);
  thread_->Submit(std::move(call), timeout);
}

void TcpRing::AllGather(CollectiveTag tag, absl::Span<const char> bytes,
                        GatheredParts* parts, absl::Duration timeout,
                        Done<CollectiveReply> done) {
  RingCall call;
  call.operation =
      MakeOperation(CollectiveKind::kAllGather, std::move(tag),
                    thread_->settings().generation, bytes.size());
  call.given = bytes;
  call.parts = parts;
  call.done = std::move(done);
  thread_->Submit(std::move(call), timeout);
}

void TcpRing::Broadcast(CollectiveTag tag, int root, absl::Span<char> bytes,
                        absl::Duration timeout, Done<CollectiveReply> done) {
  RingCall call;
  call.operation =
      MakeOperation(CollectiveKind::kBroadcast, std::move(tag),
                    thread_->settings().generation, bytes.size());
  call.operation.root = static_cast<uint32_t>(root);
  call.bytes = bytes;
  call.done = std::move(done);
  thread_->Submit(std::move(call), timeout);
}

}  // namespace shoal
