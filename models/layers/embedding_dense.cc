#include "models/layers/embedding_dense.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr int kMaxStretch = 2048;
constexpr int64_t kStretchBytes = int64_t{128} << 20;

// As many examples as fit kStretchBytes of products.
int64_t ExamplesThatFit(const EmbeddingDenseOptions& options) {
  return kStretchBytes / (int64_t{4} * options.field_size *
                          (int64_t{options.dim} + options.outputs));
}

}  // namespace

int EmbeddingDenseOptions::Stretch() const {
  return static_cast<int>(
      std::clamp<int64_t>(ExamplesThatFit(*this), kMinStretch, kMaxStretch));
}

int64_t EmbeddingDenseOptions::MostPairs(int examples) const {
  const size_t occurrences = size_t(examples) * field_size;
  switch (form) {
    case FirstLayer::kDense:
      return -1;
    case FirstLayer::kDistinct:
      return static_cast<int64_t>(occurrences);
    case FirstLayer::kAuto:
      break;
  }
  if (ExamplesThatFit(*this) < kMinStretch) return -1;
  return DistinctDenseLayer::MostPairs(occurrences, dim, outputs);
}

SampleWork EmbeddingDenseOptions::Work() const {
  SampleWork work = DistinctDenseLayer::Work(field_size, dim, outputs);
  if (MostPairs(kMinStretch) < 0) work.most_ids = 0;
  if (form == FirstLayer::kDistinct) work.most_ids = field_size;
  return work;
}

uint64_t EmbeddingDenseOptions::MemoryBytes(int batch_size,
                                            uint64_t distinct_rows) const {
  const int examples = std::min(batch_size, Stretch());
  const int64_t most_pairs = MostPairs(examples);
  if (most_pairs < 0) return 0;
  // Embeddings and their products, the last place of each row, and the sums
  // that the examples make of the products.
  const uint64_t pairs =
      std::min(static_cast<uint64_t>(most_pairs), distinct_rows);
  return pairs * 4 * (uint64_t(dim) + outputs) + 8 * distinct_rows +
         uint64_t(examples) *
             (4 * uint64_t(field_size) + 8 * uint64_t(outputs));
}

EmbeddingDenseLayer::EmbeddingDenseLayer(const EmbeddingDenseOptions& options,
                                         Backend* backend)
    : options_(options),
      dense_(options.field_size * options.dim, options.outputs,
             Activation::kRelu, backend),
      distinct_(options.field_size, options.dim, options.outputs, backend) {}

void EmbeddingDenseLayer::Begin(const FmInput& stretch,
                                absl::Span<const float> weights,
                                absl::Span<const float> biases) {
  const int64_t most_pairs = options_.MostPairs(stretch.batch_size);
  on_distinct_ = most_pairs >= 0 && distinct_.Plan(stretch, most_pairs);
  if (on_distinct_) distinct_.Forward(stretch, weights, biases);
}

absl::Span<float> EmbeddingDenseLayer::Forward(int first, int count,
                                               absl::Span<const float> e,
                                               absl::Span<const float> weights,
                                               absl::Span<const float> biases) {
  if (on_distinct_) return distinct_.y(first, count);
  return dense_.Forward(count, e, weights, biases);
}

absl::Span<const float> EmbeddingDenseLayer::y(int first, int count) {
  if (on_distinct_) return distinct_.y(first, count);
  return dense_.y();
}

absl::Span<float> EmbeddingDenseLayer::d_y(int first, int count) {
  if (on_distinct_) return distinct_.d_y(first, count);
  d_y_.ResizeDiscard(size_t(count) * options_.outputs);
  return d_y_.span();
}

absl::Span<float> EmbeddingDenseLayer::Backward(
    int first, int count, absl::Span<float> e, absl::Span<const float> weights,
    bool accumulate, absl::Span<float> d_weights, absl::Span<float> d_biases,
    PartDone done) {
  if (on_distinct_) {
    distinct_.BiasBackward(first, count, accumulate, d_biases);
    done(d_biases);
    return {};
  }
  // The gradient of the embeddings, the largest gradient, overwrites the
  // embeddings while they are in the cache.
  dense_.Backward(e, weights, d_y_.span(), accumulate, d_weights, d_biases, e,
                  done);
  return e;
}

void EmbeddingDenseLayer::End(const FmInput& stretch,
                              absl::Span<const float> weights, bool accumulate,
                              absl::Span<float> d_weights,
                              absl::Span<float> d_rows, PartDone done) {
  if (!on_distinct_) return;
  distinct_.Backward(stretch, weights, accumulate, d_weights, d_rows, done);
}

}  // namespace shoal
