#ifndef SHOAL_PS_SHARD_SHARD_CONTENTS_H_
#define SHOAL_PS_SHARD_SHARD_CONTENTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/ids.h"
#include "core/mark_run.h"
#include "ps/shard/dense_store.h"
#include "ps/table/embedding_table.h"

namespace shoal {

// The rows and blocks of a shard. Requests are checked against them, and they
// are counted, saved and loaded.
struct ShardContents {
  std::vector<std::unique_ptr<EmbeddingTable>> tables;  // in the model's order
  std::unique_ptr<DenseStore> dense;
};

// The counters and marks of a shard, which are saved and loaded with its rows
// and blocks.
struct ShardCounters {
  uint64_t count = 0;     // completely applied pushes
  uint64_t admitted = 0;  // pushes admitted to be applied
  Colour colour = 0;
  std::vector<MarkRun> marks;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SHARD_CONTENTS_H_
