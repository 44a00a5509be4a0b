#include "models/layers/distinct_dense.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace shoal {
namespace {

// The number of examples whose sums still lie in the cache when the bias is
// added.
constexpr int kExamplesAtOnce = 64;

// Costs of this layer, in units of one of DenseLayer's multiplications;
// DenseLayer makes K · O of them per occurrence. Measured beside oneDNN. This
// first constant is the time of a product over one field's pairs, as a multiple
// of its share of the time of the product over all fields.
constexpr double kNarrowProduct = 1.6;
// Adding up one float of an occurrence, forwards and backwards.
constexpr double kAddedFloat = 5;
// Finding the pair of an occurrence, and its place among the pair's examples.
constexpr double kOccurrence = 130;
// The share of DenseLayer's cost below which this layer costs clearly less.
constexpr double kClearly = 0.9;

constexpr uint32_t kMaxStamp = uint32_t{1} << 31;

}  // namespace

DistinctDenseLayer::DistinctDenseLayer(int field_size, int dim, int outputs,
                                       Backend* backend)
    : field_size_(field_size),
      dim_(dim),
      outputs_(outputs),
      backend_(backend),
      begin_(field_size + 1) {}

int64_t DistinctDenseLayer::MostPairs(size_t occurrences, int dim,
                                      int outputs) {
  const double dense = double{1.0 * dim} * outputs;
  const double share =
      (kClearly * dense - kAddedFloat * outputs - kOccurrence) /
      (kNarrowProduct * dense);
  return static_cast<int64_t>(
      std::floor(share * static_cast<double>(occurrences)));
}

SampleWork DistinctDenseLayer::Work(int field_size, int dim, int outputs) {
  SampleWork work;
  work.plain = kFlopPerWeight * field_size * dim * outputs;
  work.per_sample =
      kFlopPerWeight * field_size * (kAddedFloat * outputs + kOccurrence);
  work.per_id = kFlopPerWeight * kNarrowProduct * dim * outputs;
  constexpr size_t kMany = 1'000'000;
  const int64_t pairs = MostPairs(kMany, dim, outputs);
  work.most_ids =
      field_size * std::max(0.0, static_cast<double>(pairs) / kMany);
  return work;
}

bool DistinctDenseLayer::Plan(const FmInput& input, int64_t most_pairs) {
  const size_t num_rows = input.rows.size() / (1 + dim_);
  if (num_rows > seen_.size() || stamp_ > kMaxStamp) {
    seen_.assign(std::max(num_rows, seen_.size()), {.stamp = 0, .pair = 0});
    stamp_ = 0;
  }
  planned_ = false;
  pairs_.ResizeDiscard(input.row_index.size());
  rows_.clear();
  for (int j = 0; j < field_size_; ++j) {
    ++stamp_;
    begin_[j] = static_cast<int32_t>(rows_.size());
    for (size_t i = j; i < input.row_index.size(); i += field_size_) {
      const int32_t row = input.row_index[i];
      if (row < 0) {
        pairs_[i] = -1;
        continue;
      }
      Seen& seen = seen_[row];
      if (seen.stamp != stamp_) {
        seen = {.stamp = stamp_, .pair = static_cast<int32_t>(rows_.size())};
        rows_.push_back(row);
      }
      pairs_[i] = seen.pair;
    }
    if (static_cast<int64_t>(rows_.size()) > most_pairs) return false;
  }
  begin_[field_size_] = static_cast<int32_t>(rows_.size());
  planned_ = true;
  return true;
}

void DistinctDenseLayer::Forward(const FmInput& input,
                                 absl::Span<const float> weights,
                                 absl::Span<const float> biases) {
  SHOAL_DCHECK(planned_ && pairs_.size() == input.row_index.size());
  embeddings_.ResizeDiscard(num_pairs() * dim_);
  for (size_t p = 0; p < num_pairs(); ++p) {
    const float* row = input.rows.data() + int64_t{rows_[p]} * (1 + dim_);
    std::copy_n(row + 1, dim_, embeddings_.data() + p * dim_);
  }
  products_.ResizeDiscard(num_pairs() * outputs_);
  for (int j = 0; j < field_size_; ++j) {
    if (PairsOf(j) == 0) continue;
    backend_->Gemm({.m = PairsOf(j), .n = outputs_, .k = dim_}, Embeddings(j),
                   Block(weights, j),
                   products_.span().subspan(size_t(begin_[j]) * outputs_,
                                            size_t(PairsOf(j)) * outputs_));
  }
  y_.ResizeDiscard(size_t(input.batch_size) * outputs_);
  examples_.resize(input.batch_size + 1);
  for (size_t b = 0; b < examples_.size(); ++b) {
    examples_[b] = static_cast<int32_t>(b) * field_size_;
  }
  for (int b = 0; b < input.batch_size; b += kExamplesAtOnce) {
    const int count = std::min(kExamplesAtOnce, input.batch_size - b);
    backend_->BagSum({outputs_, absl::MakeSpan(examples_).subspan(b, count + 1),
                      pairs_.span(), input.values},
                     products_.span(), y(b, count));
    backend_->BiasForward(Activation::kRelu, biases, y(b, count));
  }
}

absl::Span<float> DistinctDenseLayer::y(int first, int count) {
  return y_.span().subspan(size_t(first) * outputs_, size_t(count) * outputs_);
}

absl::Span<float> DistinctDenseLayer::d_y(int first, int count) {
  d_y_.ResizeDiscard(y_.size());
  return d_y_.span().subspan(size_t(first) * outputs_,
                             size_t(count) * outputs_);
}

void DistinctDenseLayer::BiasBackward(int first, int count, bool accumulate,
                                      absl::Span<float> d_biases) {
  backend_->BiasBackward(Activation::kRelu, y(first, count), d_y(first, count),
                         accumulate, d_biases);
}

void DistinctDenseLayer::Backward(const FmInput& input,
                                  absl::Span<const float> weights,
                                  bool accumulate, absl::Span<float> d_weights,
                                  absl::Span<float> d_rows, PartDone done) {
  for (int j = 0; j < field_size_; ++j) {
    const absl::Span<float> d_block = Block(d_weights, j);
    const int pairs = PairsOf(j);
    if (pairs == 0) {
      if (!accumulate) std::fill(d_block.begin(), d_block.end(), 0.0f);
      done(d_block);
      continue;
    }
    const absl::Span<float> v = Embeddings(j);
    const absl::Span<float> s =
        products_.span().first(size_t(pairs) * outputs_);
    backend_->BagSum(ExamplesByPair(input, j), d_y_.span(), s);
    backend_->Gemm({.m = dim_,
                    .n = outputs_,
                    .k = pairs,
                    .transpose_a = true,
                    .accumulate = accumulate},
                   v, s, d_block);
    done(d_block);
    // The gradients overwrite the embeddings.
    backend_->Gemm({.m = pairs, .n = dim_, .k = outputs_, .transpose_b = true},
                   s, Block(weights, j), v);
  }
  for (size_t p = 0; p < num_pairs(); ++p) {
    const float* __restrict from = embeddings_.data() + p * dim_;
    float* __restrict to = d_rows.data() + int64_t{rows_[p]} * (1 + dim_) + 1;
    for (int k = 0; k < dim_; ++k) to[k] += from[k];
  }
}

template <typename T>
absl::Span<T> DistinctDenseLayer::Block(absl::Span<T> weights,
                                        int field) const {
  const size_t size = size_t(dim_) * outputs_;
  return weights.subspan(field * size, size);
}

absl::Span<float> DistinctDenseLayer::Embeddings(int field) {
  return embeddings_.span().subspan(size_t(begin_[field]) * dim_,
                                    size_t(PairsOf(field)) * dim_);
}

BagInput DistinctDenseLayer::ExamplesByPair(const FmInput& input, int field) {
  // A counting sort: bag_begin_[p + 1] starts at the place where pair p's
  // examples begin, and moves with each example to the place where they end.
  const int32_t* pairs = pairs_.data() + field;
  bag_begin_.assign(PairsOf(field) + 2, 0);
  for (int b = 0; b < input.batch_size; ++b, pairs += field_size_) {
    if (*pairs >= 0) ++bag_begin_[*pairs - begin_[field] + 2];
  }
  for (size_t i = 2; i < bag_begin_.size(); ++i) {
    bag_begin_[i] += bag_begin_[i - 1];
  }
  bag_examples_.resize(input.batch_size);
  bag_values_.resize(input.batch_size);
  pairs = pairs_.data() + field;
  const float* values = input.values.data() + field;
  for (int b = 0; b < input.batch_size; ++b, pairs += field_size_) {
    if (*pairs < 0) continue;
    const int32_t at = bag_begin_[*pairs - begin_[field] + 1]++;
    bag_examples_[at] = b;
    bag_values_[at] = values[int64_t{b} * field_size_];
  }
  return {outputs_, absl::MakeSpan(bag_begin_).first(PairsOf(field) + 1),
          bag_examples_, bag_values_};
}

}  // namespace shoal
