#include "models/backend/vector_passes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// The rest of this file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/backend/vector_passes.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Highway's order: the headers that are compiled with this file come last.
#include "base/vector_runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kFloatsPerCacheLine = 16;

// Writes the transpose of the 4 × 4 floats at `from`, rows `from_stride` apart,
// to `to`.
HWY_INLINE void Transpose4x4(const float* HWY_RESTRICT from,
                             int64_t from_stride, float* HWY_RESTRICT to,
                             int64_t to_stride) {
  const hn::CappedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  const auto row0 = hn::LoadU(d, from);
  const auto row1 = hn::LoadU(d, from + from_stride);
  const auto row2 = hn::LoadU(d, from + 2 * from_stride);
  const auto row3 = hn::LoadU(d, from + 3 * from_stride);
  // a0 b0 a1 b1, and so on.
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  const auto store = [&](auto column, int k) HWY_ATTR {
    hn::StoreU(hn::BitCast(d, column), d, to + k * to_stride);
  };
  store(hn::InterleaveLower(pairs, low01, low23), 0);
  store(hn::InterleaveUpper(pairs, low01, low23), 1);
  store(hn::InterleaveLower(pairs, high01, high23), 2);
  store(hn::InterleaveUpper(pairs, high01, high23), 3);
}

void Transpose(int rows, int cols, absl::Span<const float> from,
               absl::Span<float> to) {
  constexpr int kTile = 16;  // both sides of a tile stay in the cache
  for (int i0 = 0; i0 < rows; i0 += kTile) {
    for (int j0 = 0; j0 < cols; j0 += kTile) {
      const int i1 = std::min(rows, i0 + kTile);
      const int j1 = std::min(cols, j0 + kTile);
      const auto at = [](int64_t row, int64_t stride, int64_t col) {
        return row * stride + col;
      };
      int i = i0;
      for (; i + 4 <= i1; i += 4) {
        int j = j0;
        for (; j + 4 <= j1; j += 4) {
          Transpose4x4(from.data() + at(i, cols, j), cols,
                       to.data() + at(j, rows, i), rows);
        }
        for (; j < j1; ++j) {
          for (int r = i; r < i + 4; ++r) {
            to[at(j, rows, r)] = from[at(r, cols, j)];
          }
        }
      }
      for (; i < i1; ++i) {
        for (int j = j0; j < j1; ++j) {
          to[at(j, rows, i)] = from[at(i, cols, j)];
        }
      }
    }
  }
}

void BiasForward(Activation activation, absl::Span<const float> bias,
                 absl::Span<float> y) {
  const size_t cols = bias.size();
  const float* HWY_RESTRICT b = bias.data();
  const bool relu = activation == Activation::kRelu;
  for (size_t start = 0; start < y.size(); start += cols) {
    float* HWY_RESTRICT row = y.data() + start;
    ForEachRun<1>(cols, [&](auto d, auto, size_t j) HWY_ATTR {
      const auto z = hn::Add(hn::LoadU(d, row + j), hn::LoadU(d, b + j));
      hn::StoreU(relu ? hn::IfThenElseZero(hn::Gt(z, hn::Zero(d)), z) : z, d,
                 row + j);
    });
  }
}

// For rows [0, kRows) of y and d_y, `cols` apart: masks d_y, and adds its sums
// over these rows to d_b.
template <int kRows>
HWY_INLINE void BiasBackwardRows(bool relu, size_t cols,
                                 const float* HWY_RESTRICT y,
                                 float* HWY_RESTRICT d_y,
                                 float* HWY_RESTRICT d_b) {
  ForEachRun<1>(cols, [&](auto d, auto, size_t j) HWY_ATTR {
    auto sum = hn::LoadU(d, d_b + j);
    for (int r = 0; r < kRows; ++r) {
      float* HWY_RESTRICT at = d_y + r * cols + j;
      auto g = hn::LoadU(d, at);
      if (relu) {
        const auto out = hn::LoadU(d, y + r * cols + j);
        g = hn::IfThenElseZero(hn::Gt(out, hn::Zero(d)), g);
        hn::StoreU(g, d, at);
      }
      sum = hn::Add(sum, g);
    }
    hn::StoreU(sum, d, d_b + j);
  });
}

void BiasBackward(Activation activation, absl::Span<const float> y,
                  absl::Span<float> d_y, bool accumulate,
                  absl::Span<float> d_bias) {
  const bool relu = activation == Activation::kRelu;
  const size_t cols = d_bias.size();
  if (!accumulate) std::fill(d_bias.begin(), d_bias.end(), 0.0f);
  // Four rows at a time quarter the traffic to d_bias.
  size_t start = 0;
  for (; start + 4 * cols <= d_y.size(); start += 4 * cols) {
    BiasBackwardRows<4>(relu, cols, y.data() + start, d_y.data() + start,
                        d_bias.data());
  }
  for (; start < d_y.size(); start += cols) {
    BiasBackwardRows<1>(relu, cols, y.data() + start, d_y.data() + start,
                        d_bias.data());
  }
}

// The place of one example's occurrences.
struct Example {
  const int32_t* row_index;
  const float* values;
  const float* rows;
  int fields;
  int dim;

  const float* Vector(int32_t row) const {
    return rows + static_cast<int64_t>(row) * (1 + dim) + 1;
  }
};

Example ExampleOf(const FmInput& input, int b) {
  const int64_t at = static_cast<int64_t>(b) * input.field_size;
  return {input.row_index.data() + at, input.values.data() + at,
          input.rows.data(), input.field_size, input.dim};
}

// Prefetches the rows of example b from `rows` (U × (1 + K)), which holds the
// input's rows or their gradients. Does nothing past the last example.
template <typename Float>
HWY_INLINE void PrefetchRows(const FmInput& input, int b, Float* rows) {
  if (b >= input.batch_size) return;
  const int row_dim = 1 + input.dim;
  const int32_t* index =
      input.row_index.data() + static_cast<int64_t>(b) * input.field_size;
  for (int j = 0; j < input.field_size; ++j) {
    if (index[j] < 0) continue;
    Float* row = rows + static_cast<int64_t>(index[j]) * row_dim;
    for (int k = 0; k < row_dim; k += kFloatsPerCacheLine) {
      __builtin_prefetch(row + k);
    }
    __builtin_prefetch(row + row_dim - 1);
  }
}

// Computes elements [k, k + kVectors · lanes) of every embedding of one
// example. Returns the sum over these elements of (Σ_j e)² − Σ_j e².
// `embeddings` may be null.
template <int kVectors, class D>
HWY_INLINE float ForwardElements(D d, const Example& example, size_t k,
                                 float* HWY_RESTRICT embeddings,
                                 float* HWY_RESTRICT sums) {
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  V sum[kVectors];
  V squares[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = squares[v] = hn::Zero(d);
  for (int j = 0; j < example.fields; ++j) {
    const auto store = [&](int v, V e) HWY_ATTR {
      if (embeddings == nullptr) return;
      hn::StoreU(e, d, embeddings + j * example.dim + k + v * lanes);
    };
    const int32_t index = example.row_index[j];
    if (HWY_UNLIKELY(index < 0)) {
      for (int v = 0; v < kVectors; ++v) store(v, hn::Zero(d));
      continue;
    }
    const V x = hn::Set(d, example.values[j]);
    const float* HWY_RESTRICT row = example.Vector(index) + k;
    for (int v = 0; v < kVectors; ++v) {
      const V product = hn::Mul(hn::LoadU(d, row + v * lanes), x);
      store(v, product);
      sum[v] = hn::Add(sum[v], product);
      squares[v] = hn::MulAdd(product, product, squares[v]);
    }
  }
  V difference = hn::Zero(d);
  for (int v = 0; v < kVectors; ++v) {
    hn::StoreU(sum[v], d, sums + k + v * lanes);
    difference = hn::Add(difference, hn::MulSub(sum[v], sum[v], squares[v]));
  }
  return hn::GetLane(hn::SumOfLanes(d, difference));
}

void FmForward(const FmInput& input, absl::Span<float> embeddings,
               absl::Span<float> sums, absl::Span<float> logits) {
  const size_t dim = input.dim;
  for (int b = 0; b < input.batch_size; ++b) {
    PrefetchRows(input, b + 1, input.rows.data());
    const Example example = ExampleOf(input, b);
    float* e = embeddings.empty()
                   ? nullptr
                   : embeddings.data() + b * dim * input.field_size;
    float first_order = 0;
    for (int j = 0; j < example.fields; ++j) {
      const int32_t index = example.row_index[j];
      if (index < 0) continue;
      first_order += example.Vector(index)[-1] * example.values[j];
    }
    float second_order = 0;
    ForEachRun<4>(dim, [&](auto d, auto vectors, size_t k) HWY_ATTR {
      second_order +=
          ForwardElements<vectors()>(d, example, k, e, sums.data() + b * dim);
    });
    logits[b] += first_order + 0.5f * second_order;
  }
}

// d_rows += x (d_e + dz (Σ e − v x)) in elements [k, k + kVectors · lanes) of
// the rows of one example. d_e may be null.
template <int kVectors, class D>
HWY_INLINE void BackwardElements(D d, const Example& example, size_t k,
                                 const float* HWY_RESTRICT d_e,
                                 const float* HWY_RESTRICT sums, float d_logit,
                                 float* HWY_RESTRICT d_rows) {
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  const V dz = hn::Set(d, d_logit);
  V dz_sum[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    dz_sum[v] = hn::Mul(dz, hn::LoadU(d, sums + k + v * lanes));
  }
  for (int j = 0; j < example.fields; ++j) {
    const int32_t index = example.row_index[j];
    if (HWY_UNLIKELY(index < 0)) continue;
    const V x = hn::Set(d, example.values[j]);
    const V dz_x = hn::Mul(dz, x);
    const float* HWY_RESTRICT row = example.Vector(index) + k;
    float* HWY_RESTRICT d_row =
        d_rows + static_cast<int64_t>(index) * (1 + example.dim) + 1 + k;
    for (int v = 0; v < kVectors; ++v) {
      V g = hn::NegMulAdd(dz_x, hn::LoadU(d, row + v * lanes), dz_sum[v]);
      if (d_e != nullptr) {
        g = hn::Add(g, hn::LoadU(d, d_e + j * example.dim + k + v * lanes));
      }
      hn::StoreU(hn::MulAdd(x, g, hn::LoadU(d, d_row + v * lanes)), d,
                 d_row + v * lanes);
    }
  }
}

void FmBackward(const FmInput& input, absl::Span<const float> sums,
                absl::Span<const float> d_logits,
                absl::Span<const float> d_embeddings, bool accumulate,
                absl::Span<float> d_rows) {
  const size_t dim = input.dim;
  if (!accumulate) std::fill(d_rows.begin(), d_rows.end(), 0.0f);
  for (int b = 0; b < input.batch_size; ++b) {
    PrefetchRows(input, b + 1, input.rows.data());
    PrefetchRows(input, b + 1, d_rows.data());
    const Example example = ExampleOf(input, b);
    const size_t at = b * dim * input.field_size;
    const float d_logit = d_logits[b];
    for (int j = 0; j < example.fields; ++j) {
      const int32_t index = example.row_index[j];
      if (index < 0) continue;
      d_rows[static_cast<int64_t>(index) * (1 + dim)] +=
          d_logit * example.values[j];
    }
    ForEachRun<4>(dim, [&](auto d, auto vectors, size_t k) HWY_ATTR {
      BackwardElements<vectors()>(
          d, example, k,
          d_embeddings.empty() ? nullptr : d_embeddings.data() + at,
          sums.data() + b * dim, d_logit, d_rows.data());
    });
  }
}

int64_t Target() { return HWY_TARGET; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace shoal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal {

HWY_EXPORT(Transpose);
HWY_EXPORT(BiasForward);
HWY_EXPORT(BiasBackward);
HWY_EXPORT(FmForward);
HWY_EXPORT(FmBackward);
HWY_EXPORT(Target);

void VectorTranspose(int rows, int cols, absl::Span<const float> from,
                     absl::Span<float> to) {
  HWY_DYNAMIC_DISPATCH(Transpose)(rows, cols, from, to);
}

void VectorBiasForward(Activation activation, absl::Span<const float> bias,
                       absl::Span<float> y) {
  HWY_DYNAMIC_DISPATCH(BiasForward)(activation, bias, y);
}

void VectorBiasBackward(Activation activation, absl::Span<const float> y,
                        absl::Span<float> d_y, bool accumulate,
                        absl::Span<float> d_bias) {
  HWY_DYNAMIC_DISPATCH(BiasBackward)(activation, y, d_y, accumulate, d_bias);
}

void VectorFmForward(const FmInput& input, absl::Span<float> embeddings,
                     absl::Span<float> sums, absl::Span<float> logits) {
  HWY_DYNAMIC_DISPATCH(FmForward)(input, embeddings, sums, logits);
}

void VectorFmBackward(const FmInput& input, absl::Span<const float> sums,
                      absl::Span<const float> d_logits,
                      absl::Span<const float> d_embeddings, bool accumulate,
                      absl::Span<float> d_rows) {
  HWY_DYNAMIC_DISPATCH(FmBackward)
  (input, sums, d_logits, d_embeddings, accumulate, d_rows);
}

std::string VectorTargetName() {
  return hwy::TargetName(HWY_DYNAMIC_DISPATCH(Target)());
}

}  // namespace shoal
#endif  // HWY_ONCE
