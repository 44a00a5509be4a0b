// Saving and loading of ParameterShard.

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "ps/shard/load_shard.h"
#include "ps/shard/parameter_shard.h"
#include "ps/shard/save_shard.h"
#include "ps/shard/shard_stats.h"

namespace shoal {

std::string ParameterShard::file_name() const {
  return ShardFileName(options_.shard, options_.map.num_shards);
}

absl::StatusOr<ShardEntry> ParameterShard::Save(
    const SaveShardOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const auto written, Write(options));
  return written->Commit();
}

absl::StatusOr<std::unique_ptr<WrittenShard>> ParameterShard::Write(
    const SaveShardOptions& options) {
  if (saving_.exchange(true)) {
    return absl::FailedPreconditionError(
        absl::StrCat("shard ", options_.shard,
                     " is being saved already; wait for that to end"));
  }
  auto written = WriteSealed(options);
  saving_.store(false);
  return written;
}

absl::StatusOr<std::unique_ptr<WrittenShard>> ParameterShard::WriteSealed(
    const SaveShardOptions& options) {
  SHOAL_RETURN_IF_ERROR(
      Annotate(gate_.Close(options.quiet_timeout),
               absl::StrCat("shard ", options_.shard, " cannot be saved")));
  SealedShard sealed;
  sealed.model = &options_.model;
  sealed.map = &options_.map;
  sealed.shard = options_.shard;
  sealed.contents = &contents_;
  sealed.counters.colour = colour_.load(std::memory_order_relaxed);
  for (const std::atomic<uint64_t>& lookups : lookups_) {
    sealed.lookups.push_back(lookups.load(std::memory_order_relaxed));
  }
  std::vector<Marks::Bits> marks;
  {
    MutexLock lock(&mu_);
    sealed.counters.count = count_;
    sealed.counters.admitted = admitted_;
    marks = marks_.Copy();
    sealed.mark_totals = marks_.Totals();
  }
  sealed.counters.marks = Marks::RunsOf(std::move(marks));
  auto written = WriteShard(sealed, options);
  gate_.Open();
  return written;
}

absl::StatusOr<std::unique_ptr<ParameterShard>> ParameterShard::Load(
    ParameterShardOptions options, Executor* executor,
    const LoadShardOptions& load) {
  const Manifest& manifest = *load.manifest;
  SHOAL_RETURN_IF_ERROR(ValidateManifest(manifest));
  SHOAL_RETURN_IF_ERROR(
      Annotate(CheckLoadable(manifest.model, options.model, load.weights_only),
               load.directory));
  options.model.seed = manifest.model.seed;
  if (load.unseen == Unseen::kZero) {
    SHOAL_DCHECK(load.weights_only);
    for (TableSpec& table : options.model.tables) {
      for (ColumnSpec& column : table.columns) column.initializer = {};
    }
  }
  SHOAL_ASSIGN_OR_RETURN(auto shard, Create(std::move(options), executor));
  const ParameterShardOptions& o = shard->options_;
  SHOAL_ASSIGN_OR_RETURN(
      const ShardCounters counters,
      LoadShard(load, o.model, o.map, o.shard, shard->contents_));
  shard->loaded_foreign_canaries_ =
      CountForeignCanaries(shard->contents_, o.life.start);
  shard->colour_.store(counters.colour, std::memory_order_relaxed);
  MutexLock lock(&shard->mu_);
  shard->count_ = counters.count;
  shard->admitted_ = counters.admitted;
  SHOAL_RETURN_IF_ERROR(
      Annotate(shard->marks_.Restore(counters.marks), load.directory));
  return shard;
}

std::vector<MarkRun> ParameterShard::MarkRuns() const {
  std::vector<Marks::Bits> marks;
  {
    MutexLock lock(&mu_);
    marks = marks_.Copy();
  }
  return Marks::RunsOf(std::move(marks));
}

MarkTotals ParameterShard::TotalMarks() const {
  MutexLock lock(&mu_);
  return marks_.Totals();
}

}  // namespace shoal
