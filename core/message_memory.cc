#include "core/message_memory.h"

#include <string>
#include <variant>
#include <vector>

namespace shoal {
namespace {

uint64_t Of(const std::string& text) { return text.size(); }
uint64_t Of(const absl::Status& status) { return status.message().size(); }
uint64_t Of(const Histogram& histogram) {
  return histogram.buckets().size() * 64;  // nodes of a map
}
template <typename T>
uint64_t Of(const std::vector<T>& list) {
  return list.size() * sizeof(T);
}

// Bytes that a message holds outside the struct itself. Kinds that are not
// named here hold none.
struct Outside {
  template <typename Message>
  uint64_t operator()(const Message&) const {
    return 0;
  }

  uint64_t operator()(const Heartbeat& m) const {
    return Of(m.staleness) + Of(m.time.steps.micros);
  }
  uint64_t operator()(const PieceReport& m) const { return Of(m.first_error); }
  uint64_t operator()(const LeaseFailed& m) const { return Of(m.status); }
  uint64_t operator()(const MarkDelta& m) const { return Of(m.marks); }
  uint64_t operator()(const EvalResult& m) const {
    return Of(m.logits) + Of(m.labels);
  }
  uint64_t operator()(const ShardReport& m) const {
    uint64_t bytes = 0;
    for (const VariableStats& v : m.stats.variables) {
      bytes += sizeof(v) + Of(v.variable) + Of(v.staleness);
    }
    for (const auto& [worker, staleness] : m.stats.staleness) {
      bytes += sizeof(worker) + sizeof(staleness) + Of(staleness);
    }
    return bytes;
  }
  uint64_t operator()(const Failure& m) const { return Of(m.status); }
  uint64_t operator()(const ShardSaved& m) const {
    return Of(m.status) + Of(m.entry);
  }
  uint64_t operator()(const ManifestRequest& m) const {
    return Of(m.directory);
  }
  uint64_t operator()(const FileRequest& m) const {
    return Of(m.directory) + Of(m.file);
  }
  uint64_t operator()(const MarkRuns& m) const { return Of(m.runs); }
  uint64_t operator()(const StopRequest& m) const { return Of(m.reason); }

  uint64_t operator()(const ClusterView& m) const {
    uint64_t bytes = Of(m.ps);
    for (const PsInfo& ps : m.ps) bytes += Of(ps.address);
    bytes += Of(m.ranks);
    for (const RankInfo& rank : m.ranks) bytes += Of(rank.ring_address);
    return bytes;
  }
  uint64_t operator()(const LeaseGrant& m) const {
    return Of(m.lease.skip) + Of(m.lease.rejected);
  }
  uint64_t operator()(const StepClosed& m) const {
    return m.batches.size() * sizeof(PushedBatch);
  }
  uint64_t operator()(const JobEnd& m) const {
    return Of(m.status) + Of(m.summary);
  }
  uint64_t operator()(const SaveShard& m) const { return Of(m.directory); }
  uint64_t operator()(const CheckpointDone& m) const {
    return Of(m.directory) + Of(m.manifest.text);
  }
  uint64_t operator()(const ManifestPart& m) const {
    return Of(m.directory) + Of(m.text);
  }
  uint64_t operator()(const FilePart& m) const {
    return Of(m.directory) + Of(m.file) + Of(m.bytes) + Of(m.status);
  }
};

}  // namespace

uint64_t MemoryOf(const ProcessMessage& message) {
  return sizeof(message) + std::visit(Outside(), message);
}

uint64_t MemoryOf(const CoordinatorMessage& message) {
  return sizeof(message) + std::visit(Outside(), message);
}

}  // namespace shoal
