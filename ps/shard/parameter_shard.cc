#include "ps/shard/parameter_shard.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/saturating.h"
#include "base/status_macros.h"
#include "ps/shard/dense_store.h"
#include "ps/shard/request_check.h"
#include "ps/shard/shard_stats.h"

namespace shoal {
namespace {

constexpr int64_t kNeverServed = std::numeric_limits<int64_t>::min();

// Checks that the map fits the model; all later code trusts it.
absl::Status CheckOptions(const ParameterShardOptions& options) {
  const ModelSpec& model = options.model;
  const ShardMap& map = options.map;
  SHOAL_RETURN_IF_ERROR(model.Validate());
  if (!options.life.valid()) {
    return absl::InvalidArgumentError("the life of a shard must be valid");
  }
  if (options.shard < 0 || options.shard >= map.num_shards) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no shard ", options.shard,
                     "; the shard map has ", map.num_shards));
  }
  if (map.tables.size() != model.tables.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the shard map has ", map.tables.size(),
                     " tables, but the model has ", model.tables.size()));
  }
  for (size_t i = 0; i < map.tables.size(); ++i) {
    if (map.tables[i].feature_size != model.tables[i].feature_size ||
        map.tables[i].num_shards != map.ShardsOf(map.tables[i].kind)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the shard map places table '", model.tables[i].name,
          "' with another size than the model's, or over another number of "
          "shards than the map's"));
    }
  }
  for (const DenseBlock& block : map.blocks) {
    if (block.variable < 0 ||
        block.variable >= static_cast<int>(model.dense.size()) ||
        block.begin < 0 || block.begin >= block.end ||
        block.end > model.dense[block.variable].size()) {
      return absl::InvalidArgumentError(
          "the shard map has a dense block that the model does not have");
    }
  }
  return absl::OkStatus();
}

// The canary's column is not a variable of the model.
size_t VariablesOf(const TableSpec& table) {
  return table.on_every_shard ? 0 : table.columns.size();
}

size_t NumVariables(const ModelSpec& model) {
  size_t count = model.dense.size();
  for (const TableSpec& table : model.tables) count += VariablesOf(table);
  return count;
}

// The optimizer steps of a table's columns for push number t.
using TableSteps = absl::InlinedVector<OptimizerStep, 4>;

TableSteps StepsOf(const EmbeddingTable& table, uint64_t t) {
  TableSteps steps;
  for (const ColumnSpec& column : table.spec().columns) {
    steps.emplace_back(column.optimizer, t);
  }
  return steps;
}

template <typename T>
void PostResult(Executor* executor, Done<T> done, absl::StatusOr<T> result) {
  executor->Post(
      [done = std::move(done), result = std::move(result)]() mutable {
        std::move(done)(std::move(result));
      });
}

// Another request may give back room that it has reserved. If there is no other
// request, waiting does not help, so a limit is OUT_OF_RANGE.
absl::Status FinalIfAlone(const absl::Status& status,
                          const SaveGate::Passage& passage) {
  if (!absl::IsResourceExhausted(status) || !passage.alone()) return status;
  return absl::OutOfRangeError(status.message());
}

}  // namespace

// A copy that waits for the verdict of another copy. The verdict or the timeout
// answers it, whichever claims it first.
struct ParameterShard::Waiter {
  std::atomic<bool> claimed{false};
  Done<PushReply> done;

  bool Claim() { return !claimed.exchange(true); }
};

ParameterShardOptions::Memory ParameterShardOptions::MemoryBytes() const {
  Memory memory = {DenseStore::BytesOnShard(model, map, shard), false};
  for (size_t i = 0; i < model.tables.size(); ++i) {
    if (model.tables[i].on_every_shard) continue;  // the canary is small
    const std::optional<uint64_t> bytes =
        TableMemoryBytes(model.tables[i], map.tables[i], shard);
    memory.grows |= !bytes.has_value();
    memory.bytes = SaturatingAdd(memory.bytes, bytes.value_or(0));
  }
  if (max_bytes == 0) return memory;
  return {memory.grows ? max_bytes : std::min(memory.bytes, max_bytes), false};
}

absl::StatusOr<std::unique_ptr<ParameterShard>> ParameterShard::Create(
    ParameterShardOptions options, Executor* executor) {
  SHOAL_RETURN_IF_ERROR(CheckOptions(options));
  auto shard = std::unique_ptr<ParameterShard>(
      new ParameterShard(std::move(options), executor));
  const ParameterShardOptions& o = shard->options_;
  const uint64_t dense = DenseStore::BytesOnShard(o.model, o.map, o.shard);
  if (!shard->budget_.Reserve(dense)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the dense blocks of shard ", o.shard, " take ", dense,
                     " bytes, more than --max_ps_bytes = ", o.max_bytes,
                     ": raise it, or use more servers"));
  }
  SHOAL_ASSIGN_OR_RETURN(shard->contents_.dense,
                         DenseStore::Create(o.model, o.map, o.shard));
  for (size_t i = 0; i < o.model.tables.size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(
        auto table,
        CreateEmbeddingTable(o.model.tables[i], o.model.seed, o.map.tables[i],
                             o.shard, &shard->budget_));
    shard->contents_.tables.push_back(std::move(table));
  }
  return shard;
}

ParameterShard::ParameterShard(ParameterShardOptions options,
                               Executor* executor)
    : options_(std::move(options)),
      identity_{options_.job, Life{}, options_.life, options_.map.version},
      executor_(executor),
      budget_(options_.max_bytes),
      serve_until_ns_(kNeverServed),
      lookups_(options_.model.tables.size()),
      marks_(options_.marks),
      staleness_(NumVariables(options_.model)) {
  uint32_t variable = 0;
  for (const TableSpec& table : options_.model.tables) {
    first_variable_.push_back(variable);
    variable += VariablesOf(table);
  }
  first_variable_.push_back(variable);
}

// ---- Admission --------------------------------------------------------------

void ParameterShard::ServeUntil(absl::Time until) {
  serve_until_ns_.store(absl::ToUnixNanos(until), std::memory_order_release);
}

absl::Status ParameterShard::Admit(const CallIdentity& identity,
                                   absl::Duration timeout) const {
  if (timeout <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError("the call's timeout is 0 or less");
  }
  const int64_t until = serve_until_ns_.load(std::memory_order_acquire);
  if (until == kNeverServed) {
    return absl::UnavailableError(absl::StrCat(
        "shard ", options_.shard, " (life ", ToString(options_.life),
        ") does not serve yet: it waits for the coordinator's first view of "
        "the job"));
  }
  if (absl::ToUnixNanos(executor_->Now()) >= until) {
    return absl::UnavailableError(absl::StrCat(
        "shard ", options_.shard, " (life ", ToString(options_.life),
        ") serves nothing: its lease with the coordinator ran out at ",
        absl::FormatTime(absl::FromUnixNanos(until))));
  }
  return CheckIdentity(identity_, identity);
}

template <typename TableRequest>
absl::Status ParameterShard::LocateRows(const std::vector<TableRequest>& tables,
                                        bool read_only, Scratch* scratch) {
  if (scratch->rows.size() < tables.size()) {
    scratch->rows.resize(tables.size());
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    const absl::Status located = contents_.tables[tables[i].table]->Locate(
        tables[i].ids, read_only, &scratch->rows[i]);
    if (located.ok()) continue;
    while (i-- > 0) {
      contents_.tables[tables[i].table]->Release(&scratch->rows[i]);
    }
    return located;
  }
  return absl::OkStatus();
}

template <typename TableRequest>
void ParameterShard::ReleaseRows(const std::vector<TableRequest>& tables,
                                 Scratch* scratch) {
  for (size_t i = 0; i < tables.size(); ++i) {
    contents_.tables[tables[i].table]->Release(&scratch->rows[i]);
  }
}

// ---- Pull -------------------------------------------------------------------

void ParameterShard::Pull(PullRequest request, absl::Duration timeout,
                          Done<PullReply> done) {
  const absl::Status admitted = Admit(request.identity, timeout);
  if (!admitted.ok()) {
    PostResult<PullReply>(executor_, std::move(done), admitted);
    return;
  }
  PostResult(executor_, std::move(done), PullNow(request));
}

absl::StatusOr<PullReply> ParameterShard::PullNow(const PullRequest& request) {
  SHOAL_RETURN_IF_ERROR(CheckPull(contents_, request));
  PullReply reply;
  {
    // Read the count before any row is located, so that the rows below are at
    // least as new as the count.
    MutexLock lock(&mu_);
    reply.version = CurrentVersion();
  }
  // While the shard is sealed, no row is created.
  std::optional<SaveGate::Passage> passage;
  if (!request.read_only) passage.emplace(&gate_);
  const bool read_only = !passage.has_value() || !passage->open();
  std::unique_ptr<Scratch> scratch = scratch_.Take();
  const absl::Status located =
      LocateRows(request.tables, read_only, scratch.get());
  if (!located.ok()) {
    scratch_.Return(std::move(scratch));
    return passage.has_value() ? FinalIfAlone(located, *passage) : located;
  }
  for (size_t i = 0; i < request.tables.size(); ++i) {
    const TablePull& rows = request.tables[i];
    contents_.tables[rows.table]->Gather(rows.ids, read_only, &scratch->rows[i],
                                         rows.values);
    lookups_[rows.table].fetch_add(rows.ids.size(), std::memory_order_relaxed);
  }
  scratch_.Return(std::move(scratch));
  for (const BlockPull& block : request.blocks) {
    contents_.dense->Gather(block.block, block.offset, block.values);
  }
  reply.colour = colour_.load(std::memory_order_relaxed);
  return reply;
}

// ---- Push -------------------------------------------------------------------

void ParameterShard::Push(PushRequest request, absl::Duration timeout,
                          Done<PushReply> done) {
  const absl::Status admitted = Admit(request.identity, timeout);
  if (!admitted.ok()) {
    PostResult<PushReply>(executor_, std::move(done), admitted);
    return;
  }
  auto waiter = std::make_shared<Waiter>();
  waiter->done = std::move(done);
  auto reply = PushNow(request, waiter);
  if (reply.ok() && !reply->has_value()) {
    executor_->PostAfter(timeout, [waiter] {
      if (!waiter->Claim()) return;
      std::move(waiter->done)(absl::DeadlineExceededError(
          "another copy of the push was still being applied"));
    });
    return;
  }
  PostResult(executor_, std::move(waiter->done),
             reply.ok() ? absl::StatusOr<PushReply>(**reply) : reply.status());
}

absl::StatusOr<std::optional<PushReply>> ParameterShard::PushNow(
    const PushRequest& request, const std::shared_ptr<Waiter>& waiter) {
  // A repeat is answered before its contents are read, which is cheapest.
  SHOAL_ASSIGN_OR_RETURN(const std::optional<PushReply> repeat,
                         AnswerRepeat(request.batches));
  if (repeat.has_value()) return repeat;
  std::unique_ptr<Scratch> scratch = scratch_.Take();
  auto reply = CheckAndApply(request, waiter, scratch.get());
  scratch_.Return(std::move(scratch));
  return reply;
}

absl::StatusOr<std::optional<PushReply>> ParameterShard::AnswerRepeat(
    const PushedBatches& batches) {
  SHOAL_RETURN_IF_ERROR(CheckPushedBatches(batches));
  MutexLock lock(&mu_);
  SHOAL_ASSIGN_OR_RETURN(const std::optional<Verdict> verdict,
                         marks_.Repeat(batches));
  if (!verdict.has_value()) return std::nullopt;
  return RepeatReply(*verdict);
}

absl::StatusOr<std::optional<PushReply>> ParameterShard::Check(
    const PushRequest& request, absl::Duration timeout) {
  SHOAL_RETURN_IF_ERROR(Admit(request.identity, timeout));
  SHOAL_ASSIGN_OR_RETURN(const std::optional<PushReply> repeat,
                         AnswerRepeat(request.batches));
  if (repeat.has_value()) return repeat;
  std::unique_ptr<Scratch> scratch = scratch_.Take();
  const absl::Status valid = CheckPush(contents_, request, &scratch->finder);
  scratch_.Return(std::move(scratch));
  SHOAL_RETURN_IF_ERROR(valid);
  return std::nullopt;
}

absl::StatusOr<std::optional<PushReply>> ParameterShard::CheckAndApply(
    const PushRequest& request, const std::shared_ptr<Waiter>& waiter,
    Scratch* scratch) {
  SHOAL_RETURN_IF_ERROR(CheckPush(contents_, request, &scratch->finder));
  const SaveGate::Passage passage(&gate_);
  if (!passage.open()) {
    return absl::UnavailableError(
        absl::StrCat("shard ", options_.shard, " is being saved; send ",
                     ToString(request.batches), " again"));
  }
  // The worker rejects a batch for all shards. This check is a trip-wire.
  const bool sound = !AllRejected(request.batches) && IsSound(request);
  if (sound) {
    SHOAL_RETURN_IF_ERROR(FinalIfAlone(
        LocateRows(request.tables, /*read_only=*/false, scratch), passage));
  }
  uint64_t t = 0;
  {
    MutexLock lock(&mu_);
    const uint64_t ticket = next_ticket_++;
    const auto admitted = marks_.Begin(request.batches, ticket);
    if (!admitted.ok() || admitted->admission != Marks::Admission::kApply) {
      if (sound) ReleaseRows(request.tables, scratch);
      if (!admitted.ok()) return admitted.status();
      if (admitted->admission == Marks::Admission::kRepeat) {
        return RepeatReply(admitted->verdict);
      }
      waiters_.emplace(ticket, waiter);
      return std::nullopt;
    }
    if (sound) {
      t = ++admitted_;
      RecordStaleness(request);
    }
  }
  if (!sound) return Finish(request, Verdict::kRejected);
  Apply(request, t, scratch);
  return Finish(request, Verdict::kApplied);
}

void ParameterShard::ApplyToOthers(const PushRequest& request, uint64_t t,
                                   const Scratch& scratch) {
  for (size_t k = 0; k < contents_.tables.size(); ++k) {
    EmbeddingTable& table = *contents_.tables[k];
    const TableSteps steps = StepsOf(table, t);
    if (absl::c_none_of(steps, [](const OptimizerStep& step) {
          return step.of_whole_table();
        })) {
      continue;
    }
    const RowRefs none;
    const RowRefs* named = &none;
    for (size_t i = 0; i < request.tables.size(); ++i) {
      if (request.tables[i].table == k) named = &scratch.rows[i];
    }
    table.ApplyToOthers(steps, static_cast<uint8_t>(request.colour), *named);
  }
}

void ParameterShard::Apply(const PushRequest& request, uint64_t t,
                           Scratch* scratch) {
  ApplyToOthers(request, t, *scratch);
  for (size_t i = 0; i < request.tables.size(); ++i) {
    const TablePush& rows = request.tables[i];
    EmbeddingTable& table = *contents_.tables[rows.table];
    table.Apply(StepsOf(table, t), static_cast<uint8_t>(request.colour),
                rows.ids, &scratch->rows[i], rows.gradients);
  }
  for (const BlockPush& block : request.blocks) {
    contents_.dense->Apply(block.block, t, block.gradients);
  }
}

void ParameterShard::RecordStaleness(const PushRequest& request) {
  absl::InlinedVector<uint32_t, 32> touched;
  for (const TablePush& rows : request.tables) {
    if (rows.ids.empty()) continue;
    for (uint32_t v = first_variable_[rows.table];
         v < first_variable_[rows.table + 1]; ++v) {
      touched.push_back(v);
    }
  }
  for (const BlockPush& block : request.blocks) {
    const uint32_t v =
        first_variable_.back() + contents_.dense->Variable(block.block);
    // Blocks of one variable are neighbours in every map.
    if (touched.empty() || touched.back() != v) touched.push_back(v);
  }
  staleness_.Record(request.identity.worker, request.pulled, CurrentVersion(),
                    touched);
}

PushReply ParameterShard::Finish(const PushRequest& request, Verdict verdict) {
  Colour colour = colour_.load(std::memory_order_relaxed);
  while (request.colour > colour &&
         !colour_.compare_exchange_weak(colour, request.colour,
                                        std::memory_order_relaxed)) {
  }
  PushReply reply;
  reply.verdict = verdict;
  reply.colour = colour_.load(std::memory_order_relaxed);
  std::vector<Marks::Answer> answers;
  absl::InlinedVector<std::shared_ptr<Waiter>, 2> waiters;  // of the answers
  std::vector<absl::AnyInvocable<void() &&>> leases_ended;
  {
    MutexLock lock(&mu_);
    if (verdict == Verdict::kApplied) ++count_;
    reply.version = CurrentVersion();
    answers = marks_.Finish(request.batches, verdict);
    for (const Marks::Answer& answer : answers) {
      const auto it = waiters_.find(answer.ticket);
      waiters.push_back(std::move(it->second));
      waiters_.erase(it);
    }
    if (marks_.idle()) leases_ended = std::exchange(leases_ended_, {});
  }
  for (auto& done : leases_ended) executor_->Post(std::move(done));
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!waiters[i]->Claim()) continue;
    const absl::StatusOr<Verdict>& first = answers[i].verdict;
    absl::StatusOr<PushReply> repeat = reply;
    if (first.ok()) {
      repeat->verdict = *first;
      repeat->repeat = true;
    } else {
      repeat = first.status();
    }
    PostResult(executor_, std::move(waiters[i]->done), std::move(repeat));
  }
  return reply;
}

void ParameterShard::EndLeases(uint64_t newest,
                               absl::AnyInvocable<void() &&> done) {
  {
    MutexLock lock(&mu_);
    marks_.RefuseLeases(newest);
    if (!marks_.idle()) {
      leases_ended_.push_back(std::move(done));
      return;
    }
  }
  executor_->Post(std::move(done));
}

PushReply ParameterShard::RepeatReply(Verdict verdict) const {
  return PushReply{.verdict = verdict,
                   .repeat = true,
                   .version = CurrentVersion(),
                   .colour = colour_.load(std::memory_order_relaxed)};
}

PushReply ParameterShard::Dropped() const {
  MutexLock lock(&mu_);
  return PushReply{.dropped = true,
                   .version = CurrentVersion(),
                   .colour = colour_.load(std::memory_order_relaxed)};
}

Version ParameterShard::CurrentVersion() const {
  return Version{options_.life, count_};
}

// ---- Reports ----------------------------------------------------------------

void ParameterShard::Stats(StatsRequest request, absl::Duration timeout,
                           Done<StatsReply> done) {
  const absl::Status admitted = Admit(request.identity, timeout);
  if (!admitted.ok()) {
    PostResult<StatsReply>(executor_, std::move(done), admitted);
    return;
  }
  PostResult(executor_, std::move(done), StatsNow(request));
}

absl::StatusOr<StatsReply> ParameterShard::StatsNow(
    const StatsRequest& request) {
  StatsReply reply;
  AddContents(contents_, options_.model, &reply);
  reply.lookups = Lookups();
  if (reply.canary.has_value()) {
    reply.canary->foreign =
        CountForeignCanaries(contents_, options_.life.start) -
        loaded_foreign_canaries_;
  }

  MutexLock lock(&mu_);
  reply.version = CurrentVersion();
  reply.pushes_applied = marks_.applied();
  reply.pushes_rejected = marks_.rejected();
  reply.repeats_refused = marks_.repeats_refused();
  for (size_t i = 0; i < reply.variables.size(); ++i) {
    reply.variables[i].staleness = staleness_.by_variable()[i];
  }
  for (const auto& [life, histogram] : staleness_.by_worker()) {
    reply.staleness.emplace_back(life, histogram);
  }
  reply.pulled_in_other_life = staleness_.pulled_in_other_life();
  return reply;
}

uint64_t ParameterShard::Lookups() const {
  uint64_t sum = 0;
  for (const std::atomic<uint64_t>& lookups : lookups_) {
    sum += lookups.load(std::memory_order_relaxed);
  }
  return sum;
}

ParameterShard::Counts ParameterShard::Count() const {
  Counts counts;
  const int64_t until = serve_until_ns_.load(std::memory_order_acquire);
  counts.serving = absl::ToUnixNanos(executor_->Now()) < until;
  counts.lookups = Lookups();
  for (const std::unique_ptr<EmbeddingTable>& table : contents_.tables) {
    if (!table->spec().on_every_shard) counts.rows += table->rows();
  }
  counts.bytes_held = budget_.held();
  counts.bytes_limit = budget_.limit();
  MutexLock lock(&mu_);
  counts.pushes_applied = marks_.applied();
  counts.pushes_rejected = marks_.rejected();
  counts.repeats_refused = marks_.repeats_refused();
  return counts;
}

MarkDelta ParameterShard::TakeMarks() {
  MutexLock lock(&mu_);
  return marks_.Take();
}

Histogram ParameterShard::Staleness() const {
  MutexLock lock(&mu_);
  return staleness_.all();
}

}  // namespace shoal
