#ifndef SHOAL_CLUSTER_LEDGER_H_
#define SHOAL_CLUSTER_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cluster/piece_marks.h"
#include "core/ids.h"
#include "core/mark.h"
#include "core/mark_run.h"

namespace shoal {

struct LedgerOptions {
  int num_shards = 1;
  uint32_t num_epochs = 1;
  uint32_t num_pieces = 0;
  uint32_t batch_size = 1;
};

struct LedgerTotals {
  // Examples of complete batches. While a piece is open, its newest batch is
  // left out: it may be the shorter last one.
  uint64_t trained = 0;
  uint64_t rejected = 0;
  // Complete batches: those that have every shard's mark.
  uint64_t batches = 0;
  uint64_t rejected_batches = 0;  // of them; the others were applied
  // Batches with marks of two shards that stem from different passes (leases).
  uint64_t mended = 0;
  // Batches that more than one pass pushed: marks or repeats, on any shard.
  uint64_t recomputed = 0;
  uint64_t repeats_refused = 0;  // pushes, all shards
};

// The AND of the shards' marks, batch by batch: what is trained is derived from
// it and never written. Pure logic, thread-compatible.
//
// Memory: 4 bytes a batch and shard, for the (epoch, piece)s that are not
// complete, or a bit a batch of what was restored; a bit for complete ones, and
// a few bits a batch where they hold a rejected or recomputed batch.
class Ledger {
 public:
  Ledger() : Ledger(LedgerOptions{}) {}
  explicit Ledger(LedgerOptions options);

  // Mark::lease of a mark that was loaded: it may be of any pass.
  static constexpr uint64_t kUnknownLease = PieceMarks::kUnknownPass;

  struct Added {
    bool fresh = false;           // a new mark, not a repeat
    bool piece_complete = false;  // by this mark
  };
  // One mark of a shard. Errors, which leave the ledger as it was:
  //   NOT_FOUND         the job has no such epoch, piece or index
  // and those with which the job cannot go on:
  //   DATA_LOSS         torn: two shards' verdicts on the batch differ; or the
  //                     piece has no such batch
  //   INVALID_ARGUMENT  no such shard or lease, a second mark that is not a
  //                     repeat, a repeat of what the shard had not marked
  absl::StatusOr<Added> Add(int shard, const Mark& mark);

  // All pushes that the shard refused as repeats so far.
  void SetRepeatsRefused(int shard, uint64_t count);

  // The piece was read whole. Returns the epochs in which it is complete by
  // that. DATA_LOSS: a mark beyond its end exists. Not to be called twice.
  absl::StatusOr<std::vector<uint32_t>> SetExamples(uint32_t piece,
                                                    uint64_t examples);

  // The marks that every shard was loaded with, before any other: a whole set,
  // of forward passes that are not known any more. Returns the (epoch, piece)s
  // that are complete by them. Time by runs and by pieces that they do not
  // complete, not by marks. Errors as of Add.
  absl::StatusOr<std::vector<std::pair<uint32_t, uint32_t>>> Restore(
      absl::Span<const MarkRun> marks);
  // What the state that was loaded had counted beside its marks.
  void SetEarlier(uint64_t mended, uint64_t recomputed,
                  uint64_t repeats_refused);

  // The shard's state is lost: its marks are dropped and what they completed is
  // complete no more. Returns the (epoch, piece)s that must be leased again.
  // What was counted as mended or recomputed stays counted.
  std::vector<std::pair<uint32_t, uint32_t>> DropShard(int shard);

  // All shards have marked the batch.
  bool Complete(const BatchId& batch) const;
  // Every batch of the piece is complete, and the piece is known.
  bool PieceComplete(uint32_t epoch, uint32_t piece) const;
  bool AllComplete() const { return complete_pieces_ == all_pieces_; }
  // How many epochs, from the first on, are complete with no gap.
  uint32_t CompleteEpochs() const;
  // The complete batches of a piece that is not complete, as Lease::skip wants
  // them.
  std::vector<uint8_t> CompleteBatches(uint32_t epoch, uint32_t piece) const;
  // (epoch, piece) with a batch that some shards have marked and others not,
  // ascending. Time by the pieces that are not complete and have a mark.
  std::vector<std::pair<uint32_t, uint32_t>> HalfMarked() const;
  // For a lease of the half-marked batches of a piece alone: all others, up to
  // the last half-marked one (Lease::skip with Lease::skip_rest).
  std::vector<uint8_t> AllButHalfMarked(uint32_t epoch, uint32_t piece) const;
  // The batches that some shards have rejected and others have not marked, as
  // Lease::rejected wants them.
  std::vector<uint8_t> HalfRejected(uint32_t epoch, uint32_t piece) const;
  // How much of the piece is complete, in [0, 1]; 0 while it is open.
  double FractionComplete(uint32_t epoch, uint32_t piece) const;

  const LedgerTotals& totals() const { return totals_; }

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // epoch, piece

  struct Entry {
    PieceMarks marks;
    uint64_t trained = 0;  // its share of the totals, in examples
    uint64_t rejected = 0;
  };
  using Entries = absl::flat_hash_map<Key, Entry>;

  bool Known(uint32_t piece) const { return examples_[piece].has_value(); }
  uint32_t Batches(uint32_t piece) const;  // REQUIRES: Known(piece)
  Entry& Open(Key key);                    // its entry, made if it is absent
  const Entry* FindOpen(Key key) const;
  absl::Status Validate(int shard, const Mark& mark) const;
  absl::StatusOr<Added> AddRepeat(int shard, const Mark& mark);
  absl::StatusOr<Added> AddFresh(int shard, const Mark& mark);
  // The runs of one piece. Returns whether they complete it.
  absl::StatusOr<bool> RestorePiece(absl::Span<const MarkRun> runs);
  // What a piece's complete batches hold, in examples: trained, rejected.
  std::pair<uint64_t, uint64_t> Examples(uint32_t piece,
                                         const PieceMarks& marks) const;
  void Recount(uint32_t piece, Entry& entry);
  // Whether nothing lacks; then the piece is complete and its details go.
  bool Settle(Key key);
  void SetComplete(Key key);

  LedgerOptions options_;
  uint64_t all_pieces_;  // over all epochs
  uint64_t complete_pieces_ = 0;
  std::vector<std::optional<uint64_t>> examples_;   // by piece
  std::map<uint32_t, std::vector<bool>> complete_;  // by epoch and piece
  std::map<uint32_t, uint32_t> complete_in_epoch_;  // pieces
  uint32_t complete_epochs_ = 0;                    // as far as was looked
  Entries open_;     // of what has a mark and is not complete
  Entries settled_;  // of what is complete, where there is something to keep
  std::vector<uint64_t> repeats_refused_;  // by shard
  LedgerTotals totals_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LEDGER_H_
