#ifndef SHOAL_CORE_SESSION_MESSAGES_H_
#define SHOAL_CORE_SESSION_MESSAGES_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "base/histogram.h"
#include "base/resource_usage.h"
#include "core/generation_messages.h"
#include "core/ids.h"
#include "core/lease.h"
#include "core/mark.h"
#include "core/parameter_service.h"
#include "core/payload_bytes.h"
#include "core/save_messages.h"
#include "core/step_messages.h"
#include "core/worker_time.h"

namespace shoal {

// The messages of a session, in both directions. Each direction is in order.
// The messages about checkpoints are in core/save_messages.h, and those about
// steps in core/step_messages.h, and those about generations in
// core/generation_messages.h.

// ---- From a process to the coordinator

// The work of a worker life since it registered. Sums and counts only grow.
struct TrainProgress {
  uint64_t examples = 0;  // in batches that all shards applied
  uint64_t batches = 0;
  double loss_sum = 0;  // over those examples, before the update
  // Exact AUC and logloss over the newest `recent_examples` examples, each
  // scored before it was trained on (progressive validation). No examples: no
  // figures yet. An AUC of 0: the examples have one label only.
  double recent_auc = 0;
  double recent_logloss = 0;
  uint64_t recent_examples = 0;
};

struct Heartbeat {
  // Number of the heartbeat, which grows within a life, from 1. The
  // acknowledgement repeats the number. Set by ClusterMember.
  uint64_t number = 0;
  // Messages of the session that the process has taken so far, counted as in
  // SessionOpening::taken. Set by ClusterMember.
  uint64_t taken = 0;
  ResourceUsage usage;
  TrainProgress progress;  // from a worker
  Histogram staleness;     // from a PS, of all pushes applied so far
  RankStanding standing;   // from a rank
  PayloadBytes bytes;      // since the process registered
  WorkerTime time;         // from a worker
};

// A worker asks for one more piece. The coordinator answers with one
// LeaseGrant, as soon as it has a piece to give.
struct LeaseRequest {};

// The worker has read the whole piece. The report is a function of the piece's
// bytes: a second report that differs means that the file changed (DATA_LOSS).
struct PieceReport {
  LeasePurpose purpose = LeasePurpose::kTrain;
  uint32_t epoch = 0;
  uint32_t piece = 0;
  uint64_t examples = 0;
  uint64_t bad_rows = 0;
  uint32_t batches = 0;
  // File, line and reason of the first bad rows, one row a line; at most
  // kNamedBadRows.
  std::string first_error;
  uint32_t crc32c = 0;  // CRC-32C of the piece's bytes, as in the file
};

// The most bad rows that a job names; further ones are only counted.
inline constexpr size_t kNamedBadRows = 5;

// The worker has finished a lease: every shard has given a verdict on every
// batch that was not skipped. Ends the lease. Only marks make a batch count as
// trained.
struct LeaseDone {
  uint64_t lease = 0;
  // The progress of the worker so far, without the recent figures, so that the
  // coordinator knows the loss of a job that is shorter than a heartbeat.
  TrainProgress progress = {};
};

// A worker cannot go on with a lease, for example because a file is unreadable.
// Ends the lease.
struct LeaseFailed {
  uint64_t lease = 0;
  absl::Status status;
};

// Scores of consecutive examples of one evaluation piece, in the order of the
// examples. The scores of a piece travel as several results, so that no message
// grows with the piece. The results of one lease come in order, beginning with
// the first example that was not skipped.
struct EvalResult {
  uint64_t lease = 0;
  uint32_t epoch = 0;  // Lease::epoch: which evaluation
  uint32_t piece = 0;
  std::vector<float> logits;    // rows × C, of the job's ScoreMetrics
  std::vector<uint8_t> labels;  // by row (core/label.h)
  uint64_t offset = 0;          // position of the first row in the piece
  bool more = false;            // false: the piece ends with these rows
};

// A shard's answer to ReportShard. The shard sends all earlier marks before
// this message.
struct ShardReport {
  StatsReply stats;
};

// The process must end the job: bad data, inconsistent state, or a failure of
// the process.
struct Failure {
  absl::Status status;
};

// The last message of a process that ends by protocol, sent after a last
// Heartbeat.
struct Bye {
  ResourceUsage usage;
};

using ProcessMessage =
    std::variant<Heartbeat, LeaseRequest, PieceReport, LeaseDone, LeaseFailed,
                 MarkDelta, EvalResult, ShardReport, Failure, Bye, Held,
                 ShardSaved, ShardLoaded, StopRequest, ManifestRequest,
                 MarkRuns, ShardWritten, StepsFinished, StepParked,
                 StepTakenOut, FileRequest, GenerationReady, ReplicaLevel,
                 RingBroken>;

// ---- From the coordinator to a process

struct PsInfo {
  std::string address;
  Life life;
};

// A rank of a ring.
struct RankInfo {
  std::string ring_address;  // RegisterRequest::ring_address
  Life life;
};

// All shards are registered: the job may begin. Sent again when a shard gets a
// new life, and when a generation begins.
struct ClusterView {
  MapVersion map_version = 0;
  std::vector<PsInfo> ps;       // by index; see PsMembers
  std::vector<RankInfo> ranks;  // by rank; empty if the job has no ring
  uint64_t generation = 1;      // of the ranks
};

struct LeaseGrant {
  Lease lease;
};

// The coordinator heard the heartbeat of this number. A PS may serve for the
// length of its lease (PsLoopOptions::ps_lease) from the time at which it sent
// that heartbeat, so an acknowledgement that waited in a queue prolongs
// nothing.
struct HeartbeatAck {
  uint64_t number = 0;
  uint64_t taken = 0;  // messages of the session that the coordinator took
};

// The first message on a connection that resumes a session. The coordinator has
// taken the first `taken` messages of the process, and the process sends the
// later ones again. This message is not counted.
struct SessionResumed {
  uint64_t taken = 0;
};

// To a PS, after the last push: send ShardReport.
struct ReportShard {};

// The job is over. OK: all samples are accounted for. Any other status names
// the first failure. Answer with Bye and exit.
struct JobEnd {
  absl::Status status;  // UNAVAILABLE: see LostProcess (core/job_loss.h)
  std::string summary;  // lines for people
};

using CoordinatorMessage =
    std::variant<ClusterView, LeaseGrant, HeartbeatAck, ReportShard, JobEnd,
                 Hold, Resume, SaveShard, CheckpointDone, SessionResumed,
                 ManifestPart, MarkRunsRequest, CheckpointVoid, Pace,
                 StepClosed, StepsReleased, FilePart, NewGeneration,
                 GenerationBegan>;

}  // namespace shoal

#endif  // SHOAL_CORE_SESSION_MESSAGES_H_
