#ifndef SHOAL_COORDINATOR_TRAINING_BOOK_H_
#define SHOAL_COORDINATOR_TRAINING_BOOK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "checkpoint/manifest.h"
#include "cluster/job_files.h"
#include "cluster/job_report.h"
#include "cluster/lane_table.h"
#include "cluster/lease_table.h"
#include "cluster/ledger.h"
#include "cluster/piece_facts.h"
#include "cluster/piece_leases.h"
#include "core/lease.h"
#include "core/mark.h"
#include "core/mark_run.h"
#include "core/session_messages.h"

namespace shoal {

struct TrainingBookOptions {
  int num_members = 1;  // PSs of the job
  uint32_t batch_size = 1;
  // Epochs, order, hosts and times of the leases. num_pieces is ignored: the
  // book knows its pieces.
  LeaseTableOptions leases;
  // With ranks: the pieces are leased by lanes (LaneTable). Without: to the
  // worker that asks first (LeaseTable).
  LaneOptions lanes;
};

// The pieces that a job has to train, the part that is trained, and the leases:
// PieceFacts, Ledger and PieceLeases, which every event changes together. Pure
// logic.
//
//   empty --its pieces--> open --every batch has all marks--> complete
//     with a checkpoint, before the first event:
//   open --StartRestoring--> restoring --Restore, until it returns true--> open
//
// A piece of an epoch is complete when it was read whole and each of its
// batches has the mark of every PS. A report, a mark or a checkpoint may
// come last. Then the piece is leased no more, and counts in FractionDone.
// Thread-compatible.
class TrainingBook {
 public:
  // A book without pieces: complete.
  TrainingBook() : TrainingBook(TrainingBookOptions{}, PieceFacts{}) {}
  TrainingBook(TrainingBookOptions options, PieceFacts pieces);

  const PieceFacts& facts() const { return facts_; }
  const LedgerTotals& totals() const { return ledger_.totals(); }
  // Examples of complete batches, but for the newest ones of open pieces.
  uint64_t examples() const { return totals().trained + totals().rejected; }
  // The same with these newest batches, each as a full one. It grows with every
  // complete batch, where examples() catches up when a piece has been read: so
  // what was trained between two moments is a difference of this.
  uint64_t examples_at_most() const { return examples() + totals().newest; }
  PieceLeases& leases() { return *leases_; }
  const PieceLeases& leases() const { return *leases_; }

  // Deals batches to the lanes if that is due (LaneTable::NeedsDeal). To be
  // called before leases are given out. After Regroup, the batches that some
  // PSs have marked and others have not are dealt before all others. Errors:
  // those of LaneTable::Deal. Does nothing without lanes.
  absl::Status DealLanes(bool settled);
  // Such batches wait for their deal or are under way: no checkpoint can be
  // saved, since it would have them on some PSs alone.
  bool mending() const { return mends_ != Mends::kNone && AnyHalfMarked(); }
  // The ranks whose lane has not ended. Empty without lanes.
  std::vector<int> open_lanes() const;
  // The ranks change (LaneTable::Regroup). REQUIRES: the book has lanes.
  void Regroup(std::vector<LaneRank> ranks);
  // A replica is lost, and its marks do not count any more
  // (Ledger::RemoveMember).
  void RemoveMember(int member);
  // Batches of which this PS has told its mark, and those that it was loaded
  // with.
  uint64_t MarkedBy(int member) const { return ledger_.MarkedBy(member); }

  // Begins to restore the book from a checkpoint with this manifest, whose
  // shards have these marks; `path` is for messages. FAILED_PRECONDITION: the
  // files changed (CheckSameData).
  absl::Status StartRestoring(std::shared_ptr<const Manifest> manifest,
                              std::string path, const FileList& files,
                              std::vector<MarkRun> marks);
  // Restores as much as one event may take. True: the book is restored. Errors:
  // FAILED_PRECONDITION (batches of an epoch that this job does not have),
  // DATA_LOSS (the marks do not fit the manifest), INVALID_ARGUMENT.
  absl::StatusOr<bool> Restore();
  // Batches that were restored, and epochs with a restored mark.
  uint64_t restored_batches() const { return restored_batches_; }
  uint32_t restored_epochs() const { return restored_epochs_; }

  // A worker has read a piece whole. True at the first report on the piece;
  // then Count must be called. Errors: those of PieceFacts::Add.
  absl::StatusOr<bool> Learn(const PieceReport& report) {
    return facts_.Add(report);
  }
  // Tells the ledger how many examples the piece has, now that facts() knows
  // it. DATA_LOSS: there is a mark beyond its end. Not to be called twice.
  absl::Status Count(uint32_t piece);
  // Adds a mark of a PS. True if it is new. Errors: those of Ledger::Add.
  absl::StatusOr<bool> AddMark(int member, const Mark& mark, absl::Time now);
  void SetRepeatsRefused(int member, uint64_t count) {
    ledger_.SetRepeatsRefused(member, count);
  }

  bool complete() const { return ledger_.AllComplete(); }
  // True if there are pieces, all are complete, and none has a row.
  bool HasNoRow() const {
    return facts_.size() != 0 && complete() && totals().batches == 0;
  }
  uint32_t CompleteEpochs() const { return ledger_.CompleteEpochs(); }
  // True if some epochs are complete, and no batch of a later epoch is.
  bool AtEndOfEpoch() const;
  // The (epoch, piece)s with a batch that some PSs have marked and others
  // have not.
  std::vector<std::pair<uint32_t, uint32_t>> HalfMarked() const {
    return ledger_.HalfMarked();
  }
  // The share of the bytes of all epochs that is trained; 0 if there are none.
  double FractionDone() const;

  // The lease of a piece for a worker, without number and batch size.
  Lease LeaseOf(const HeldLease& held) const;
  // A lease of only the half-marked batches of a piece.
  Lease MendOf(uint32_t epoch, uint32_t piece) const;

  // Fills in step, totals and pieces of a checkpoint's manifest.
  void SaveInto(Manifest* manifest) const;
  // Fills in samples, fraction_before, the totals of the ledger and the epoch.
  void Fill(JobReport* report) const;

 private:
  // The batches that are half-marked when the ranks have changed.
  //
  //   none --Regroup--> due --some are dealt, alone--> dealt
  //   due, dealt --Regroup--> due
  //   due, dealt --none is half-marked, and all lanes have ended--> none
  enum class Mends { kNone, kDue, kDealt };

  // The progress of restoring a checkpoint: its pieces first, then its marks.
  struct Restoring {
    std::shared_ptr<const Manifest> manifest;
    std::string path;
    std::vector<MarkRun> marks;
    uint32_t piece = 0;  // the next piece
    size_t run = 0;      // index of the next run in `marks`
  };

  bool AnyHalfMarked() const { return !HalfMarked().empty(); }
  void OnComplete(uint32_t epoch, uint32_t piece);
  // By piece: what is trained of this epoch.
  std::vector<PieceTrained> TrainedOf(uint32_t epoch) const;
  // The same as if all batches but the half-marked ones were trained.
  std::vector<PieceTrained> AllButMends(uint32_t epoch) const;
  absl::Status RestorePieces(size_t* budget);
  absl::Status RestoreMarks(size_t budget);
  absl::Status EndRestoring();

  TrainingBookOptions options_;
  PieceFacts facts_;
  Ledger ledger_;
  std::unique_ptr<PieceLeases> leases_;
  LaneTable* lanes_ = nullptr;  // `leases_`, if the job has lanes
  Mends mends_ = Mends::kNone;
  uint64_t complete_bytes_ = 0;  // bytes of complete pieces, over the epochs

  std::optional<Restoring> restoring_;
  uint64_t restored_batches_ = 0;
  uint32_t restored_epochs_ = 0;
  double fraction_restored_ = 0;  // FractionDone after Restore
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_TRAINING_BOOK_H_
