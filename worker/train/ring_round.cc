#include "worker/train/ring_round.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "core/gradient_sum.h"

namespace shoal {
namespace {

std::vector<DenseRange> BucketsOf(const RingRoundOptions& options) {
  std::vector<size_t> sizes;
  for (const DenseSpec& variable : options.model.dense) {
    sizes.push_back(static_cast<size_t>(variable.size()));
  }
  return GradientBuckets(
      sizes, std::max<size_t>(1, options.bucket_bytes / sizeof(float)));
}

}  // namespace

std::string NameOfRank(const RingRoundOptions& options, int rank) {
  return options.name ? options.name(rank) : absl::StrCat("rank ", rank);
}

RingRound::RingRound(RingRoundOptions options,
                     std::unique_ptr<Collective> collective)
    : options_(std::move(options)),
      collective_(std::move(collective)),
      buckets_(BucketsOf(options_)),
      merges_(options_.model.tables.size()) {
  for (const TableSpec& table : options_.model.tables) {
    row_dims_.push_back(table.row_dim());
  }
  for (std::shared_ptr<StepMemory>& memory : memory_) {
    memory = std::make_shared<StepMemory>();
    memory->gradient.tables.resize(row_dims_.size());
    memory->gradient.d_dense.ResizeDiscard(
        static_cast<size_t>(options_.model.dense_size()));
  }
  made_ = memory_[0];
}

void RingRound::Begin() {
  SHOAL_DCHECK(summing_ == 0 && done_ == nullptr);
  ++round_;
  made_ = memory_[round_ % 2];
  made_->batches.clear();
  index_ = 0;
  again_ = false;
  status_ = absl::OkStatus();
  buckets_.Reset();
}

void RingRound::OnFinal(DenseRange range, absl::Span<const float> d_dense) {
  buckets_.Add(range);
  while (const std::optional<size_t> bucket = buckets_.Take()) {
    Sum(*bucket, d_dense);
  }
}

void RingRound::End(RankPart part, absl::Span<const float> d_dense,
                    Done<RingOutcome> done) {
  done_ = std::move(done);
  const bool adds = part.batch.has_value() && !part.batch->rejected;
  SHOAL_DCHECK(!adds || d_dense.size() == made_->gradient.d_dense.size());
  own_ = adds ? d_dense : absl::Span<const float>();
  part.tainted = !adds && buckets_.taken();
  while (const std::optional<size_t> bucket = buckets_.TakeAny()) {
    Sum(*bucket, own_);
  }
  EncodeRankPart(part, row_dims_, &sent_);
  collective_->AllGather(
      {.step = round_, .index = index_++, .name = "parts"}, sent_.span(),
      &received_, options_.timeout,
      [self = shared_from_this()](absl::StatusOr<CollectiveReply> reply) {
        self->OnGathered(reply.status());
      });
}

void RingRound::Sum(size_t bucket, absl::Span<const float> own) {
  const DenseRange range = buckets_.buckets()[bucket];
  const size_t size = range.end - range.begin;
  const absl::Span<float> sum =
      made_->gradient.d_dense.span().subspan(range.begin, size);
  if (own.empty()) {
    std::fill(sum.begin(), sum.end(), kAddsNothing);
  } else {
    std::copy_n(own.data() + range.begin, size, sum.data());
  }
  ++summing_;
  collective_->AllReduce(
      {.step = round_,
       .index = index_++,
       .name = absl::StrCat("dense/", bucket)},
      sum, options_.timeout,
      [self = shared_from_this()](absl::StatusOr<CollectiveReply> reply) {
        self->OnSummed(reply.status());
      });
}

void RingRound::OnSummed(const absl::Status& status) {
  if (collective_ == nullptr) return;
  status_.Update(status);
  --summing_;
  if (again_ && summing_ == 0) Complete();
}

void RingRound::OnGathered(const absl::Status& status) {
  if (collective_ == nullptr) return;
  // The sums before it are done: operations end in their order.
  SHOAL_DCHECK(!status.ok() || summing_ == 0);
  status_.Update(status);
  if (status_.ok()) status_ = ReadParts();
  const bool tainted =
      status_.ok() && outcome_.step &&
      std::any_of(parts_.begin(), parts_.end(),
                  [](const RankPart& part) { return part.tainted; });
  if (!tainted || buckets_.buckets().empty()) {
    Complete();
    return;
  }
  again_ = true;
  for (size_t b = 0; b < buckets_.buckets().size(); ++b) Sum(b, own_);
}

void RingRound::Confirm(absl::AnyInvocable<void(absl::Status) &&> done) {
  // A part of a byte: that it has come from all ranks is all it says.
  static constexpr char kHere = 1;
  collective_->AllGather(
      {.step = round_, .index = index_++, .name = "confirm"},
      absl::MakeConstSpan(&kHere, 1), &confirmed_, options_.timeout,
      [self = shared_from_this(),
       done = std::move(done)](absl::StatusOr<CollectiveReply> reply) mutable {
        if (self->collective_ == nullptr) return;
        std::move(done)(reply.status());
      });
}

void RingRound::Cancel() {
  collective_.reset();
  // It may hold the owner, which holds this round.
  done_ = nullptr;
}

absl::Status RingRound::ReadParts() {
  parts_.clear();
  outcome_.step = true;
  outcome_.lanes_ended = true;
  outcome_.hold = 0;
  outcome_.made = nullptr;
  PushedBatches& batches = made_->batches;
  batches.clear();
  uint64_t ids = 0;
  for (int rank = 0; rank < received_.size(); ++rank) {
    absl::StatusOr<RankPart> part =
        DecodeRankPart(received_.part(rank), row_dims_);
    if (!part.ok()) {
      return Annotate(part.status(), NameOfRank(options_, rank));
    }
    for (const RowGradients& table : part->tables) ids += table.ids.size();
    outcome_.step &= part->ready();
    outcome_.lanes_ended &= part->lane_ended;
    outcome_.hold = std::max(outcome_.hold, part->hold);
    if (part->batch.has_value()) batches.push_back(*part->batch);
    parts_.push_back(*std::move(part));
  }
  if (ids > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return absl::OutOfRangeError(
        absl::StrCat("the ranks bring ", ids, " rows in one step"));
  }
  if (!outcome_.step) batches.clear();
  if (batches.empty()) return absl::OkStatus();
  const absl::Status valid = CheckPushedBatches(batches);
  if (!valid.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the batches of the ranks: ", valid.message()));
  }
  outcome_.made = made_;
  return absl::OkStatus();
}

void RingRound::Complete() {
  if (!status_.ok()) {
    std::exchange(done_, nullptr)(status_);
    return;
  }
  uint64_t examples = 0;
  for (const PushedBatch& batch : made_->batches) {
    if (!batch.rejected) examples += batch.examples;
  }
  if (examples > 0) Merge(examples);
  std::exchange(done_, nullptr)(outcome_);
}

void RingRound::Merge(uint64_t examples) {
  for (size_t t = 0; t < merges_.size(); ++t) {
    std::vector<RowGradients> ranks;
    for (const RankPart& part : parts_) ranks.push_back(part.tables[t]);
    RowMerge& merge = merges_[t];
    merge.Build(row_dims_[t], ranks);
    TableParameters& table = made_->gradient.tables[t];
    table.split.ids.assign(merge.ids().begin(), merge.ids().end());
    table.split.begin = {0, static_cast<uint32_t>(merge.ids().size())};
    table.d_rows.ResizeDiscard(merge.rows().size());
    std::copy_n(merge.rows().data(), merge.rows().size(), table.d_rows.data());
    if (DividesRows(options_.model, t)) {
      DivideByExamples(examples, table.d_rows.span());
    }
  }
  if (DividesDense(options_.model)) {
    DivideByExamples(examples, made_->gradient.d_dense.span());
  }
}

}  // namespace shoal
