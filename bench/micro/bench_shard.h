#ifndef SHOAL_BENCH_MICRO_BENCH_SHARD_H_
#define SHOAL_BENCH_MICRO_BENCH_SHARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "bench/micro/id_batches.h"
#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// A table like DeepFM's: columns w of one float and v of `dim` floats, Adagrad,
// initial values 0.
struct BenchTable {
  bool dynamic = false;
  int dim = 16;  // 16 for model A, 32 for model B
  uint64_t gib = 1;

  TableSpec spec() const;
  // The number of records, with header and slots, that fill `gib` GiB.
  uint64_t rows() const;

  friend bool operator==(const BenchTable&, const BenchTable&) = default;
};

// Calls `visit` with every table to measure and the name of its benchmark, such
// as "array/A/1GiB/zipf": 1 and 4 GiB of records of models A and B, as array
// and as hash table, with both laws of ids.
void ForAllTables(
    absl::FunctionRef<void(const BenchTable&, IdLaw, const std::string& name)>
        visit);

// The number of ids of a batch for measuring tables, and the number of batches
// that take turns.
inline constexpr size_t kIdsPerBatch = 10'000;
inline constexpr size_t kBatches = 128;

// A shard with only this table and, if asked for, one dense block without
// slots.
ParameterShardOptions BenchShardOptions(const BenchTable& table,
                                        int64_t dense = 0);
inline CallIdentity BenchIdentity() { return {"bench", {1, 2}, {1, 1}, 1}; }

// Calls `visit` with all ids below `rows`, a few thousand at a time.
void ForAllIds(uint64_t rows,
               absl::FunctionRef<void(absl::Span<const FeatureId>)> visit);

// Tasks wait until Drain, so that only the work on the caller's thread is
// measured.
class QueueExecutor final : public Executor {
 public:
  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  void PostAt(absl::Time, Task task) override { Post(std::move(task)); }
  absl::Time Now() const override { return absl::Now(); }
  void Drain();

 private:
  std::vector<Task> tasks_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_BENCH_SHARD_H_
