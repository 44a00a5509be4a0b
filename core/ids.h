#ifndef SHOAL_CORE_IDS_H_
#define SHOAL_CORE_IDS_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace shoal {

// Names a row of an embedding table; below feature_size where that is given.
using FeatureId = uint64_t;

// Number of the variable-to-shard map in force, from 1; 0 is no map.
using MapVersion = uint32_t;

// Number of the cut that a push belongs to; a record keeps its low byte.
using Colour = uint32_t;

// Number of one start of a job's coordinator. The number tells jobs apart: it
// never repeats, not over restarts of a job, resumes from one checkpoint or
// jobs on one port. 0 is no start.
using StartNumber = uint64_t;

// One registration of one process: the start number of its job and a number
// that grows with each registration that the coordinator grants. A process that
// dies and returns, or whose session cannot be resumed, gets a new one. {0, 0}
// is no life.
struct Life {
  StartNumber start = 0;
  uint32_t n = 0;

  bool valid() const { return start != 0; }
  friend auto operator<=>(const Life&, const Life&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Life& l) {
    return H::combine(std::move(h), l.start, l.n);
  }
};

// The start number in hexadecimal digits, then `n`: "3a5f2e10c4d79b68.14".
inline std::string ToString(const Life& life) {
  return absl::StrCat(absl::Hex(life.start), ".", life.n);
}

// Identity of a batch, and so of its pushes: a function of the data alone,
// never of the worker. `epoch` counts from 0, `piece` indexes the job's piece
// table, `index` counts the piece's batches from 0.
struct BatchId {
  uint32_t epoch = 0;
  uint32_t piece = 0;
  uint32_t index = 0;

  friend auto operator<=>(const BatchId&, const BatchId&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const BatchId& b) {
    return H::combine(std::move(h), b.epoch, b.piece, b.index);
  }
};

inline std::string ToString(const BatchId& batch) {
  return absl::StrCat("(", batch.epoch, ",", batch.piece, ",", batch.index,
                      ")");
}

// The state of a shard: the shard's life, and the count of pushes that the
// state of that life has applied. Counts of different lives cannot be compared.
struct Version {
  Life life;
  uint64_t count = 0;

  friend bool operator==(const Version&, const Version&) = default;
};

}  // namespace shoal

#endif  // SHOAL_CORE_IDS_H_
