// DenseLayer over the embeddings of every occurrence is the oracle.
#include "models/layers/distinct_dense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "models/backend/create_backend.h"
#include "models/layers/dense.h"
#include "tests/harness/instruction_sets.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

constexpr int kRows = 23;
constexpr int64_t kAll = 1 << 20;

struct Case {
  const char* backend;
  InstructionSet set;
  int batch;
  int fields;
  int dim;
  int outputs;
};

// Rows that repeat within a field and, every third one, between fields; an
// occurrence in eight is padding, and so is the whole of field 1.
struct Occurrences {
  explicit Occurrences(const Case& c)
      : dim(c.dim),
        fields(c.fields),
        batch(c.batch),
        rows(RandomVector(1, kRows * (1 + dim))),
        values(RandomVector(2, batch * fields)) {
    const Philox philox(3);
    for (int i = 0; i < batch * fields; ++i) {
      const Philox::Block word = philox(0, i);
      const int field = i % fields;
      const bool padded = field == 1 || word[0] % 8 == 0;
      const int of_field = word[1] % 3 == 0 ? 0 : field;
      row_index.push_back(padded ? -1 : (of_field * 5 + word[2] % 4) % kRows);
    }
  }

  FmInput input() const {
    return {batch, fields, dim, row_index, values, rows};
  }
  std::vector<float> Embeddings() const {
    std::vector<float> e(row_index.size() * dim, 0.0f);
    for (size_t i = 0; i < row_index.size(); ++i) {
      for (int k = 0; k < dim && row_index[i] >= 0; ++k) {
        e[i * dim + k] = values[i] * rows[row_index[i] * (1 + dim) + 1 + k];
      }
    }
    return e;
  }
  // What the gradient of the embeddings is to the rows.
  std::vector<double> RowGradient(const std::vector<float>& d_e) const {
    std::vector<double> d_rows(rows.size(), 0.0);
    for (size_t i = 0; i < row_index.size(); ++i) {
      for (int k = 0; k < dim && row_index[i] >= 0; ++k) {
        d_rows[row_index[i] * (1 + dim) + 1 + k] +=
            double{values[i]} * d_e[i * dim + k];
      }
    }
    return d_rows;
  }

  int dim;
  int fields;
  int batch;
  std::vector<float> rows;
  std::vector<float> values;
  std::vector<int32_t> row_index;
};

class DistinctDenseLayerTest : public ::testing::TestWithParam<Case> {
 protected:
  DistinctDenseLayerTest() : set_(GetParam().set) {}

  const WithInstructionSet set_;
};

TEST_P(DistinctDenseLayerTest, YieldsWhatDenseLayerDoes) {
  const Case c = GetParam();
  const auto backend = *CreateBackend(c.backend);
  const auto reference = *CreateBackend("reference");
  const int inputs = c.fields * c.dim;
  DenseLayer dense(inputs, c.outputs, Activation::kRelu, reference.get());
  DistinctDenseLayer distinct(c.fields, c.dim, c.outputs, backend.get());
  // A larger batch first, whose scratch memory must not show through.
  for (const int batch : {2 * c.batch + 1, c.batch}) {
    Case of_this = c;
    of_this.batch = batch;
    const Occurrences sample(of_this);
    const auto weights = RandomVector(4, inputs * c.outputs);
    const auto biases = RandomVector(5, c.outputs);
    const auto upper = RandomVector(6, batch * c.outputs);

    const std::vector<float> e = sample.Embeddings();
    const absl::Span<const float> y = dense.Forward(batch, e, weights, biases);
    auto d_y = upper;
    std::vector<float> d_weights(weights.size());
    std::vector<float> d_biases(biases.size());
    std::vector<float> d_e(e.size());
    dense.NewWeights();
    dense.Backward(e, weights, absl::MakeSpan(d_y), /*accumulate=*/false,
                   absl::MakeSpan(d_weights), absl::MakeSpan(d_biases),
                   absl::MakeSpan(d_e));

    ASSERT_TRUE(distinct.Plan(sample.input(), kAll));
    distinct.Forward(sample.input(), weights, biases);
    EXPECT_LT(RelativeError(distinct.y(0, batch), ToDouble(y)), 2e-6);
    std::vector<double> d_rows = sample.RowGradient(d_e);
    // Overwritten at first, then added to; rows always.
    std::vector<float> got_weights(weights.size(), NAN);
    std::vector<float> got_biases(biases.size(), NAN);
    std::vector<float> got_rows(d_rows.size(), 0.0f);
    for (int times = 1; times <= 2; ++times) {
      if (times == 2) distinct.Forward(sample.input(), weights, biases);
      const bool accumulate = times == 2;
      const int half = batch / 2;
      for (const auto& [first, count] :
           {std::pair(0, half), std::pair(half, batch - half)}) {
        const absl::Span<float> to = distinct.d_y(first, count);
        std::copy_n(upper.begin() + first * c.outputs, to.size(), to.begin());
        distinct.BiasBackward(first, count, accumulate || first > 0,
                              absl::MakeSpan(got_biases));
      }
      distinct.Backward(sample.input(), weights, accumulate,
                        absl::MakeSpan(got_weights), absl::MakeSpan(got_rows));
      const auto times_as_much = [&](std::vector<double> of) {
        for (double& d : of) d *= times;
        return of;
      };
      EXPECT_LT(RelativeError(got_biases, times_as_much(ToDouble(d_biases))),
                2e-6);
      EXPECT_LT(RelativeError(got_weights, times_as_much(ToDouble(d_weights))),
                2e-6);
      EXPECT_LT(RelativeError(got_rows, times_as_much(d_rows)), 2e-6);
    }
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const InstructionSet& set : InstructionSets()) {
    cases.push_back({"onednn", set, 9, 5, 3, 7});
    cases.push_back({"onednn", set, 150, 4, 16, 133});
  }
  cases.push_back({"reference", cases.back().set, 9, 5, 3, 7});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Backends, DistinctDenseLayerTest,
                         ::testing::ValuesIn(Cases()), [](const auto& info) {
                           return absl::StrCat(info.param.backend, "_",
                                               info.param.set.name, "_",
                                               info.param.outputs);
                         });

TEST(DistinctDenseLayer, PlansUpToSoManyPairs) {
  const auto backend = *CreateBackend("reference");
  DistinctDenseLayer layer(2, 1, 1, backend.get());
  // Field 0 has rows 0, 1; field 1 has 0, 2, 1: five pairs.
  const std::vector<int32_t> row_index = {0, 0, 1, 2, -1, 1, 0, 1};
  const std::vector<float> values(row_index.size(), 1.0f);
  const std::vector<float> rows(6);
  const FmInput input = {4, 2, 1, row_index, values, rows};
  EXPECT_TRUE(layer.Plan(input, 5));
  EXPECT_FALSE(layer.Plan(input, 4));
  EXPECT_FALSE(layer.Plan(input, -1));
}

TEST(DistinctDenseLayer, PaysWhereRowsRepeatAndTheProductsAreLarge) {
  const auto most = [](int dim, int outputs) {
    return DistinctDenseLayer::MostPairs(1000, dim, outputs);
  };
  EXPECT_GT(most(16, 400), 250);
  EXPECT_GT(most(32, 256), most(16, 400));
  EXPECT_LT(most(32, 256), 600);
  EXPECT_LT(most(4, 400), 0) << "adding up costs more than the products";
  EXPECT_LT(most(16, 8), 0) << "so does finding the pairs";
}

TEST(DistinctDenseLayer, AtTheMostPairsTheWorkIsClearlyLessThanTheProducts) {
  for (const auto& [dim, outputs] : {std::pair(16, 400), {32, 256}}) {
    constexpr int kFields = 39;
    constexpr int kExamples = 1024;
    const auto pairs = static_cast<double>(DistinctDenseLayer::MostPairs(
        size_t{kFields} * kExamples, dim, outputs));
    const double plain = 6. * kFields * dim * outputs;
    const SampleWork work = DistinctDenseLayer::Work(kFields, dim, outputs);
    EXPECT_NEAR(work.In(kExamples, .999 * pairs) / plain, .9, 1e-3);
    EXPECT_EQ(work.In(kExamples, 1.001 * pairs), plain);
    EXPECT_LT(work.In(kExamples, kFields), .6 * plain);
  }
  // Where it is never less.
  EXPECT_EQ(DistinctDenseLayer::Work(39, 4, 400).In(1024, 39), 6. * 39 * 1600);
}

TEST(DistinctDenseLayer, ResultsDoNotDependOnHowRowsAreNumbered) {
  const Case c = {"onednn", {}, 40, 5, 6, 19};
  const Occurrences sample(c);
  Occurrences other = sample;
  for (int32_t& row : other.row_index) {
    if (row >= 0) row = kRows - 1 - row;
  }
  for (int row = 0; row < kRows; ++row) {
    std::copy_n(sample.rows.begin() + row * (1 + c.dim), 1 + c.dim,
                other.rows.begin() + (kRows - 1 - row) * (1 + c.dim));
  }
  const auto backend = *CreateBackend(c.backend);
  const auto weights = RandomVector(4, c.fields * c.dim * c.outputs);
  const auto biases = RandomVector(5, c.outputs);
  std::vector<std::vector<float>> y;
  std::vector<std::vector<float>> d_weights;
  std::vector<std::vector<float>> d_rows;
  for (const Occurrences* each :
       std::initializer_list<const Occurrences*>{&sample, &other}) {
    DistinctDenseLayer layer(c.fields, c.dim, c.outputs, backend.get());
    ASSERT_TRUE(layer.Plan(each->input(), kAll));
    layer.Forward(each->input(), weights, biases);
    const absl::Span<float> all = layer.y(0, c.batch);
    y.emplace_back(all.begin(), all.end());
    std::copy(all.begin(), all.end(), layer.d_y(0, c.batch).begin());
    d_weights.emplace_back(weights.size());
    d_rows.emplace_back(each->rows.size());
    layer.Backward(each->input(), weights, /*accumulate=*/false,
                   absl::MakeSpan(d_weights.back()),
                   absl::MakeSpan(d_rows.back()));
  }
  EXPECT_EQ(y[0], y[1]);
  EXPECT_EQ(d_weights[0], d_weights[1]);
  const int row_dim = 1 + c.dim;
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < row_dim; ++k) {
      ASSERT_EQ(d_rows[0][row * row_dim + k],
                d_rows[1][(kRows - 1 - row) * row_dim + k])
          << "row " << row;
    }
  }
}

}  // namespace
}  // namespace shoal
