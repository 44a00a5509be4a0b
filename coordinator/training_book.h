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
#include "cluster/lease_table.h"
#include "cluster/ledger.h"
#include "cluster/piece_facts.h"
#include "core/lease.h"
#include "core/mark.h"
#include "core/mark_run.h"
#include "core/session_messages.h"

namespace shoal {

struct TrainingBookOptions {
  int num_shards = 1;
  uint32_t batch_size = 1;
  // Epochs, order, hosts and times of the leases; the pieces are the book's.
  LeaseTableOptions leases;
};

// What a job has to train, what of it is trained, and which worker trains what:
// the facts of the pieces, the ledger and the leases, which every event changes
// together. Pure logic.
//
//   empty --its pieces--> open --every batch has all marks--> complete
//     with a checkpoint, before the first event:
//   open --StartRestoring--> restoring --Restore, until it returns true--> open
//
// A piece of an epoch is complete when it was read whole and each of its
// batches has the mark of every shard, whichever comes last: a report, a mark,
// or what a checkpoint says. Then it is leased no more, and counts in
// FractionDone. Thread-compatible.
class TrainingBook {
 public:
  // Nothing to train: complete.
  TrainingBook() = default;
  TrainingBook(TrainingBookOptions options, PieceFacts pieces);

  const PieceFacts& facts() const { return facts_; }
  const LedgerTotals& totals() const { return ledger_.totals(); }
  // Of complete batches.
  uint64_t examples() const { return totals().trained + totals().rejected; }
  LeaseTable& leases() { return leases_; }
  const LeaseTable& leases() const { return leases_; }

  // Begins to bring the book to where a checkpoint left it, whose manifest lies
  // at `path` (for people) and whose shards have these marks.
  // FAILED_PRECONDITION: the files are not what they were (CheckSameData).
  absl::Status StartRestoring(std::shared_ptr<const Manifest> manifest,
                              std::string path, const FileList& files,
                              std::vector<MarkRun> marks);
  // Goes on with that, for as long as one event may take. True: it is done.
  // Errors: FAILED_PRECONDITION (batches of an epoch that this job has not),
  // DATA_LOSS (marks that are not the manifest's), INVALID_ARGUMENT.
  absl::StatusOr<bool> Restore();
  // Of what was restored: batches, and epochs that have a mark.
  uint64_t restored_batches() const { return restored_batches_; }
  uint32_t restored_epochs() const { return restored_epochs_; }

  // A worker has read a piece whole: true at the first report on it, after
  // which Count is to be called. Errors: those of PieceFacts::Add.
  absl::StatusOr<bool> Learn(const PieceReport& report) {
    return facts_.Add(report);
  }
  // Takes down how many batches the piece has, now that facts() knows it.
  // DATA_LOSS: there is a mark beyond its end. Not to be called twice.
  absl::Status Count(uint32_t piece);
  // A mark of a shard; true if it is new. Errors: those of Ledger::Add.
  absl::StatusOr<bool> AddMark(int shard, const Mark& mark, absl::Time now);
  void SetRepeatsRefused(int shard, uint64_t count) {
    ledger_.SetRepeatsRefused(shard, count);
  }

  bool complete() const { return ledger_.AllComplete(); }
  // There are pieces, all are complete, and not one has a row.
  bool HasNoRow() const {
    return facts_.size() != 0 && complete() && totals().batches == 0;
  }
  uint32_t CompleteEpochs() const { return ledger_.CompleteEpochs(); }
  // Some epochs are complete, and no batch of a later one has all marks.
  bool AtEndOfEpoch() const;
  // (epoch, piece) with a batch that some shards have marked and others not.
  std::vector<std::pair<uint32_t, uint32_t>> HalfMarked() const {
    return ledger_.HalfMarked();
  }
  // Of the bytes of all epochs; 0 where there are none.
  double FractionDone() const;

  // What a worker is to do with a piece; without number and batch size.
  Lease LeaseOf(const LeaseTable::Held& held) const;
  // The same, for the half-marked batches of a piece alone.
  Lease MendOf(uint32_t epoch, uint32_t piece) const;

  // Step, totals and pieces of a checkpoint's manifest.
  void SaveInto(Manifest* manifest) const;
  // All that is known here of JobReport, but for bad rows.
  void Fill(JobReport* report) const;

 private:
  // How much of a checkpoint is restored: its pieces first, then its marks.
  struct Restoring {
    std::shared_ptr<const Manifest> manifest;
    std::string path;
    std::vector<MarkRun> marks;
    uint32_t piece = 0;  // the next
    size_t run = 0;      // the next of `marks`
  };

  void OnComplete(uint32_t epoch, uint32_t piece);
  absl::Status RestorePieces(size_t* budget);
  absl::Status RestoreMarks(size_t budget);
  absl::Status EndRestoring();

  TrainingBookOptions options_;
  PieceFacts facts_;
  Ledger ledger_;
  LeaseTable leases_;
  uint64_t complete_bytes_ = 0;  // of complete pieces, over the epochs

  std::optional<Restoring> restoring_;
  uint64_t restored_batches_ = 0;
  uint32_t restored_epochs_ = 0;
  double fraction_restored_ = 0;  // FractionDone after Restore
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_TRAINING_BOOK_H_
