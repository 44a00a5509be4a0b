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

// The rows and blocks of a shard: what requests are checked against, and what
// is counted, saved and loaded.
struct ShardContents {
  std::vector<std::unique_ptr<EmbeddingTable>> tables;  // by table of the model
  std::unique_ptr<DenseStore> dense;
};

// What a shard knows beside rows and blocks, as it is saved and loaded.
struct ShardCounters {
  uint64_t count = 0;     // pushes applied whole
  uint64_t admitted = 0;  // pushes that began to be
  Colour colour = 0;
  std::vector<MarkRun> marks;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SHARD_CONTENTS_H_
