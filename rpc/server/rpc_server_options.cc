#include <algorithm>
#include <climits>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/saturating.h"
#include "base/status_macros.h"
#include "rpc/address.h"
#include "rpc/server.h"
#include "rpc/token.h"

namespace shoal {
namespace {

constexpr int kMany = 1 << 20;
// Copies of a message that are in memory while it is received or sent. Measured
// by bench/e2e/memory.py.
constexpr uint64_t kCopies = 3;

absl::Status CheckRange(absl::string_view name, int64_t value, int64_t least,
                        int64_t most) {
  if (value < least || value > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " = ", value, " is not in [", least, ", ", most, "]"));
  }
  return absl::OkStatus();
}

absl::Status CheckDuration(absl::string_view name, absl::Duration value) {
  if (value < absl::Milliseconds(1) || value > absl::Hours(1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " = ", absl::FormatDuration(value), " is not in [1 ms, 1 h]"));
  }
  return absl::OkStatus();
}

// The limit must hold two messages, because the buffer of a reply is up to
// twice as large as the reply.
absl::Status CheckHoldsTwo(absl::string_view name, uint64_t bytes,
                           uint64_t message_bytes) {
  if (bytes / 2 < message_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " = ", bytes, " does not hold two messages of ",
                     message_bytes, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

void RpcServerOptions::SetMaxMessageBytes(uint64_t bytes) {
  max_message_bytes = bytes;
  max_request_bytes = std::max(max_request_bytes, 4 * bytes);
  max_reply_bytes = std::max(max_reply_bytes, 4 * bytes);
}

void RpcServerOptions::SetCallsOfJob(int workers, uint64_t calls_of_worker,
                                     int servers) {
  SHOAL_DCHECK(workers >= 0 && servers >= 0);
  // A server calls another one to register.
  const uint64_t calls = SaturatingAdd(
      SaturatingTimes(static_cast<uint64_t>(workers), calls_of_worker),
      static_cast<uint64_t>(servers));
  if (calls > kFewCalls) return;
  max_calls = std::min(max_calls, kFewCalls);
  max_streams = std::min(max_streams, kFewCalls / 4);
}

void RpcServerOptions::SetParkedPushes(int workers, uint64_t calls_of_push,
                                       uint64_t push_bytes, int servers) {
  SHOAL_DCHECK(workers >= 0 && servers >= 0);
  // Beside the calls of its pull or push, a worker may have one parked push
  // whose connection broke, and which it has sent again.
  const uint64_t calls = SaturatingAdd(
      SaturatingTimes(static_cast<uint64_t>(workers), calls_of_push + 1),
      static_cast<uint64_t>(servers));
  if (calls > static_cast<uint64_t>(max_calls)) {
    max_calls = static_cast<int>(std::min<uint64_t>(calls, kMany));
    max_streams = std::max<int>(max_streams, static_cast<int>(calls_of_push));
  }
  const uint64_t parked =
      SaturatingTimes(2 * static_cast<uint64_t>(workers), push_bytes);
  // A request counts as the largest message while it is read.
  max_request_bytes = std::max(
      max_request_bytes, SaturatingAdd(parked, 4 * max_message_bytes));
  max_staged_bytes = std::max(max_staged_bytes, parked);
}

uint64_t RpcServerOptions::max_call_memory() const {
  return max_call_bytes() + 3 * max_kept_bytes +
         static_cast<uint64_t>(threads) *
             std::max(max_message_bytes, max_staged_bytes) +
         static_cast<uint64_t>(max_calls) *
             (few_calls() ? kOwnWindowBytes : kFixedWindowBytes);
}

uint64_t RpcServerOptions::MemoryBytes(uint64_t message_bytes,
                                       uint64_t messages) const {
  return std::min(
      SaturatingTimes(SaturatingTimes(message_bytes, kCopies), messages),
      max_call_memory());
}

absl::Status RpcServerOptions::Validate() const {
  SHOAL_ASSIGN_OR_RETURN(const Address address, ParseAddress(listen));
  if (token.empty()) {
    if (!address.IsLoopback()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "listening on ", listen, ", which other machines can reach, needs a ",
          "token: give every process --token_file, or listen on 127.0.0.1"));
    }
  } else {
    SHOAL_RETURN_IF_ERROR(CheckToken(token));
  }
  if (max_message_bytes < (1 << 20) || max_message_bytes > INT_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_message_bytes = ", max_message_bytes,
                     " is not in [1 MiB, 2 GiB)"));
  }
  SHOAL_RETURN_IF_ERROR(
      CheckHoldsTwo("max_request_bytes", max_request_bytes, max_message_bytes));
  SHOAL_RETURN_IF_ERROR(
      CheckHoldsTwo("max_reply_bytes", max_reply_bytes, max_message_bytes));
  SHOAL_RETURN_IF_ERROR(CheckRange("max_streams", max_streams, 1, kMany));
  SHOAL_RETURN_IF_ERROR(CheckRange("max_calls", max_calls, 1, kMany));
  SHOAL_RETURN_IF_ERROR(CheckRange("max_sessions", max_sessions, 1, kMany));
  SHOAL_RETURN_IF_ERROR(
      CheckDuration("session_open_deadline", session_open_deadline));
  SHOAL_RETURN_IF_ERROR(
      CheckRange("max_connections", max_connections, 1, kMany));
  SHOAL_RETURN_IF_ERROR(
      CheckRange("max_unknown_connections", max_unknown_connections, 1, kMany));
  SHOAL_RETURN_IF_ERROR(CheckRange("max_unknown_connections_of_host",
                                   max_unknown_connections_of_host, 1, kMany));
  SHOAL_RETURN_IF_ERROR(
      CheckRange("max_refused_calls", max_refused_calls, 1, kMany));
  SHOAL_RETURN_IF_ERROR(CheckDuration("token_deadline", token_deadline));
  SHOAL_RETURN_IF_ERROR(CheckRange("threads", threads, 1, 256));
  SHOAL_RETURN_IF_ERROR(CheckDuration("chunk_deadline", chunk_deadline));
  SHOAL_RETURN_IF_ERROR(CheckDuration("transfer_deadline", transfer_deadline));
  SHOAL_RETURN_IF_ERROR(CheckDuration("max_call_time", max_call_time));
  SHOAL_RETURN_IF_ERROR(CheckDuration("keepalive_time", keepalive_time));
  return CheckDuration("keepalive_timeout", keepalive_timeout);
}

}  // namespace shoal
