#ifndef SHOAL_RPC_CHANNEL_OPTIONS_H_
#define SHOAL_RPC_CHANNEL_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace shoal {

// What a message has beside its bulk, with room to spare.
inline constexpr uint64_t kMessageOverhead = 64 << 10;

// How a client reaches one server.
struct ChannelOptions {
  std::string address;  // rpc/address.h
  std::string peer;     // for people: "ps 2"
  std::string token;    // sent with every call; empty: none
  // Larger replies are refused (RESOURCE_EXHAUSTED). At least 1 MiB.
  uint64_t max_message_bytes = 64 << 20;
  // A lost server is tried again after this, growing to the maximum.
  absl::Duration reconnect_initial = absl::Milliseconds(50);
  absl::Duration reconnect_max = absl::Seconds(1);
  // How long to wait for a connection that is neither made nor refused.
  absl::Duration connect_timeout = absl::Seconds(5);
  // A server that is silent is asked for a sign of life after the first, and
  // taken for dead after the second (a frozen process, a host without power);
  // rpc/keepalive.h.
  absl::Duration keepalive_time = absl::Seconds(2);
  absl::Duration keepalive_timeout = absl::Seconds(5);

  // INVALID_ARGUMENT says which option is wrong.
  absl::Status Validate() const;
};

}  // namespace shoal

#endif  // SHOAL_RPC_CHANNEL_OPTIONS_H_
