#ifndef SHOAL_PS_SHARD_PARAMETER_SHARD_H_
#define SHOAL_PS_SHARD_PARAMETER_SHARD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "base/object_pool.h"
#include "checkpoint/shard_entry.h"
#include "core/done.h"
#include "core/ids.h"
#include "core/mark.h"
#include "core/mark_run.h"
#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "core/shard_map.h"
#include "ps/shard/marks.h"
#include "ps/shard/repeat_finder.h"
#include "ps/shard/save_gate.h"
#include "ps/shard/shard_checkpoint.h"
#include "ps/shard/shard_contents.h"
#include "ps/shard/staleness.h"
#include "ps/shard/written_shard.h"
#include "ps/table/embedding_table.h"
#include "ps/table/memory_budget.h"

namespace shoal {

struct ParameterShardOptions {
  std::string job;
  ModelSpec model;
  ShardMap map;
  int shard = 0;
  Life life;
  // Bytes of rows (whole records, with header and padding), of the indexes of
  // dynamic tables and of dense blocks that this shard may hold; 0: no limit.
  // --max_ps_bytes. Beyond it pulls and pushes that need a new row are refused
  // and nothing is changed: OUT_OF_RANGE, or RESOURCE_EXHAUSTED while another
  // request may give back what it has reserved.
  uint64_t max_bytes = 0;
  // Limits of the marks' memory.
  MarksOptions marks;

  // What the variables of the shard take at most: without limits of the tables
  // or max_bytes, tables that grow are not counted, and `grows` says so.
  struct Memory {
    uint64_t bytes = 0;
    bool grows = false;
  };
  Memory MemoryBytes() const;
};

// One shard of all variables, in this process. Implements ParameterService:
// the work runs on the caller's thread, `done` on the executor. Thread-safe:
// rows are guarded by a lock each, dense blocks by one each; marks, count and
// staleness by one that is never held while rows are read or updated.
//
// A push goes: a repeat? → check the whole → reserve memory → admit to the
// marks → apply → mark. After the marks admitted it, nothing can fail. A copy
// of a push that another thread is applying holds no thread: its completion is
// kept and answered with the first one's verdict, or with DEADLINE_EXCEEDED at
// its timeout.
//
// Version::count is the number of pushes applied whole; a pull reads it before
// it gathers, so every value is at least as new. A rejected push does not
// advance it. Adam's t of a push is its number among the pushes admitted to be
// applied, from 1: count + 1 where pushes do not overlap.
class ParameterShard final : public ParameterService {
 public:
  // `executor` must outlive the shard. Errors: INVALID_ARGUMENT,
  // RESOURCE_EXHAUSTED (the dense blocks alone exceed max_bytes).
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Create(
      ParameterShardOptions options, Executor* executor);

  // The same, with the state of a checkpoint over n shards, whatever n is:
  // every row of this shard, dense block, slot and counter bit for bit, and the
  // marks, which are one set on all shards of a cut. Reads of the files what
  // this shard needs, in blocks of 1 MiB, each checked against its CRC. The
  // seed of the initial values becomes the checkpoint's. Marks that were loaded
  // are in MarkRuns, not in TakeMarks; look-ups and staleness begin anew.
  //
  // With n other than map.num_shards, the canary and the row that ids share in
  // a full dynamic table are those of shard (options.shard mod n).
  // Errors: Create's; FAILED_PRECONDITION (CheckLoadable), NOT_FOUND (a file
  // that is not here), DATA_LOSS naming file, tensor and block,
  // RESOURCE_EXHAUSTED (max_bytes, row_limit).
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Load(
      ParameterShardOptions options, Executor* executor,
      const LoadShardOptions& load);

  // No call may be in progress, and then no copy waits.
  ~ParameterShard() override = default;
  ParameterShard(const ParameterShard&) = delete;
  ParameterShard& operator=(const ParameterShard&) = delete;

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override;
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override;
  // The digest reads every row in existence: for reports, not for monitoring
  // at short intervals.
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override;

  // New marks since the last call, in order, for the session to the
  // coordinator.
  MarkDelta TakeMarks();

  // Seals the shard: once this returns OK nothing in it changes until Unseal.
  // Pushes of batches without a mark are refused (UNAVAILABLE, retry), repeats
  // are answered; pulls go on, and those for training compute the initial
  // values of absent rows without storing them. DEADLINE_EXCEEDED: a request in
  // progress did not end; the shard is not sealed. Blocks the caller.
  absl::Status Seal(absl::Duration timeout) { return gate_.Close(timeout); }
  void Unseal() { gate_.Open(); }

  // Of its file in a checkpoint.
  std::string file_name() const;

  // Gives every byte of the shard to a file in options.directory, on the
  // caller's thread, for seconds where the shard is large, holding a few blocks
  // of memory. Sealed meanwhile, also where an Unseal comes; when this returns
  // the shard may change, while WrittenShard::Commit waits for the disk.
  //
  // Errors: FAILED_PRECONDITION (another Write is in progress),
  // DEADLINE_EXCEEDED (pushes that do not end), CANCELLED, the file system's,
  // naming the file. After an error there is no file.
  absl::StatusOr<std::unique_ptr<WrittenShard>> Write(
      const SaveShardOptions& options);
  // Write and Commit. Returns what the manifest says of the shard. Errors:
  // those of both.
  absl::StatusOr<ShardEntry> Save(const SaveShardOptions& options);

  // All marks of the shard, those that it was loaded with too.
  std::vector<MarkRun> MarkRuns() const;
  MarkTotals TotalMarks() const;

  // All staleness measured so far, every worker together.
  Histogram Staleness() const;

  // What a shard has counted, without reading a row: for monitoring.
  struct Counts {
    bool serving = false;
    uint64_t pushes_applied = 0;
    uint64_t pushes_rejected = 0;
    uint64_t repeats_refused = 0;
    uint64_t lookups = 0;
    uint64_t rows = 0;         // in existence, the canary's left out
    uint64_t bytes_held = 0;   // as they count against the limit
    uint64_t bytes_limit = 0;  // 0: none
  };
  Counts Count() const;

  // Serves requests until `until` (a PS lease with the coordinator); at first
  // nothing is served. absl::InfiniteFuture(): for ever, in one process.
  void ServeUntil(absl::Time until);

 private:
  struct Waiter;

  ParameterShard(ParameterShardOptions options, Executor* executor);

  // What Pull, Push and Stats do, on the caller's thread.
  absl::StatusOr<PullReply> PullNow(const PullRequest& request);
  absl::StatusOr<StatsReply> StatsNow(const StatsRequest& request);
  // nullopt: the copy has to wait, under `waiter`.
  absl::StatusOr<std::optional<PushReply>> PushNow(
      const PushRequest& request, const std::shared_ptr<Waiter>& waiter);

  absl::StatusOr<std::unique_ptr<WrittenShard>> WriteSealed(
      const SaveShardOptions& options);

  // What a request needs on its way, kept for the next one.
  struct Scratch {
    RepeatFinder finder;
    std::vector<RowRefs> rows;  // by position among the request's tables
  };

  // May this call be served, and is it for this shard?
  absl::Status Admit(const CallIdentity& identity,
                     absl::Duration timeout) const;
  // Finds the rows of every table of the request, and unless read_only reserves
  // what those need that it may create. The caller gathers, applies or releases
  // them all.
  template <typename TableRequest>
  absl::Status LocateRows(const std::vector<TableRequest>& tables,
                          bool read_only, Scratch* scratch);
  template <typename TableRequest>
  void ReleaseRows(const std::vector<TableRequest>& tables, Scratch* scratch);
  // Checks the push and decides on it: what PushNow does, with memory.
  absl::StatusOr<std::optional<PushReply>> CheckAndApply(
      const PushRequest& request, const std::shared_ptr<Waiter>& waiter,
      Scratch* scratch);
  // Updates all rows, located before, and blocks.
  void Apply(const PushRequest& request, uint64_t t, Scratch* scratch);
  // Updates what the push does not name, in tables with L2Scope::kTable. Comes
  // before the named rows are updated.
  void ApplyToOthers(const PushRequest& request, uint64_t t,
                     const Scratch& scratch);
  PushReply RepeatReply(Verdict verdict) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RecordStaleness(const PushRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks an admitted batch; answers the copies that waited for it.
  PushReply Finish(const PushRequest& request, Verdict verdict);
  Version CurrentVersion() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint64_t Lookups() const;  // of all tables

  const ParameterShardOptions options_;
  const CallIdentity identity_;  // the worker's life is left out
  Executor* const executor_;
  // Index of each table's first column among the variables: the columns of all
  // tables, then the dense variables.
  std::vector<uint32_t> first_variable_;

  MemoryBudget budget_;     // thread-safe; the tables count against it
  ShardContents contents_;  // thread-safe, each part
  uint64_t loaded_foreign_canaries_ = 0;  // of the starts before this one
  std::atomic<int64_t> serve_until_ns_;
  std::vector<std::atomic<uint64_t>> lookups_;  // by table
  std::atomic<Colour> colour_{0};
  SaveGate gate_;  // thread-safe
  std::atomic<bool> saving_{false};

  mutable Mutex mu_;
  Marks marks_ ABSL_GUARDED_BY(mu_);
  StalenessLog staleness_ ABSL_GUARDED_BY(mu_);
  uint64_t count_ ABSL_GUARDED_BY(mu_) = 0;     // pushes applied whole
  uint64_t admitted_ ABSL_GUARDED_BY(mu_) = 0;  // pushes that began to be
  uint64_t next_ticket_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Waiter>> waiters_
      ABSL_GUARDED_BY(mu_);

  ObjectPool<Scratch> scratch_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_PARAMETER_SHARD_H_
