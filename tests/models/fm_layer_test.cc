#include "models/layers/fm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/backend/create_backend.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

constexpr int kBatch = 4;
constexpr int kFields = 6;
constexpr int kRows = 5;

// Row 2 twice in example 0, padding in examples 1 and 2, a value 0 in
// example 3; row 4 is never used.
const std::vector<int32_t> kRowIndex = {0,  1,  2,  2,  3,  0,   //
                                        1,  1,  3,  0,  -1, -1,  //
                                        -1, -1, -1, -1, -1, 2,   //
                                        3,  2,  1,  0,  1,  2};

std::vector<float> Values() {
  auto values = RandomVector(41, kBatch * kFields);
  values[19] = 0;
  return values;
}

// Second order as Σ_{i<j} ⟨e_i, e_j⟩, the definition that the fast formula
// comes from; plus Σ over the embeddings of c · e.
double FmSum(int dim, const std::vector<double>& rows,
             const std::vector<float>& values,
             const std::vector<float>& d_logits,
             const std::vector<float>& d_embeddings) {
  double sum = 0;
  for (int b = 0; b < kBatch; ++b) {
    std::vector<std::vector<double>> e(kFields, std::vector<double>(dim, 0.0));
    double logit = 0;
    for (int j = 0; j < kFields; ++j) {
      const int at = b * kFields + j;
      if (kRowIndex[at] < 0) continue;
      const double* row = &rows[kRowIndex[at] * (1 + dim)];
      logit += row[0] * values[at];
      for (int k = 0; k < dim; ++k) {
        e[j][k] = row[1 + k] * values[at];
        if (!d_embeddings.empty()) sum += e[j][k] * d_embeddings[at * dim + k];
      }
      for (int i = 0; i < j; ++i) {
        for (int k = 0; k < dim; ++k) logit += e[i][k] * e[j][k];
      }
    }
    sum += logit * d_logits[b];
  }
  return sum;
}

struct Case {
  const char* backend;
  int dim;
  bool with_network;
};

class FmLayerTest : public ::testing::TestWithParam<Case> {};

TEST_P(FmLayerTest, LogitsAndGradientsAreThoseOfThePairwiseDefinition) {
  const int dim = GetParam().dim;
  const bool with_network = GetParam().with_network;
  const auto backend = *CreateBackend(GetParam().backend);
  FmLayer layer(backend.get());
  const auto values = Values();
  const auto rows = RandomVector(42, kRows * (1 + dim));
  const auto d_logits = RandomVector(43, kBatch);
  const auto d_embeddings =
      RandomVector(44, with_network ? kBatch * kFields * dim : 0);
  const FmInput input = {kBatch, kFields, dim, kRowIndex, values, rows};

  std::vector<float> logits(kBatch, 0.0f);
  layer.Forward(input, /*keep_embeddings=*/true, absl::MakeSpan(logits));
  double sum = 0;
  for (int b = 0; b < kBatch; ++b) sum += double{logits[b]} * d_logits[b];
  EXPECT_NEAR(sum, FmSum(dim, ToDouble(rows), values, d_logits, {}), 1e-6);

  std::vector<float> d_rows(rows.size(), -7);
  layer.Backward(input, d_logits, d_embeddings, /*accumulate=*/false,
                 absl::MakeSpan(d_rows));
  EXPECT_LT(RelativeError(d_rows, NumericGradient(
                                      [&](const std::vector<double>& at) {
                                        return FmSum(dim, at, values, d_logits,
                                                     d_embeddings);
                                      },
                                      ToDouble(rows))),
            2e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Backends, FmLayerTest,
    ::testing::Values(Case{"reference", 8, true}, Case{"reference", 3, false},
                      Case{"reference", 0, false}, Case{"onednn", 8, true},
                      Case{"onednn", 3, false}, Case{"onednn", 0, false}),
    [](const auto& info) {
      return std::string(info.param.backend) + std::to_string(info.param.dim);
    });

TEST(FmLayerEmbeddingsTest, AreScaledVectorsAndZerosWherePadded) {
  const auto backend = *CreateBackend("reference");
  FmLayer layer(backend.get());
  const std::vector<int32_t> row_index = {1, -1, 0};
  const std::vector<float> values = {2, 9, -1};
  const std::vector<float> rows = {10, 1, 2, 20, 3, 4};
  std::vector<float> logits = {0.5f};
  layer.Forward({1, 3, 2, row_index, values, rows}, /*keep_embeddings=*/true,
                absl::MakeSpan(logits));
  EXPECT_THAT(layer.embeddings(), ElementsAre(6, 8, 0, 0, -1, -2));
  // 0.5 + 20 · 2 − 10 · 1 + (6, 8) · (−1, −2)
  EXPECT_THAT(logits, ElementsAre(8.5f));
}

}  // namespace
}  // namespace shoal
