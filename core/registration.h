#ifndef SHOAL_CORE_REGISTRATION_H_
#define SHOAL_CORE_REGISTRATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/id_kind.h"
#include "core/ids.h"
#include "core/save_messages.h"

namespace shoal {

// The request by which a process becomes a member of a job, and the reply
// (ClusterService::Register).

inline constexpr uint32_t kProtocolVersion = 3;

enum class Role : uint8_t { kPs = 1, kWorker = 2 };

// "ps 2" or "worker 0".
std::string ProcessName(Role role, int index);

// A file that a worker can read. All workers that read it must see the same
// file.
struct SourceInfo {
  std::string name;          // path below the given directory, or the base name
  uint64_t size = 0;         // bytes
  uint32_t head_crc32c = 0;  // CRC-32C of the first min(size, 64 KiB)
  bool compressed = false;   // a compressed file cannot be cut: one piece

  friend bool operator==(const SourceInfo&, const SourceInfo&) = default;
};

struct RegisterRequest {
  uint32_t protocol_version = kProtocolVersion;
  std::string job;  // label, the same on every process; may be empty
  Role role = Role::kWorker;
  int index = 0;        // among the processes of its role
  std::string address;  // where workers reach a PS
  // Random number that identifies the process.
  uint64_t process = 0;
  // Number of this request among the requests of the process; it grows. The
  // process got no answer to its earlier requests, or has given up the lives in
  // the answers.
  uint64_t attempt = 0;
  // The address from which the request came, for people. Not in the message:
  // the server of the coordinator fills it in.
  std::string peer = "";
  // The flags that must agree on every process, one `name=value` a line, sorted
  // by name. The error of Register names the first flag that differs.
  std::string config;
  // The files that a worker can train and evaluate on, in the same order on
  // every worker that reads the same files.
  std::vector<SourceInfo> train_sources;
  std::vector<SourceInfo> eval_sources;
  // Name of a worker's host: workers with the same name read the same files
  // where files are by host (cluster/job_files.h). Empty: the worker is the
  // only one of its host.
  std::string host;
  // Where the other ranks of a ring reach this worker; empty: in no ring.
  std::string ring_address = "";
  // Mean size in bytes of a training row, from the first 64 KiB of each file
  // that is not compressed; 0: not known, as from older releases.
  uint32_t train_row_bytes = 0;
  // The kind of ids in all files of a worker, which is one kind. kUnknown:
  // none of the files begins with a row, or an older release does not tell.
  IdKind ids = IdKind::kUnknown;
};

struct RegisterReply {
  Life life;
  // For a PS. True: the shard starts from the initial values. False: its state
  // comes from a checkpoint.
  bool initialise = false;
  absl::Duration heartbeat_interval;  // between two Heartbeats
  absl::Duration silent_after;        // a longer silence counts as death
  // For a PS that does not initialise: load this and answer ShardLoaded.
  std::optional<LoadFrom> load;
};

}  // namespace shoal

#endif  // SHOAL_CORE_REGISTRATION_H_
