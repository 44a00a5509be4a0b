#ifndef SHOAL_RPC_CHANNEL_OPTIONS_H_
#define SHOAL_RPC_CHANNEL_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace shoal {

// Bytes of a message beside its bulk fields: an upper bound, generously
// rounded.
inline constexpr uint64_t kMessageOverhead = 64 << 10;

// The options of a client's connection to one server.
struct ChannelOptions {
  std::string address;  // rpc/address.h; not used if `socket` is given
  // Path of the server's Unix socket (rpc/save_socket.h); empty: the server is
  // at `address`.
  std::string socket;
  std::string peer;     // the server's name in messages: "ps 2"
  std::string token;    // sent with every call; empty: no token
  // Limit on the bytes of a reply; larger replies are RESOURCE_EXHAUSTED. At
  // least 1 MiB.
  uint64_t max_message_bytes = 64 << 20;
  // Delay before the client connects to a lost server again. The delay grows
  // from the first value to the second.
  absl::Duration reconnect_initial = absl::Milliseconds(50);
  absl::Duration reconnect_max = absl::Seconds(1);
  // Limit on one attempt to connect that is neither accepted nor refused.
  absl::Duration connect_timeout = absl::Seconds(5);
  // Keepalive (rpc/keepalive.h): a server that is silent for keepalive_time
  // gets a ping. A server that does not answer within keepalive_timeout is
  // taken for dead, such as a frozen process or a host without power.
  absl::Duration keepalive_time = absl::Seconds(2);
  absl::Duration keepalive_timeout = absl::Seconds(5);

  // The place of the server, in the form that gRPC and messages have.
  std::string target() const {
    return socket.empty() ? address : "unix:" + socket;
  }

  // INVALID_ARGUMENT says which option is wrong.
  absl::Status Validate() const;
};

}  // namespace shoal

#endif  // SHOAL_RPC_CHANNEL_OPTIONS_H_
