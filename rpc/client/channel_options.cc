#include "rpc/channel_options.h"

#include <climits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/address.h"
#include "rpc/token.h"

namespace shoal {
namespace {

absl::Status CheckDuration(absl::string_view name, absl::Duration value) {
  if (value < absl::Milliseconds(1) || value > absl::Hours(1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " = ", absl::FormatDuration(value), " is not in [1 ms, 1 h]"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ChannelOptions::Validate() const {
  if (socket.empty()) {
    const absl::StatusOr<Address> parsed = ParseAddress(address);
    SHOAL_RETURN_IF_ERROR(Annotate(parsed.status(), peer));
    if (parsed->port == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(peer, ": '", address, "' has no port to connect to"));
    }
  }
  if (!token.empty()) SHOAL_RETURN_IF_ERROR(CheckToken(token));
  if (max_message_bytes < (1 << 20) || max_message_bytes > INT_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_message_bytes = ", max_message_bytes,
                     " is not in [1 MiB, 2 GiB)"));
  }
  SHOAL_RETURN_IF_ERROR(CheckDuration("reconnect_initial", reconnect_initial));
  SHOAL_RETURN_IF_ERROR(CheckDuration("reconnect_max", reconnect_max));
  SHOAL_RETURN_IF_ERROR(CheckDuration("connect_timeout", connect_timeout));
  SHOAL_RETURN_IF_ERROR(CheckDuration("keepalive_time", keepalive_time));
  return CheckDuration("keepalive_timeout", keepalive_timeout);
}

}  // namespace shoal
