#ifndef SHOAL_CORE_REGISTRATION_H_
#define SHOAL_CORE_REGISTRATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/save_messages.h"

namespace shoal {

// How a process becomes a member of a job (ClusterService::Register).

inline constexpr uint32_t kProtocolVersion = 2;

enum class Role : uint8_t { kPs = 1, kWorker = 2 };

// "ps 2" or "worker 0".
std::string ProcessName(Role role, int index);

// A file that a worker can read, as all workers must see it.
struct SourceInfo {
  std::string name;          // path below the given directory, or the base name
  uint64_t size = 0;         // bytes
  uint32_t head_crc32c = 0;  // of the first min(size, 64 KiB)
  bool compressed = false;   // so that it cannot be cut: it is one piece

  friend bool operator==(const SourceInfo&, const SourceInfo&) = default;
};

struct RegisterRequest {
  uint32_t protocol_version = kProtocolVersion;
  std::string job;  // label, the same on every process; may be empty
  Role role = Role::kWorker;
  int index = 0;        // among the processes of its role
  std::string address;  // of a PS: where workers reach it
  // Random number of the process, which no other process has.
  uint64_t process = 0;
  // Number of this request among those of the process, which grows: the process
  // heard no answer to the earlier ones, or has given up the life in it.
  uint64_t attempt = 0;
  // The flags that must agree on every process, one `name=value` a line, sorted
  // by name: the error names the first that differs.
  std::string config;
  // Of a worker, in an order that all share: what it can train and evaluate on.
  std::vector<SourceInfo> train_sources;
  std::vector<SourceInfo> eval_sources;
};

struct RegisterReply {
  Life life;
  // Of a PS: the shard starts from the initial values. Otherwise its state has
  // to come from a checkpoint.
  bool initialise = false;
  absl::Duration heartbeat_interval;  // how often to send Heartbeat
  absl::Duration silent_after;        // no word for so long: taken for dead
  // Of a PS that does not initialise: load this and answer ShardLoaded.
  std::optional<LoadFrom> load;
};

}  // namespace shoal

#endif  // SHOAL_CORE_REGISTRATION_H_
