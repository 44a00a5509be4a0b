#ifndef SHOAL_CLUSTER_PIECE_MARKS_H_
#define SHOAL_CLUSTER_PIECE_MARKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace shoal {

// All shards' marks of the batches of one piece in one epoch, and the forward
// passes (leases) that they stem from. Batches are kept 64 together, so that
// marks which every shard has cost a bit a batch, and a mark far from the
// others costs no more than any. Pure logic, thread-compatible.
class PieceMarks {
 public:
  // PassOf a mark whose forward pass is not known.
  static constexpr uint32_t kUnknownPass = UINT32_MAX;

  explicit PieceMarks(int num_shards) : num_shards_(num_shards) {}

  bool Marked(int shard, uint32_t batch) const;
  bool MarkedByAll(uint32_t batch) const;
  // The lease of the mark. REQUIRES: Marked.
  uint32_t PassOf(int shard, uint32_t batch) const;
  // The verdict of the shards that have marked it. REQUIRES: one has.
  bool Rejected(uint32_t batch) const;
  // A shard whose mark has another verdict than this.
  std::optional<int> ShardOfOtherVerdict(uint32_t batch, bool rejected) const;

  struct Added {
    bool by_all = false;  // every shard has marked the batch now
    bool mended = false;  // for the first time it has marks of two passes
  };
  // REQUIRES: not Marked, and no shard of another verdict; pass != 0.
  Added Add(int shard, uint32_t batch, bool rejected, uint32_t pass);
  // Marks of all shards, of unknown passes. Time by 64 batches.
  // REQUIRES: none of [begin, end) is marked.
  void AddRun(uint32_t begin, uint32_t end, bool rejected);
  // Notes that several passes pushed the batch. Returns whether that is new.
  bool SetRecomputed(uint32_t batch);

  // One more than the last batch with a mark.
  uint32_t end() const { return end_; }
  // Batches that every shard has marked, and how many of them are rejected.
  uint32_t complete() const { return complete_; }
  uint32_t complete_rejected() const { return complete_rejected_; }
  // Batches that some shards have marked and others not.
  uint32_t half_marked() const { return half_marked_; }

  // As Lease::skip: the complete batches, and all but the half-marked ones, up
  // to the last of them.
  std::vector<uint8_t> CompleteBits() const;
  std::vector<uint8_t> AllButHalfMarkedBits() const;
  // As Lease::rejected: the half-marked batches whose marks are rejections.
  std::vector<uint8_t> HalfRejectedBits() const;

  // Forgets the passes, and all of batches that are neither rejected nor
  // recomputed. REQUIRES: no batch is half-marked.
  void Settle();
  bool empty() const { return chunks_.empty(); }
  // Undoes Settle, for a piece of `batches` batches, all of them marked.
  void Unsettle(uint32_t batches);
  // The shard has marked nothing. Returns how many batches are complete no
  // more, and how many of them were rejected.
  struct Dropped {
    uint32_t batches = 0;
    uint32_t rejected = 0;
  };
  Dropped DropShard(int shard);

 private:
  static constexpr uint32_t kUnmarked = 0;
  struct Chunk {          // of 64 batches, a bit each
    uint64_t marked = 0;  // by a shard
    uint64_t by_all = 0;
    uint64_t rejected = 0;  // of those that are marked
    uint64_t mended = 0;
    uint64_t recomputed = 0;
    // By batch and shard: the pass of the mark, or kUnmarked. Where by_all says
    // that there is a mark, kUnmarked and what lies beyond the end are
    // kUnknownPass.
    std::vector<uint32_t> passes;
  };

  const Chunk* Find(uint32_t batch) const;
  uint32_t RawPass(const Chunk& chunk, int shard, uint32_t batch) const;
  // The passes of a batch, by shard.
  uint32_t* Row(Chunk& chunk, uint32_t batch);

  int num_shards_;
  std::map<uint32_t, Chunk> chunks_;  // by first batch / 64
  uint32_t end_ = 0;
  uint32_t complete_ = 0;
  uint32_t complete_rejected_ = 0;
  uint32_t half_marked_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_PIECE_MARKS_H_
