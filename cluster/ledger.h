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
  int num_members = 1;  // PSs of the job; the ledger has a column for each
  uint32_t num_epochs = 1;
  uint32_t num_pieces = 0;
  uint32_t batch_size = 1;
};

struct LedgerTotals {
  // Examples of complete batches. While a piece is open, its newest batch is
  // left out, since that batch may be the last one, which is shorter.
  uint64_t trained = 0;
  uint64_t rejected = 0;
  // Examples that the batches which are left out have at most.
  uint64_t newest = 0;
  // Complete batches: those that have every member's mark.
  uint64_t batches = 0;
  uint64_t rejected_batches = 0;  // complete; the other batches were applied
  // Batches with marks of two members that stem from different passes (leases).
  uint64_t mended = 0;
  // Batches that more than one pass pushed: marks or repeats, on any member.
  uint64_t recomputed = 0;
  uint64_t repeats_refused = 0;  // copies of batches, over all members
};

// The AND of the marks of all PS members, batch by batch. A column of the
// ledger is a member (core/ps_members.h), not a shard: replicas of one shard
// mark every batch each, and the column of a lost replica leaves the ledger.
// What is trained is derived from the ledger and never written to it. Pure
// logic, thread-compatible.
//
// Memory: an (epoch, piece) that is not complete takes 4 bytes a batch and
// member, or a bit a batch for restored marks. A complete one takes a bit, and
// a few bits a batch if it holds a rejected or recomputed batch.
class Ledger {
 public:
  Ledger() : Ledger(LedgerOptions{}) {}
  explicit Ledger(LedgerOptions options);

  // Mark::lease of a mark that was loaded: its pass is not known.
  static constexpr uint64_t kUnknownLease = PieceMarks::kUnknownPass;

  struct Added {
    bool fresh = false;           // a new mark, not a repeat
    bool piece_complete = false;  // this mark made its piece complete
  };
  // Adds a mark of a member. Errors, which leave the ledger as it was:
  //   NOT_FOUND         the job has no such epoch, piece or index
  // and errors with which the job cannot go on:
  //   DATA_LOSS         torn: two members' verdicts on the batch differ; or the
  //                     piece has no such batch
  //   INVALID_ARGUMENT  no such member or lease; a second mark that is not a
  //                     repeat; a repeat of a batch that the member has not
  //                     marked
  absl::StatusOr<Added> Add(int member, const Mark& mark);

  // Sets the number of pushes that the member has refused as repeats so far.
  void SetRepeatsRefused(int member, uint64_t count);

  // The piece was read whole. Returns the epochs in which this makes the piece
  // complete. DATA_LOSS: a mark beyond its end exists. Not to be called twice.
  absl::StatusOr<std::vector<uint32_t>> SetExamples(uint32_t piece,
                                                    uint64_t examples);

  // Restores the marks with which every member was loaded, before any other
  // mark is added: a whole set, whose forward passes are not known any more.
  // Returns the (epoch, piece)s that these marks make complete. The time grows
  // with the runs and with the pieces that they do not complete, not with the
  // marks. Errors: those of Add.
  absl::StatusOr<std::vector<std::pair<uint32_t, uint32_t>>> Restore(
      absl::Span<const MarkRun> marks);
  // Sets the counts of the loaded state that its marks do not tell.
  void SetEarlier(uint64_t mended, uint64_t recomputed,
                  uint64_t repeats_refused);

  // The member's state is lost: its marks are dropped, and pieces that they had
  // completed are complete no more. Returns the (epoch, piece)s that must be
  // leased again. The counts of mended and recomputed batches stay.
  std::vector<std::pair<uint32_t, uint32_t>> DropMember(int member);

  // The member, a replica of a shard, is lost, and the others have the shard:
  // the member's column leaves the ledger, with its marks. A batch that only
  // this member had has no mark any more. Returns the (epoch, piece)s that are
  // complete without the column. Later marks of the member are refused. Does
  // nothing if no other member is left.
  std::vector<std::pair<uint32_t, uint32_t>> RemoveMember(int member);

  // Batches that the member has a mark of, whether others have one or not. 0 of
  // a member that was removed.
  uint64_t MarkedBy(int member) const;

  // All members have marked the batch.
  bool Complete(const BatchId& batch) const;
  // Every batch of the piece is complete, and the piece is known.
  bool PieceComplete(uint32_t epoch, uint32_t piece) const;
  bool AllComplete() const { return complete_pieces_ == all_pieces_; }
  // Number of complete epochs before the first epoch that is not complete.
  uint32_t CompleteEpochs() const;
  // The complete batches of a piece that is not complete, as Lease::skip.
  std::vector<uint8_t> CompleteBatches(uint32_t epoch, uint32_t piece) const;
  // The (epoch, piece)s with a batch that some members have marked and others
  // have not, ascending. The time grows with the pieces that have a mark and
  // are not complete.
  std::vector<std::pair<uint32_t, uint32_t>> HalfMarked() const;
  // Lease::skip, to be used with Lease::skip_rest, of a lease that has only the
  // half-marked batches of a piece: all other batches before the last of them.
  std::vector<uint8_t> AllButHalfMarked(uint32_t epoch, uint32_t piece) const;
  // The batches that some members have rejected and others have not marked, as
  // Lease::rejected.
  std::vector<uint8_t> HalfRejected(uint32_t epoch, uint32_t piece) const;
  // The share of the piece that is complete, in [0, 1]; 0 while it is open.
  double FractionComplete(uint32_t epoch, uint32_t piece) const;

  const LedgerTotals& totals() const { return totals_; }

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // epoch, piece

  // The share of a piece in the totals.
  struct Examples {
    uint64_t trained = 0;
    uint64_t rejected = 0;
    uint64_t newest = 0;
  };
  struct Entry {
    PieceMarks marks;
    Examples examples;
  };
  using Entries = absl::flat_hash_map<Key, Entry>;

  // The member's column, or -1: there is no such member, or it was removed.
  int ColumnOf(int member) const;
  // The member that has the column.
  int MemberOf(int column) const;
  bool Known(uint32_t piece) const { return examples_[piece].has_value(); }
  int Columns() const { return static_cast<int>(members_.size()); }
  uint32_t Batches(uint32_t piece) const;  // REQUIRES: Known(piece)
  Entry& Open(Key key);                    // its entry, made if it is absent
  const Entry* FindOpen(Key key) const;
  absl::Status Validate(int member, const Mark& mark) const;
  absl::StatusOr<Added> AddRepeat(int member, const Mark& mark);
  absl::StatusOr<Added> AddFresh(int member, const Mark& mark);
  // The runs of one piece. Returns whether they complete it.
  absl::StatusOr<bool> RestorePiece(absl::Span<const MarkRun> runs);
  Examples Count(uint32_t piece, const PieceMarks& marks) const;
  void Recount(uint32_t piece, Entry& entry);
  // If no mark of the piece lacks: drops its details and returns true.
  bool Settle(Key key);
  void SetComplete(Key key);

  LedgerOptions options_;
  uint64_t all_pieces_;  // over all epochs
  uint64_t complete_pieces_ = 0;
  std::vector<std::optional<uint64_t>> examples_;   // by piece
  std::map<uint32_t, std::vector<bool>> complete_;  // by epoch and piece
  std::map<uint32_t, uint32_t> complete_in_epoch_;  // pieces
  uint32_t complete_epochs_ = 0;                    // as far as was looked
  Entries open_;     // entries of pieces that have a mark and are not complete
  Entries settled_;  // entries of complete pieces whose details must be kept
  std::vector<uint64_t> repeats_refused_;  // by member
  std::vector<uint64_t> marked_;           // by member: MarkedBy
  std::vector<int> members_;               // by column, ascending
  LedgerTotals totals_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_LEDGER_H_
