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
#include "absl/functional/any_invocable.h"
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
  // Limit of --max_ps_bytes: bytes of rows (whole records, with header and
  // padding), of the indexes of dynamic tables and of dense blocks that this
  // shard may hold. 0 is no limit. At the limit, pulls and pushes that need a
  // new row are refused without any change: OUT_OF_RANGE, or RESOURCE_EXHAUSTED
  // while another request may give back memory that it has reserved.
  uint64_t max_bytes = 0;
  // Limits of the marks' memory.
  MarksOptions marks;

  // The most memory that the variables of the shard take. If neither the tables
  // nor max_bytes bound a table that grows, the table is not counted and
  // `grows` is true.
  struct Memory {
    uint64_t bytes = 0;
    bool grows = false;
  };
  Memory MemoryBytes() const;
};

// One shard of all variables, in this process. Implements ParameterService: the
// work runs on the caller's thread, `done` on the executor. Thread-safe: each
// row has a lock, and so has each dense block. Another lock guards marks, count
// and staleness; it is never held while rows are read or updated.
//
// The steps of a push: answer a repeat → check the whole request → reserve
// memory → admit all its batches to the marks → apply → mark. After the marks
// have admitted the push, no step can fail. A copy of a push that another
// thread is applying occupies no thread: its completion is kept, and answered
// with the first copy's verdict, or with DEADLINE_EXCEEDED at its timeout.
//
// Version::count is the number of completely applied pushes. A pull reads it
// before it gathers, so every value is at least as new. A push of several
// batches counts once, and a push that is rejected whole does not count. Adam's
// t of a push is its number, from 1, among the pushes admitted to be applied:
// count + 1 if pushes do not overlap. If the gradient of a push is not sound,
// all batches of the push are marked rejected.
class ParameterShard final : public ParameterService {
 public:
  // `executor` must outlive the shard. Errors: INVALID_ARGUMENT,
  // RESOURCE_EXHAUSTED (the dense blocks alone exceed max_bytes).
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Create(
      ParameterShardOptions options, Executor* executor);

  // Creates the shard with the state of a checkpoint over any number n of
  // shards: every row, dense block, slot and counter of this shard bit for bit,
  // and the marks, which are the same set on all shards of a cut. Reads only
  // the parts of the files that this shard needs, in blocks of 1 MiB, each
  // checked against its CRC. The seed of the initial values becomes the
  // checkpoint's; with Unseen::kZero absent rows are zero instead. MarkRuns
  // returns the loaded marks; TakeMarks does not. Counts of look-ups and
  // staleness start at 0.
  //
  // If n is not map.num_shards, the canary and the shared row of a full dynamic
  // table are those of shard (options.shard mod n). Errors: those of Create;
  // FAILED_PRECONDITION (CheckLoadable), NOT_FOUND (a file is not on this
  // host), DATA_LOSS naming file, tensor and block, RESOURCE_EXHAUSTED
  // (max_bytes, row_limit).
  static absl::StatusOr<std::unique_ptr<ParameterShard>> Load(
      ParameterShardOptions options, Executor* executor,
      const LoadShardOptions& load);

  // REQUIRES: no call is in progress. Then no copy waits either.
  ~ParameterShard() override = default;
  ParameterShard(const ParameterShard&) = delete;
  ParameterShard& operator=(const ParameterShard&) = delete;

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override;
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override;
  // The part of Push that changes nothing, for a push that waits before it is
  // applied (step_shard.h): admits the call, answers a repeat, and checks the
  // whole request. nullopt: the push is valid, and its batches have no marks.
  // Errors: those of Push that concern the request.
  absl::StatusOr<std::optional<PushReply>> Check(const PushRequest& request,
                                                 absl::Duration timeout);
  // The answer to a push that came too late for its step.
  PushReply Dropped() const;
  // The digest reads every row in existence, so Stats is for reports, not for
  // monitoring at short intervals.
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override;

  // Ends the leases with numbers up to `newest`: from now on a push under such
  // a lease is refused (FAILED_PRECONDITION), unless the shard has the batch
  // already; then it is answered as a repeat. `done` runs on the executor,
  // never inside the call, when the pushes that were admitted before are
  // applied: TakeMarks has all marks of these leases then. For the servers of a
  // job whose ranks change, not for replicas, which may get an older step.
  void EndLeases(uint64_t newest, absl::AnyInvocable<void() &&> done);

  // Returns the marks made since the last call, in order, to be sent to the
  // coordinator.
  MarkDelta TakeMarks();

  // Seals the shard: after this returns OK, nothing in the shard changes until
  // Unseal. Meanwhile pushes of batches without a mark are refused
  // (UNAVAILABLE, retry) and repeats are answered. Pulls go on; pulls for
  // training compute the initial values of absent rows without storing them.
  // DEADLINE_EXCEEDED if a request in progress did not end; then the shard is
  // not sealed. Blocks the caller.
  absl::Status Seal(absl::Duration timeout) { return gate_.Close(timeout); }
  void Unseal() { gate_.Open(); }

  // The name of this shard's file in a checkpoint.
  std::string file_name() const;

  // Writes every byte of the shard to a file in options.directory, on the
  // caller's thread, with a few blocks of memory. This takes seconds for a
  // large shard. The shard is sealed meanwhile, even if Unseal is called. When
  // Write returns, the shard may change again, while WrittenShard::Commit waits
  // for the disk.
  //
  // Errors: FAILED_PRECONDITION (another Write is in progress),
  // DEADLINE_EXCEEDED (pushes in progress did not end), CANCELLED, and the file
  // system's errors, naming the file. After an error there is no file.
  absl::StatusOr<std::unique_ptr<WrittenShard>> Write(
      const SaveShardOptions& options);
  // Write, then Commit. Returns the shard's entry in the manifest. Errors:
  // those of both.
  absl::StatusOr<ShardEntry> Save(const SaveShardOptions& options);

  // All marks of the shard, including loaded marks.
  std::vector<MarkRun> MarkRuns() const;
  MarkTotals TotalMarks() const;

  // All staleness measured so far, over all workers.
  Histogram Staleness() const;

  // The shard's counters, for monitoring. Reads no row.
  struct Counts {
    bool serving = false;
    uint64_t pushes_applied = 0;   // these three count batches
    uint64_t pushes_rejected = 0;
    uint64_t repeats_refused = 0;
    uint64_t lookups = 0;
    uint64_t rows = 0;         // rows in existence, without the canary's
    uint64_t bytes_held = 0;   // bytes that count against the limit
    uint64_t bytes_limit = 0;  // 0: no limit
  };
  Counts Count() const;

  // Lets the shard serve requests until `until` (a PS lease with the
  // coordinator). A new shard serves nothing before the first call.
  // absl::InfiniteFuture() lets it serve for ever, in one process.
  void ServeUntil(absl::Time until);

 private:
  struct Waiter;

  ParameterShard(ParameterShardOptions options, Executor* executor);

  // The work of Pull, Push and Stats, on the caller's thread.
  absl::StatusOr<PullReply> PullNow(const PullRequest& request);
  absl::StatusOr<StatsReply> StatsNow(const StatsRequest& request);
  // Returns nullopt if the push is a copy that has to wait, as `waiter`.
  absl::StatusOr<std::optional<PushReply>> PushNow(
      const PushRequest& request, const std::shared_ptr<Waiter>& waiter);

  absl::StatusOr<std::unique_ptr<WrittenShard>> WriteSealed(
      const SaveShardOptions& options);

  // Memory that a request needs, kept for the next request.
  struct Scratch {
    RepeatFinder finder;
    std::vector<RowRefs> rows;  // by position in the request's tables
  };

  // Checks that the shard is serving and that the call is for this shard.
  absl::Status Admit(const CallIdentity& identity,
                     absl::Duration timeout) const;
  // Finds the rows of every table of the request. Unless read_only, reserves
  // memory for the rows that it may create. The caller must gather, apply or
  // release all of them.
  template <typename TableRequest>
  absl::Status LocateRows(const std::vector<TableRequest>& tables,
                          bool read_only, Scratch* scratch);
  template <typename TableRequest>
  void ReleaseRows(const std::vector<TableRequest>& tables, Scratch* scratch);
  // Checks the push and decides on it: PushNow with given scratch memory.
  absl::StatusOr<std::optional<PushReply>> CheckAndApply(
      const PushRequest& request, const std::shared_ptr<Waiter>& waiter,
      Scratch* scratch);
  // Updates all located rows, and the dense blocks.
  void Apply(const PushRequest& request, uint64_t t, Scratch* scratch);
  // Updates the rows that the push does not name, in tables with
  // L2Scope::kTable. Must run before the named rows are updated.
  void ApplyToOthers(const PushRequest& request, uint64_t t,
                     const Scratch& scratch);
  // The answer to a repeat; nullopt: the batches have no marks.
  absl::StatusOr<std::optional<PushReply>> AnswerRepeat(
      const PushedBatches& batches);
  PushReply RepeatReply(Verdict verdict) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RecordStaleness(const PushRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks an admitted push and answers the copies that waited for it.
  PushReply Finish(const PushRequest& request, Verdict verdict);
  Version CurrentVersion() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint64_t Lookups() const;  // total over all tables

  const ParameterShardOptions options_;
  const CallIdentity identity_;  // without the worker's life
  Executor* const executor_;
  // Index of each table's first column among the variables: the columns of all
  // tables, then the dense variables.
  std::vector<uint32_t> first_variable_;

  MemoryBudget budget_;     // thread-safe; the tables count against it
  ShardContents contents_;  // each part is thread-safe
  uint64_t loaded_foreign_canaries_ = 0;  // from earlier starts
  std::atomic<int64_t> serve_until_ns_;
  std::vector<std::atomic<uint64_t>> lookups_;  // by table
  std::atomic<Colour> colour_{0};
  SaveGate gate_;  // thread-safe
  std::atomic<bool> saving_{false};

  mutable Mutex mu_;
  Marks marks_ ABSL_GUARDED_BY(mu_);
  StalenessLog staleness_ ABSL_GUARDED_BY(mu_);
  uint64_t count_ ABSL_GUARDED_BY(mu_) = 0;     // completely applied pushes
  uint64_t admitted_ ABSL_GUARDED_BY(mu_) = 0;  // pushes admitted to be applied
  uint64_t next_ticket_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Waiter>> waiters_
      ABSL_GUARDED_BY(mu_);
  // `done` of EndLeases, until no push is being applied.
  std::vector<absl::AnyInvocable<void() &&>> leases_ended_ ABSL_GUARDED_BY(mu_);

  ObjectPool<Scratch> scratch_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_PARAMETER_SHARD_H_
