// What every backend must do: each operation against its formula in double,
// over shapes that are not multiples of a vector, in every instruction set that
// this processor has, and equal bits on a repeat.
// Tolerances are relative to the largest element of the result.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/backend/backend_table.h"
#include "models/backend/create_backend.h"
#include "models/backend/onednn_backend.h"
#include "tests/harness/instruction_sets.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

struct Case {
  std::string backend;
  InstructionSet set;
};

class BackendConformance : public ::testing::TestWithParam<Case> {
 protected:
  BackendConformance()
      : set_(GetParam().set), backend_(*CreateBackend(GetParam().backend)) {}

  const WithInstructionSet set_;
  std::unique_ptr<Backend> backend_;
};

std::vector<double> Product(const GemmShape& s, const std::vector<float>& a,
                            const std::vector<float>& b,
                            const std::vector<float>& c) {
  std::vector<double> out(s.m * s.n, 0.0);
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      double sum = s.accumulate ? c[i * s.n + j] : 0.0;
      for (int p = 0; p < s.k; ++p) {
        sum += double{s.transpose_a ? a[p * s.m + i] : a[i * s.k + p]} *
               (s.transpose_b ? b[j * s.k + p] : b[p * s.n + j]);
      }
      out[i * s.n + j] = sum;
    }
  }
  return out;
}

TEST_P(BackendConformance, GemmOfOddShapesInEveryForm) {
  const std::vector<std::tuple<int, int, int>> shapes = {
      {1, 1, 1},   {1, 7, 3},    {5, 1, 9},    {3, 17, 1},   {33, 31, 65},
      {7, 400, 5}, {129, 1, 64}, {64, 48, 67}, {200, 9, 300}};
  for (const auto& [m, n, k] : shapes) {
    for (int form = 0; form < 8; ++form) {
      const GemmShape shape = {m,
                               n,
                               k,
                               /*transpose_a=*/(form & 1) != 0,
                               /*transpose_b=*/(form & 2) != 0,
                               /*accumulate=*/(form & 4) != 0};
      const auto a = RandomVector(61, m * k);
      const auto b = RandomVector(62, k * n);
      auto c = RandomVector(63, m * n);
      if (!shape.accumulate) c[0] = NAN;  // must not be read
      const auto expected = Product(shape, a, b, c);
      backend_->Gemm(shape, a, b, absl::MakeSpan(c));
      EXPECT_LT(RelativeError(c, expected), 2e-6)
          << m << "x" << n << "x" << k << " form " << form;
    }
  }
}

TEST_P(BackendConformance, TransposeOfOddShapes) {
  for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{
           {1, 1}, {3, 7}, {4, 4}, {5, 18}, {16, 17}, {65, 33}, {40, 400}}) {
    const auto from = RandomVector(68, rows * cols);
    std::vector<float> to(rows * cols, NAN);
    backend_->Transpose(rows, cols, from, absl::MakeSpan(to));
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < cols; ++j) {
        ASSERT_EQ(to[j * rows + i], from[i * cols + j]) << rows << "x" << cols;
      }
    }
  }
}

TEST_P(BackendConformance, BiasForwardAndBackward) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<int, int>>{{1, 1}, {3, 7}, {65, 33}, {10, 400}}) {
    for (const Activation activation :
         {Activation::kIdentity, Activation::kRelu}) {
      const bool relu = activation == Activation::kRelu;
      const auto z = RandomVector(64, rows * cols);
      const auto bias = RandomVector(65, cols);
      auto y = z;
      backend_->BiasForward(activation, bias, absl::MakeSpan(y));
      const auto upper = RandomVector(66, rows * cols);
      auto d_y = upper;
      std::vector<float> d_bias(cols, NAN);
      backend_->BiasBackward(activation, y, absl::MakeSpan(d_y),
                             /*accumulate=*/false, absl::MakeSpan(d_bias));
      std::vector<double> expected_d_bias(cols, 0.0);
      for (int i = 0; i < rows * cols; ++i) {
        const float sum = z[i] + bias[i % cols];
        EXPECT_EQ(y[i], relu ? std::max(sum, 0.0f) : sum);
        const float d = relu && !(sum > 0) ? 0 : upper[i];
        EXPECT_EQ(d_y[i], d);
        expected_d_bias[i % cols] += d;
      }
      EXPECT_LT(RelativeError(d_bias, expected_d_bias), 2e-6);
      backend_->BiasBackward(activation, y, absl::MakeSpan(d_y),
                             /*accumulate=*/true, absl::MakeSpan(d_bias));
      for (double& sum : expected_d_bias) sum *= 2;
      EXPECT_LT(RelativeError(d_bias, expected_d_bias), 2e-6);
    }
  }
}

TEST_P(BackendConformance, ReluLetsNoGradientThroughAtZero) {
  const std::vector<float> y = {0, 1};
  std::vector<float> d_y = {5, 5};
  std::vector<float> d_bias(2);
  backend_->BiasBackward(Activation::kRelu, y, absl::MakeSpan(d_y),
                         /*accumulate=*/false, absl::MakeSpan(d_bias));
  EXPECT_EQ(d_y, (std::vector<float>{0, 5}));
}

TEST_P(BackendConformance, ScaleByMaskDropsWhateverIsThere) {
  std::vector<float> x = RandomVector(67, 37);
  x[1] = INFINITY;
  const auto before = x;
  std::vector<uint8_t> mask(37);
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = i % 3 == 0;
  backend_->ScaleByMask(mask, 2.5f, absl::MakeSpan(x));
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(x[i], mask[i] ? before[i] * 2.5f : 0) << i;
  }
}

TEST_P(BackendConformance, FmOfOddShapes) {
  for (const auto& [batch, fields, dim] :
       std::vector<std::tuple<int, int, int>>{
           {1, 1, 1}, {3, 5, 0}, {9, 39, 16}, {17, 7, 33}, {5, 3, 127}}) {
    const int rows = 11;
    const int D = 1 + dim;
    const auto table = RandomVector(71, rows * D);
    const auto values = RandomVector(72, batch * fields);
    const auto d_logits = RandomVector(73, batch);
    const auto d_e = RandomVector(74, batch * fields * dim);
    const auto logits_before = RandomVector(75, batch);
    std::vector<int32_t> index(batch * fields);
    for (size_t i = 0; i < index.size(); ++i) {
      index[i] = static_cast<int>((i * 7 + i / 3) % (rows + 1)) - 1;
    }
    std::vector<double> logits = ToDouble(logits_before);
    std::vector<double> e(batch * fields * dim, 0.0);
    std::vector<double> sums(batch * dim, 0.0);
    std::vector<double> d_rows(rows * D, 0.0);
    for (int b = 0; b < batch; ++b) {
      for (int i = b * fields; i < (b + 1) * fields; ++i) {
        if (index[i] < 0) continue;
        logits[b] += double{table[index[i] * D]} * values[i];
        for (int k = 0; k < dim; ++k) {
          e[i * dim + k] = double{table[index[i] * D + 1 + k]} * values[i];
          sums[b * dim + k] += e[i * dim + k];
          logits[b] -= 0.5 * e[i * dim + k] * e[i * dim + k];
        }
      }
      for (int k = 0; k < dim; ++k) {
        logits[b] += 0.5 * sums[b * dim + k] * sums[b * dim + k];
      }
      for (int i = b * fields; i < (b + 1) * fields; ++i) {
        if (index[i] < 0) continue;
        d_rows[index[i] * D] += double{d_logits[b]} * values[i];
        for (int k = 0; k < dim; ++k) {
          d_rows[index[i] * D + 1 + k] +=
              values[i] * (d_e[i * dim + k] +
                           d_logits[b] * (sums[b * dim + k] - e[i * dim + k]));
        }
      }
    }
    const FmInput input = {batch, fields, dim, index, values, table};
    std::vector<float> got_e(e.size(), NAN);
    std::vector<float> got_sums(sums.size(), NAN);
    std::vector<float> got_logits = logits_before;
    backend_->FmForward(input, absl::MakeSpan(got_e), absl::MakeSpan(got_sums),
                        absl::MakeSpan(got_logits));
    EXPECT_LT(RelativeError(got_e, e), 1e-6);
    EXPECT_LT(RelativeError(got_sums, sums), 1e-6);
    EXPECT_LT(RelativeError(got_logits, logits), 2e-6);
    std::vector<float> same_sums(sums.size(), NAN);
    std::vector<float> same_logits = logits_before;
    backend_->FmForward(input, /*embeddings=*/{}, absl::MakeSpan(same_sums),
                        absl::MakeSpan(same_logits));
    EXPECT_EQ(same_sums, got_sums);
    EXPECT_EQ(same_logits, got_logits);
    std::vector<float> got_d_rows(d_rows.size(), NAN);
    backend_->FmBackward(input, got_sums, d_logits, d_e,
                         /*accumulate=*/false, absl::MakeSpan(got_d_rows));
    EXPECT_LT(RelativeError(got_d_rows, d_rows), 2e-6);
    backend_->FmBackward(input, got_sums, d_logits, d_e,
                         /*accumulate=*/true, absl::MakeSpan(got_d_rows));
    for (double& sum : d_rows) sum *= 2;
    EXPECT_LT(RelativeError(got_d_rows, d_rows), 2e-6);
  }
}

TEST_P(BackendConformance, BagSumOfOddShapes) {
  const std::vector<int32_t> begin = {2, 2, 3, 9, 40};  // the first is empty
  for (const int dim : {1, 3, 7, 16, 31, 48, 133, 400}) {
    const int num_rows = 11;
    const auto rows = RandomVector(76, num_rows * dim);
    const auto factors = RandomVector(77, begin.back());
    std::vector<int32_t> index(begin.back());
    for (size_t i = 0; i < index.size(); ++i) {
      index[i] = static_cast<int>((i * 7 + i / 3) % (num_rows + 1)) - 1;
    }
    const size_t bags = begin.size() - 1;
    std::vector<double> expected(bags * dim, 0.0);
    for (size_t s = 0; s < bags; ++s) {
      for (int32_t i = begin[s]; i < begin[s + 1]; ++i) {
        for (int n = 0; n < dim && index[i] >= 0; ++n) {
          expected[s * dim + n] +=
              double{factors[i]} * rows[index[i] * dim + n];
        }
      }
    }
    std::vector<float> sums(expected.size(), NAN);
    backend_->BagSum({dim, begin, index, factors}, rows, absl::MakeSpan(sums));
    EXPECT_LT(RelativeError(sums, expected), 1e-6) << dim;
  }
}

TEST_P(BackendConformance, SigmoidCrossEntropy) {
  const auto logits = RandomVector(81, 101, 6);
  std::vector<uint8_t> labels(101);
  std::vector<double> d_expected(101);
  double expected = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    labels[i] = i % 2;
    const double p = 1 / (1 + std::exp(-double{logits[i]}));
    expected -= std::log(labels[i] ? p : 1 - p);
    d_expected[i] = (p - labels[i]) * 0.125;
  }
  EXPECT_NEAR(backend_->SigmoidCrossEntropyForward(logits, labels), expected,
              1e-6 * expected);
  std::vector<float> d(101, NAN);
  backend_->SigmoidCrossEntropyBackward(logits, labels, 0.125f,
                                        absl::MakeSpan(d));
  EXPECT_LT(RelativeError(d, d_expected), 1e-6);
}

TEST_P(BackendConformance, GemmRepeatsItsBits) {
  for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
           {130, 70, 200}, {624, 128, 256}}) {
    const GemmShape shape = {.m = m, .n = n, .k = k, .transpose_a = true};
    const auto a = RandomVector(91, m * k);
    const auto b = RandomVector(92, k * n);
    std::vector<float> first(m * n);
    backend_->Gemm(shape, a, b, absl::MakeSpan(first));
    const auto other = *CreateBackend(GetParam().backend);
    std::vector<float> again(m * n);
    other->Gemm(shape, a, b, absl::MakeSpan(again));
    EXPECT_EQ(first, again);
  }
}

std::vector<Case> Cases() {
  const std::vector<InstructionSet> sets = InstructionSets();
  std::vector<Case> cases;
  for (const BackendKind& kind : Backends()) {
    if (!kind.available().ok()) continue;
    // Plain loops are compiled once.
    const size_t first = kind.name == "reference" ? sets.size() - 1 : 0;
    for (size_t i = first; i < sets.size(); ++i) {
      cases.push_back({std::string(kind.name), sets[i]});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendConformance,
                         ::testing::ValuesIn(Cases()), [](const auto& info) {
                           return absl::StrCat(info.param.backend, "_",
                                               info.param.set.name);
                         });

// Operands with rows of 512 floats, which are copied, and some that are not,
// because the product is small. On every processor, also where it does not pay.
TEST(OneDnnBackendTest, GemmOfPaddedOperandsInEveryForm) {
  OneDnnBackend backend(/*pad=*/true);
  for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
           {512, 130, 7}, {130, 512, 9}, {512, 512, 3}, {512, 5, 9}}) {
    for (int form = 0; form < 8; ++form) {
      const GemmShape shape = {m,
                               n,
                               k,
                               /*transpose_a=*/(form & 1) != 0,
                               /*transpose_b=*/(form & 2) != 0,
                               /*accumulate=*/(form & 4) != 0};
      const auto a = RandomVector(95, m * k);
      const auto b = RandomVector(96, k * n);
      auto c = RandomVector(97, m * n);
      const auto expected = Product(shape, a, b, c);
      backend.Gemm(shape, a, b, absl::MakeSpan(c));
      EXPECT_LT(RelativeError(c, expected), 2e-6)
          << m << "x" << n << "x" << k << " form " << form;
    }
  }
}

// The oracle and oneDNN at the sizes of a real net: k products in float32.
TEST(BackendAgreement, GemmOfADeepLayer) {
  const auto reference = *CreateBackend("reference");
  const auto onednn = *CreateBackend("onednn");
  const GemmShape shape = {.m = 257, .n = 128, .k = 624};
  const auto a = RandomVector(93, shape.m * shape.k);
  const auto b = RandomVector(94, shape.k * shape.n);
  std::vector<float> one(shape.m * shape.n);
  std::vector<float> other(shape.m * shape.n);
  reference->Gemm(shape, a, b, absl::MakeSpan(one));
  onednn->Gemm(shape, a, b, absl::MakeSpan(other));
  EXPECT_LT(RelativeError(one, other), 2e-6);
}

}  // namespace
}  // namespace shoal
