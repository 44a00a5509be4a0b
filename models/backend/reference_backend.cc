#include "models/backend/reference_backend.h"

#include <algorithm>

#include "models/backend/plain_passes.h"

namespace shoal {
namespace {

// Rows of b that stay in the second-level cache while the loop runs over all of
// c.
constexpr int kGemmBlock = 64;

// to (cols × rows) = the transpose of from (rows × cols).
void TransposeTiles(int rows, int cols, const float* __restrict from,
                    float* __restrict to) {
  constexpr int kTile = 16;  // both sides of a tile stay in cache
  for (int i0 = 0; i0 < rows; i0 += kTile) {
    const int i1 = std::min(rows, i0 + kTile);
    for (int j0 = 0; j0 < cols; j0 += kTile) {
      const int j1 = std::min(cols, j0 + kTile);
      for (int i = i0; i < i1; ++i) {
        for (int j = j0; j < j1; ++j) {
          to[static_cast<int64_t>(j) * rows + i] =
              from[static_cast<int64_t>(i) * cols + j];
        }
      }
    }
  }
}

// c (m × n) += a (m × k) · b (k × n), with the innermost loop along rows of b
// and c. Four rows of b at a time quarter the traffic to c.
void MultiplyAdd(int m, int n, int k, const float* __restrict a,
                 const float* __restrict b, float* __restrict c) {
  for (int k0 = 0; k0 < k; k0 += kGemmBlock) {
    const int k1 = std::min(k, k0 + kGemmBlock);
    for (int i = 0; i < m; ++i) {
      const float* a_row = a + static_cast<int64_t>(i) * k;
      float* __restrict c_row = c + static_cast<int64_t>(i) * n;
      int p = k0;
      for (; p + 4 <= k1; p += 4) {
        const float* __restrict b_row = b + static_cast<int64_t>(p) * n;
        const float a0 = a_row[p];
        const float a1 = a_row[p + 1];
        const float a2 = a_row[p + 2];
        const float a3 = a_row[p + 3];
        for (int j = 0; j < n; ++j) {
          c_row[j] += (a0 * b_row[j] + a1 * b_row[n + j]) +
                      (a2 * b_row[2 * n + j] + a3 * b_row[3 * n + j]);
        }
      }
      for (; p < k1; ++p) {
        const float* __restrict b_row = b + static_cast<int64_t>(p) * n;
        const float a0 = a_row[p];
        for (int j = 0; j < n; ++j) c_row[j] += a0 * b_row[j];
      }
    }
  }
}

}  // namespace

std::string ReferenceBackend::description() const {
  return "reference (plain loops)";
}

void ReferenceBackend::Gemm(const GemmShape& shape, absl::Span<const float> a,
                            absl::Span<const float> b, absl::Span<float> c) {
  const float* a_rows = a.data();
  if (shape.transpose_a) {
    a_.ResizeDiscard(a.size());
    Transpose(shape.k, shape.m, a, a_.span());
    a_rows = a_.data();
  }
  const float* b_rows = b.data();
  if (shape.transpose_b) {
    b_.ResizeDiscard(b.size());
    Transpose(shape.n, shape.k, b, b_.span());
    b_rows = b_.data();
  }
  if (!shape.accumulate) std::fill(c.begin(), c.end(), 0.0f);
  MultiplyAdd(shape.m, shape.n, shape.k, a_rows, b_rows, c.data());
}

void ReferenceBackend::Transpose(int rows, int cols,
                                 absl::Span<const float> from,
                                 absl::Span<float> to) {
  TransposeTiles(rows, cols, from.data(), to.data());
}

void ReferenceBackend::BiasForward(Activation activation,
                                   absl::Span<const float> bias,
                                   absl::Span<float> y) {
  const size_t cols = bias.size();
  const float* __restrict b = bias.data();
  for (size_t start = 0; start < y.size(); start += cols) {
    float* __restrict row = y.data() + start;
    if (activation == Activation::kRelu) {
      for (size_t j = 0; j < cols; ++j) {
        const float z = row[j] + b[j];
        row[j] = z > 0 ? z : 0;
      }
    } else {
      for (size_t j = 0; j < cols; ++j) row[j] += b[j];
    }
  }
}

void ReferenceBackend::BiasBackward(Activation activation,
                                    absl::Span<const float> y,
                                    absl::Span<float> d_y, bool accumulate,
                                    absl::Span<float> d_bias) {
  const size_t cols = d_bias.size();
  float* __restrict d_b = d_bias.data();
  if (!accumulate) std::fill(d_bias.begin(), d_bias.end(), 0.0f);
  for (size_t start = 0; start < d_y.size(); start += cols) {
    const float* __restrict y_row = y.data() + start;
    float* __restrict d_row = d_y.data() + start;
    if (activation == Activation::kRelu) {
      for (size_t j = 0; j < cols; ++j) {
        const float d = y_row[j] > 0 ? d_row[j] : 0;
        d_row[j] = d;
        d_b[j] += d;
      }
    } else {
      for (size_t j = 0; j < cols; ++j) d_b[j] += d_row[j];
    }
  }
}

void ReferenceBackend::ScaleByMask(absl::Span<const uint8_t> mask, float scale,
                                   absl::Span<float> x) {
  PlainScaleByMask(mask, scale, x);
}

void ReferenceBackend::FmForward(const FmInput& input,
                                 absl::Span<float> embeddings,
                                 absl::Span<float> sums,
                                 absl::Span<float> logits) {
  const int F = input.field_size;
  const int K = input.dim;
  squares_.ResizeDiscard(K);
  unwanted_.ResizeDiscard(K);
  float* __restrict squares = squares_.data();
  for (int b = 0; b < input.batch_size; ++b) {
    float* __restrict sum = sums.data() + static_cast<int64_t>(b) * K;
    std::fill_n(sum, K, 0.0f);
    std::fill_n(squares, K, 0.0f);
    float first_order = 0;
    for (int j = 0; j < F; ++j) {
      const int64_t at = static_cast<int64_t>(b) * F + j;
      float* __restrict e =
          embeddings.empty() ? unwanted_.data() : embeddings.data() + at * K;
      const int32_t index = input.row_index[at];
      if (index < 0) {
        std::fill_n(e, K, 0.0f);
        continue;
      }
      const float x = input.values[at];
      const float* __restrict row =
          input.rows.data() + static_cast<int64_t>(index) * (1 + K);
      first_order += row[0] * x;
      for (int k = 0; k < K; ++k) {
        const float e_k = row[1 + k] * x;
        e[k] = e_k;
        sum[k] += e_k;
        squares[k] += e_k * e_k;
      }
    }
    float second_order = 0;
    for (int k = 0; k < K; ++k) second_order += sum[k] * sum[k] - squares[k];
    logits[b] += first_order + 0.5f * second_order;
  }
}

void ReferenceBackend::FmBackward(const FmInput& input,
                                  absl::Span<const float> sums,
                                  absl::Span<const float> d_logits,
                                  absl::Span<const float> d_embeddings,
                                  bool accumulate, absl::Span<float> d_rows) {
  const int F = input.field_size;
  const int K = input.dim;
  if (!accumulate) std::fill(d_rows.begin(), d_rows.end(), 0.0f);
  for (int b = 0; b < input.batch_size; ++b) {
    const float* __restrict sum = sums.data() + static_cast<int64_t>(b) * K;
    const float d_logit = d_logits[b];
    for (int j = 0; j < F; ++j) {
      const int64_t at = static_cast<int64_t>(b) * F + j;
      const int32_t index = input.row_index[at];
      if (index < 0) continue;
      const float x = input.values[at];
      const float* __restrict v =
          input.rows.data() + static_cast<int64_t>(index) * (1 + K) + 1;
      float* __restrict d_row =
          d_rows.data() + static_cast<int64_t>(index) * (1 + K);
      d_row[0] += d_logit * x;
      if (d_embeddings.empty()) {
        for (int k = 0; k < K; ++k) {
          d_row[1 + k] += x * (d_logit * (sum[k] - v[k] * x));
        }
      } else {
        const float* __restrict d_e = d_embeddings.data() + at * K;
        for (int k = 0; k < K; ++k) {
          d_row[1 + k] += x * (d_e[k] + d_logit * (sum[k] - v[k] * x));
        }
      }
    }
  }
}

void ReferenceBackend::BagSum(const BagInput& bags,
                              absl::Span<const float> rows,
                              absl::Span<float> sums) {
  const int N = bags.dim;
  for (size_t s = 0; s + 1 < bags.begin.size(); ++s) {
    float* __restrict sum = sums.data() + static_cast<int64_t>(s) * N;
    std::fill_n(sum, N, 0.0f);
    for (int32_t i = bags.begin[s]; i < bags.begin[s + 1]; ++i) {
      const int64_t index = bags.index[i];
      if (index < 0) continue;
      const float factor = bags.factors[i];
      const float* __restrict row = rows.data() + index * N;
      for (int n = 0; n < N; ++n) sum[n] += factor * row[n];
    }
  }
}

double ReferenceBackend::SigmoidCrossEntropyForward(
    absl::Span<const float> logits, absl::Span<const uint8_t> labels) {
  return PlainSigmoidCrossEntropyForward(logits, labels);
}

void ReferenceBackend::SigmoidCrossEntropyBackward(
    absl::Span<const float> logits, absl::Span<const uint8_t> labels,
    float scale, absl::Span<float> d_logits) {
  PlainSigmoidCrossEntropyBackward(logits, labels, scale, d_logits);
}

}  // namespace shoal
