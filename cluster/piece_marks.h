#ifndef SHOAL_CLUSTER_PIECE_MARKS_H_
#define SHOAL_CLUSTER_PIECE_MARKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace shoal {

// The marks of the batches of one piece in one epoch, a column for each PS
// member, and the forward passes (leases) that they stem from. Batches are kept
// in chunks of 64, so that a mark that every column has takes a bit, and a mark
// far from the others takes no more memory than any other. Pure logic,
// thread-compatible.
class PieceMarks {
 public:
  // PassOf a mark whose forward pass is not known.
  static constexpr uint32_t kUnknownPass = UINT32_MAX;

  explicit PieceMarks(int num_columns) : num_columns_(num_columns) {}

  bool Marked(int column, uint32_t batch) const;
  bool MarkedByAll(uint32_t batch) const;
  // The lease of the mark. REQUIRES: Marked.
  uint32_t PassOf(int column, uint32_t batch) const;
  // True if the marks of the batch are rejections. REQUIRES: a column has one.
  bool Rejected(uint32_t batch) const;
  // A column whose mark of the batch has the other verdict, if there is any.
  std::optional<int> ColumnOfOtherVerdict(uint32_t batch, bool rejected) const;

  struct Added {
    bool by_all = false;  // every column has a mark of the batch now
    bool mended = false;  // it has marks of two passes, for the first time
  };
  // REQUIRES: not Marked, no column has the other verdict, and pass != 0.
  Added Add(int column, uint32_t batch, bool rejected, uint32_t pass);
  // Adds marks in all columns, of unknown passes. The time grows with the
  // chunks of 64 batches. REQUIRES: no batch of [begin, end) is marked.
  void AddRun(uint32_t begin, uint32_t end, bool rejected);
  // Notes that several passes pushed the batch. True if that is new.
  bool SetRecomputed(uint32_t batch);

  // Index of the last batch with a mark, plus one.
  uint32_t end() const { return end_; }
  // Number of batches that every column has a mark of, and of those among them
  // that are rejected.
  uint32_t complete() const { return complete_; }
  uint32_t complete_rejected() const { return complete_rejected_; }
  // Number of batches that some columns have a mark of and others have not.
  uint32_t half_marked() const { return half_marked_; }

  // As Lease::skip: the complete batches; and all batches before the last
  // half-marked batch but those that are half-marked.
  std::vector<uint8_t> CompleteBits() const;
  std::vector<uint8_t> AllButHalfMarkedBits() const;
  // As Lease::rejected: the half-marked batches whose marks are rejections.
  std::vector<uint8_t> HalfRejectedBits() const;

  // Forgets the passes, and batches that are neither rejected nor recomputed.
  // REQUIRES: no batch is half-marked.
  void Settle();
  bool empty() const { return chunks_.empty(); }
  // Undoes Settle, for a piece of `batches` batches, all of them marked.
  void Unsettle(uint32_t batches);
  // Drops the column's marks. Returns the number of batches that are complete
  // no more, and of those among them that were rejected.
  struct Dropped {
    uint32_t batches = 0;
    uint32_t rejected = 0;
  };
  Dropped DropColumn(int column);
  // Takes the column away: the columns after it move up by one, and a batch
  // that all others have a mark of is complete. Returns the number of batches
  // that this makes complete, and of those among them that are rejected.
  // REQUIRES: there is another column.
  struct Removed {
    uint32_t batches = 0;
    uint32_t rejected = 0;
  };
  Removed RemoveColumn(int column);

 private:
  static constexpr uint32_t kUnmarked = 0;
  struct Chunk {          // 64 batches, a bit each
    uint64_t marked = 0;  // in a column
    uint64_t by_all = 0;
    uint64_t rejected = 0;  // marked batches that were rejected
    uint64_t mended = 0;
    uint64_t recomputed = 0;
    // By batch and column: the pass of the mark, or kUnmarked. If by_all says
    // that there is a mark, kUnmarked and entries beyond the end mean
    // kUnknownPass.
    std::vector<uint32_t> passes;
  };

  const Chunk* Find(uint32_t batch) const;
  uint32_t RawPass(const Chunk& chunk, int column, uint32_t batch) const;
  // The passes of a batch, by column.
  uint32_t* Row(Chunk& chunk, uint32_t batch);
  // The part of RemoveColumn for one chunk.
  void RemoveFrom(Chunk* chunk, int column, Removed* removed);

  int num_columns_;
  std::map<uint32_t, Chunk> chunks_;  // by first batch / 64
  uint32_t end_ = 0;
  uint32_t complete_ = 0;
  uint32_t complete_rejected_ = 0;
  uint32_t half_marked_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_PIECE_MARKS_H_
