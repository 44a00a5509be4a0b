#ifndef SHOAL_WORKER_DATA_BATCH_PREFETCHER_H_
#define SHOAL_WORKER_DATA_BATCH_PREFETCHER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "base/executor.h"
#include "base/saturating.h"
#include "worker/data/batch_source.h"
#include "worker/data/piece_reader.h"

namespace shoal {

struct BatchPrefetcherOptions {
  // The most batches that are read ahead. Reading stops at the first of the two
  // limits. More batches hide longer pauses (a window to parse, a slow disk)
  // and cost memory.
  size_t max_batches = 16;
  // The most bytes of ids, values and labels in these batches; one batch is
  // always allowed.
  size_t max_bytes = 16 << 20;

  // The most memory, in bytes, of the batches read ahead, if each has
  // `batch_bytes` bytes.
  uint64_t MemoryBytes(uint64_t batch_bytes) const {
    return std::min(SaturatingTimes(batch_bytes, max_batches),
                    SaturatingAdd(max_bytes, batch_bytes));
  }
};

// Reads batches ahead on one thread of its own, from construction on.
//
// The thread rule is BatchSource's. The destructor cancels the read in progress
// and joins the thread, which takes at most the time of reading one chunk of
// the file.
class BatchPrefetcher final : public BatchSource {
 public:
  // `strand` must outlive the prefetcher.
  BatchPrefetcher(std::unique_ptr<PieceReader> reader, Executor* strand,
                  BatchPrefetcherOptions options = {});
  ~BatchPrefetcher() override;

  void Next(Done<std::optional<Batch>> done) override;
  bool all_read() const override;
  void Recycle(Batch batch) override;
  const PieceReport& report() const override;

 private:
  struct State;

  // Posted completions hold a weak pointer to this, which tells them whether
  // the prefetcher still exists.
  const std::shared_ptr<bool> alive_;
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_BATCH_PREFETCHER_H_
