#include <climits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/address.h"
#include "rpc/server.h"
#include "rpc/token.h"

namespace shoal {
namespace {

constexpr int kMany = 1 << 20;

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

}  // namespace

absl::Status RpcServerOptions::Validate() const {
  SHOAL_ASSIGN_OR_RETURN(const Address address, ParseAddress(listen));
  if (token.empty()) {
    if (!address.IsLoopback()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "listening on ", listen, ", beyond this machine, needs a token: ",
          "give every process --token_file, or listen on 127.0.0.1"));
    }
  } else {
    SHOAL_RETURN_IF_ERROR(CheckToken(token));
  }
  if (max_message_bytes < (1 << 20) || max_message_bytes > INT_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_message_bytes = ", max_message_bytes,
                     " is not in [1 MiB, 2 GiB)"));
  }
  if (memory_quota_bytes < max_message_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory_quota_bytes = ", memory_quota_bytes,
                     " does not hold one message of ", max_message_bytes));
  }
  SHOAL_RETURN_IF_ERROR(CheckRange("max_streams", max_streams, 1, kMany));
  SHOAL_RETURN_IF_ERROR(
      CheckRange("calls_in_flight", calls_in_flight, 1, 4096));
  SHOAL_RETURN_IF_ERROR(CheckRange("max_sessions", max_sessions, 1, kMany));
  SHOAL_RETURN_IF_ERROR(
      CheckDuration("session_open_deadline", session_open_deadline));
  SHOAL_RETURN_IF_ERROR(CheckRange("threads", threads, 1, 256));
  SHOAL_RETURN_IF_ERROR(CheckDuration("chunk_deadline", chunk_deadline));
  SHOAL_RETURN_IF_ERROR(CheckDuration("max_call_time", max_call_time));
  SHOAL_RETURN_IF_ERROR(CheckDuration("keepalive_time", keepalive_time));
  return CheckDuration("keepalive_timeout", keepalive_timeout);
}

}  // namespace shoal
