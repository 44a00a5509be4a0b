#ifndef SHOAL_CORE_CLUSTER_SERVICE_H_
#define SHOAL_CORE_CLUSTER_SERVICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/resource_usage.h"
#include "core/ids.h"
#include "core/parameter_service.h"
#include "core/save_messages.h"

namespace shoal {

// ---- Registration -----------------------------------------------------------

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

// ---- What travels on a session, both ways, in order -------------------------

// A piece of the data: bytes [begin, end) of source `source`; a record belongs
// to the piece that holds its first byte.
struct Piece {
  uint32_t index = 0;   // in the piece table of its purpose
  uint32_t source = 0;  // index into the sources of its purpose
  uint64_t begin = 0;
  uint64_t end = 0;
};

// To evaluate is to score the piece's rows; to infer is the same for rows whose
// labels mean nothing and whose place must be kept (EvalResult).
enum class LeasePurpose : uint8_t { kTrain = 1, kEvaluate = 2, kInfer = 3 };

// A piece given to one worker until a time that each heartbeat renews.
struct Lease {
  uint64_t number = 0;  // grows within a job; names the forward passes under it
  LeasePurpose purpose = LeasePurpose::kTrain;
  uint32_t epoch = 0;  // of an evaluation: which evaluation
  Piece piece;
  uint32_t batch_size = 0;  // examples; fixed with the piece table
  // Batches not to train: complete, or left to another lease. Bit i of byte
  // i / 8 is batch i; batches beyond the end are to be trained.
  std::vector<uint8_t> skip;
  // A speculative copy works from the end, towards the straggler.
  bool backwards = false;
  Colour colour = 0;  // for batches that no shard has seen
  // Batches beyond the end of `skip` are not to be trained either: the lease is
  // of a few batches that lack a mark.
  bool skip_rest = false;
  // Batches that a shard has rejected and another shard has not marked yet, as
  // bits like `skip`: whatever this pass makes of such a batch, it is pushed as
  // rejected, so that all shards have one verdict.
  std::vector<uint8_t> rejected;

  bool Skips(uint32_t index) const {
    if (index / 8 >= skip.size()) return skip_rest;
    return skip[index / 8] >> (index % 8) & 1;
  }
  bool Rejected(uint32_t index) const {
    return index / 8 < rejected.size() &&
           rejected[index / 8] >> (index % 8) & 1;
  }
};

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

// From a process to the coordinator:

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

// A shard's mark: the verdict on a batch and the pass that it came from.
struct Mark {
  BatchId batch;
  Verdict verdict = Verdict::kApplied;
  uint64_t lease = 0;
  // Not a new mark: a copy of a marked batch came from another pass, `lease`.
  bool repeat = false;
};

// The marks of one MarkDelta at most: more travel as several. A mark takes at
// most 36 bytes on the wire, so a message stays below 5 MiB.
inline constexpr size_t kMarksPerDelta = 128 << 10;

// Marks in the order in which the shard made them, none left out or repeated.
struct MarkDelta {
  std::vector<Mark> marks;
  uint64_t repeats_refused = 0;  // all so far
};

// The same as messages of at most kMarksPerDelta marks, in order; at least one.
std::vector<MarkDelta> SplitMarks(MarkDelta delta);

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

// From the coordinator to a process:

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

// ---- The seam ---------------------------------------------------------------

// What a process says when it opens a connection for the session of its life.
struct SessionOpening {
  Life life;
  // The session had a connection before, or tried to: it goes on. Answered by
  // SessionResumed.
  bool resume = false;
  uint64_t taken = 0;  // messages of the session that the process has taken
  // Of a PS: all the marks that its shard has. A shard that has lost some of
  // them cannot go on.
  MarkTotals marks;
};

// Callbacks of one connection, run in order on the executor of the
// ClusterService and never inside a call of ours.
struct SessionHandler {
  absl::AnyInvocable<void(CoordinatorMessage)> on_message;
  // The connection is over; runs once and last. OK after a Bye that the
  // coordinator took. UNAVAILABLE: the connection broke, or could not be made;
  // the process may resume the session over another one. Anything else ends the
  // life (NOT_FOUND: the coordinator is gone): the process may register again.
  absl::AnyInvocable<void(absl::Status)> on_end;
};

// One connection of a process to the coordinator. A session is all that is said
// in one life, over one connection after the other. Thread-safe. Destroying it
// ends it; on_end may still run once after that.
class ClusterSession {
 public:
  virtual ~ClusterSession() = default;
  // Queued and delivered in order, or the connection ends. Never blocks.
  virtual void Send(ProcessMessage message) = 0;
};

// SEAM: the coordinator as a process sees it. Implementations: Coordinator in
// process (cluster), the gRPC client (rpc). Thread-safe.
class ClusterService {
 public:
  virtual ~ClusterService() = default;

  // Makes the process known and gives it a life. A life whose session is not
  // open yet, or whose connection is broken, ends with the next request of its
  // role and index, which is a later one of its process or another process's.
  // Errors: FAILED_PRECONDITION (protocol version, job, the first flag that
  // differs, sources that differ, a shard whose state is lost; the message says
  // which and what to do), ALREADY_EXISTS (a live process has this role and
  // index), UNAVAILABLE, UNAUTHENTICATED, DEADLINE_EXCEEDED (no life was given,
  // or its answer came too late). `done` as in ParameterService.
  virtual void Register(RegisterRequest request, absl::Duration timeout,
                        Done<RegisterReply> done) = 0;

  // Opens the session of a registered life, or resumes it over a new
  // connection. Failure comes by on_end: FAILED_PRECONDITION (the life is not
  // known, or over), OUT_OF_RANGE (what was not acknowledged is not kept any
  // more).
  virtual std::unique_ptr<ClusterSession> OpenSession(
      SessionOpening opening, SessionHandler handler) = 0;

  // Saves a checkpoint of the job now, for somebody who is no member of it.
  // Errors: FAILED_PRECONDITION (other job, one that saves none or is ending),
  // why the checkpoint is void, those of a call, and UNIMPLEMENTED (inline)
  // where this is not overridden. `done` as in ParameterService.
  virtual void SaveCheckpoint(SaveCheckpointRequest request,
                              absl::Duration timeout,
                              Done<SavedCheckpoint> done);
};

}  // namespace shoal

#endif  // SHOAL_CORE_CLUSTER_SERVICE_H_
