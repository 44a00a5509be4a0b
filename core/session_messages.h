#ifndef SHOAL_CORE_SESSION_MESSAGES_H_
#define SHOAL_CORE_SESSION_MESSAGES_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "base/histogram.h"
#include "base/resource_usage.h"
#include "core/ids.h"
#include "core/lease.h"
#include "core/mark.h"
#include "core/parameter_service.h"
#include "core/save_messages.h"

namespace shoal {

// What travels on a session, both ways, in order; with core/save_messages.h.

// ---- From a process to the coordinator

// What a worker life has done since it registered. Sums and counts grow.
struct TrainProgress {
  uint64_t examples = 0;  // in batches that all shards applied
  uint64_t batches = 0;
  double loss_sum = 0;  // over those examples, before the update
  // Exact AUC over the newest examples, each scored before it was trained on
  // (progressive validation), and how many these are; 0 examples: none yet.
  double recent_auc = 0;
  double recent_logloss = 0;
  uint64_t recent_examples = 0;
};

struct Heartbeat {
  // Grows within a life, from 1; the acknowledgement repeats it. The member
  // sets it.
  uint64_t number = 0;
  // How many messages of the session the process has taken so far, of those
  // that SessionOpening::taken counts. The member sets it.
  uint64_t taken = 0;
  ResourceUsage usage;
  TrainProgress progress;  // of a worker
  Histogram staleness;     // of a PS: all pushes applied so far
};

// A worker wants one more piece. Answered by one LeaseGrant, when there is one.
struct LeaseRequest {};

// The worker read the piece whole. A function of its bytes: a second report
// that differs means that the file changed (DATA_LOSS).
struct PieceReport {
  LeasePurpose purpose = LeasePurpose::kTrain;
  uint32_t epoch = 0;
  uint32_t piece = 0;
  uint64_t examples = 0;
  uint64_t bad_rows = 0;
  uint32_t batches = 0;
  std::string first_error;  // file, line and reason of the first bad row
  uint32_t crc32c = 0;      // of the piece's bytes, as they lie in the file
};

// The worker is through with a lease: every batch of it that was not skipped
// has a verdict of every shard. Ends the lease; only marks say `trained`.
struct LeaseDone {
  uint64_t lease = 0;
};

// A worker cannot go on with a lease (unreadable file). Ends it.
struct LeaseFailed {
  uint64_t lease = 0;
  absl::Status status;
};

// Label of a row that could not be parsed, where rows keep their places
// (LeasePurpose::kInfer alone, whose other labels are 0 or 1 and mean nothing);
// its scores are NaN.
inline constexpr uint8_t kBadRowLabel = 2;

// Scores of consecutive examples of one evaluation piece, in their order. A
// piece's scores travel as many results, so that no message grows with the
// piece; those of one lease come in order, from the first that was not skipped.
struct EvalResult {
  uint64_t lease = 0;
  uint32_t epoch = 0;  // Lease::epoch: which evaluation
  uint32_t piece = 0;
  std::vector<float> logits;    // rows × C, of the job's ScoreMetrics
  std::vector<uint8_t> labels;  // rows: as the metrics say, or kBadRowLabel
  uint64_t offset = 0;          // in the piece, of the first of them
  bool more = false;            // false: the piece ends with these
};

// A shard's answer to ReportShard. The marks made before it go before it.
struct ShardReport {
  StatsReply stats;
};

// The process must end the job: bad data, torn state, its own failure.
struct Failure {
  absl::Status status;
};

// The last word of a process that ends as the protocol wants; a last Heartbeat
// goes before it.
struct Bye {
  ResourceUsage usage;
};

using ProcessMessage =
    std::variant<Heartbeat, LeaseRequest, PieceReport, LeaseDone, LeaseFailed,
                 MarkDelta, EvalResult, ShardReport, Failure, Bye, Held,
                 ShardSaved, ShardLoaded, StopRequest, ManifestRequest,
                 MarkRuns, ShardWritten>;

// ---- From the coordinator to a process

struct PsInfo {
  std::string address;
  Life life;
};

// All shards are there: the job may begin. Sent again when one has a new life.
struct ClusterView {
  MapVersion map_version = 0;
  std::vector<PsInfo> ps;  // by shard
};

struct LeaseGrant {
  Lease lease;
};

// The coordinator heard the heartbeat of this number. A PS may serve for its
// lease (PsLoopOptions::ps_lease) from when it sent that heartbeat: an
// acknowledgement that lay in a queue prolongs nothing.
struct HeartbeatAck {
  uint64_t number = 0;
  uint64_t taken = 0;  // messages of the session, by the coordinator
};

// The first message on a connection that resumes a session: the coordinator has
// taken so many messages of the process, which sends those that follow again.
// Not counted itself.
struct SessionResumed {
  uint64_t taken = 0;
};

// To a PS, after the last push: send ShardReport.
struct ReportShard {};

// The job is over. OK: all samples are accounted for. Otherwise why not, naming
// the first failure. Answer with Bye and exit.
struct JobEnd {
  absl::Status status;
  std::string summary;  // lines for people
};

using CoordinatorMessage =
    std::variant<ClusterView, LeaseGrant, HeartbeatAck, ReportShard, JobEnd,
                 Hold, Resume, SaveShard, CheckpointDone, SessionResumed,
                 ManifestPart, MarkRunsRequest, CheckpointVoid>;

}  // namespace shoal

#endif  // SHOAL_CORE_SESSION_MESSAGES_H_
