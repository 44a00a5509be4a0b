// Ten training steps against files that tools/golden makes with PyTorch, in
// float64: docs/numerics.md says what is compared and how closely.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ps/optimizer/optimizer_step.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/golden_trainer.h"
#include "tests/harness/test_paths.h"
#include "tests/models/numeric.h"

namespace shoal {
namespace {

using Values = GoldenTrainer::Values;

constexpr double kTolerance = 1e-5;
// Adam divides by a root that is near 0 at first, so weights lose digits.
constexpr double kAdamWeights = 1e-4;

// How a variable is stored: a table's by row, a dense one's whole.
struct Variable {
  OptimizerSpec optimizer;
  int dim = 0;
  bool is_table = false;
};

std::map<std::string, Variable> VariablesOf(const ModelSpec& spec) {
  std::map<std::string, Variable> variables;
  for (const ColumnSpec& column : spec.tables[0].columns) {
    variables[column.variable] = {column.optimizer, column.dim, true};
  }
  for (const DenseSpec& dense : spec.dense) {
    variables[dense.name] = {dense.optimizer, static_cast<int>(dense.size()),
                             false};
  }
  return variables;
}

std::vector<const char*> SlotNames(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return {};
    case OptimizerKind::kAdagrad:
    case OptimizerKind::kRowwiseAdagrad:
      return {"accumulator"};
    case OptimizerKind::kAdam:
      return {"m", "v"};
    case OptimizerKind::kFtrl:
      return {"accumulator", "linear"};
  }
  return {};
}

// What the shards keep to themselves, slots, kept beside them by the same
// kernels. It is theirs as long as the weights have the same bits, which is
// checked at every step.
class SlotMirror {
 public:
  explicit SlotMirror(std::map<std::string, Variable> variables)
      : variables_(std::move(variables)) {}

  // Updates `before`, the values of the touched rows and the dense variables,
  // as push number t.
  Values Apply(uint64_t t, const std::vector<FeatureId>& rows,
               const Values& gradients, Values before) {
    for (auto& [name, values] : before) {
      const Variable& variable = variables_.at(name);
      const OptimizerStep step(variable.optimizer, t);
      const size_t dim = variable.dim;
      for (size_t i = 0; i < values.size() / dim; ++i) {
        const FeatureId key = variable.is_table ? rows[i] : 0;
        step.Apply(
            absl::MakeConstSpan(gradients.at(name)).subspan(i * dim, dim),
            absl::MakeSpan(values).subspan(i * dim, dim),
            absl::MakeSpan(SlotsOf(name, key)));
      }
    }
    return before;
  }

  // Slot number `slot` of the touched rows, or of a dense variable.
  std::vector<float> Slot(const std::string& name, size_t slot,
                          const std::vector<FeatureId>& rows) {
    const Variable& variable = variables_.at(name);
    const size_t slots = SlotNames(variable.optimizer.kind).size();
    std::vector<float> all;
    for (size_t i = 0; i < (variable.is_table ? rows.size() : 1); ++i) {
      const auto& row = SlotsOf(name, variable.is_table ? rows[i] : 0);
      const size_t length = row.size() / slots;
      all.insert(all.end(), row.begin() + slot * length,
                 row.begin() + (slot + 1) * length);
    }
    return all;
  }

 private:
  std::vector<float>& SlotsOf(const std::string& name, FeatureId row) {
    const Variable& variable = variables_.at(name);
    std::vector<float>& slots = slots_[{name, row}];
    if (slots.empty()) {
      slots.resize(variable.optimizer.slot_floats(variable.dim));
      InitialiseSlots(variable.optimizer, absl::MakeSpan(slots));
    }
    return slots;
  }

  const std::map<std::string, Variable> variables_;
  std::map<std::pair<std::string, FeatureId>, std::vector<float>> slots_;
};

std::vector<FeatureId> ToIds(const std::vector<double>& values) {
  return std::vector<FeatureId>(values.begin(), values.end());
}

class GoldenTest : public ::testing::TestWithParam<
                       std::tuple<const char*, const char*, FirstLayer, int>> {
 protected:
  void SetUp() override {
    auto file =
        GoldenFile::Read(absl::StrCat(SourceDir(), "/tests/golden/",
                                      std::get<0>(GetParam()), ".golden"));
    ASSERT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
    trainer_ = std::make_unique<GoldenTrainer>(file_, std::get<1>(GetParam()),
                                               std::get<2>(GetParam()),
                                               std::get<3>(GetParam()));
    variables_ = VariablesOf(trainer_->spec());
  }

  std::vector<FeatureId> AllRows() const {
    std::vector<FeatureId> ids(trainer_->spec().tables[0].feature_size);
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }

  double WeightTolerance(const std::string& name) const {
    return variables_.at(name).optimizer.kind == OptimizerKind::kAdam
               ? kAdamWeights
               : kTolerance;
  }

  void ExpectTensor(const std::string& name, const std::vector<float>& actual,
                    double tolerance) const {
    EXPECT_LT(RelativeError(actual, file_.Tensor(name)), tolerance) << name;
  }

  void ExpectWeights(const std::string& prefix, const Values& values) const {
    for (const auto& [name, weights] : values) {
      ExpectTensor(prefix + name, weights, WeightTolerance(name));
    }
  }

  GoldenFile file_;
  std::unique_ptr<GoldenTrainer> trainer_;
  std::map<std::string, Variable> variables_;
};

TEST_P(GoldenTest, InitialValuesHaveTheSameBits) {
  const Values values = trainer_->Pull(AllRows());
  ASSERT_EQ(values.size(), variables_.size());
  for (const auto& [name, weights] : values) {
    const std::vector<double> expected = file_.Tensor("initial/" + name);
    EXPECT_EQ(weights, std::vector<float>(expected.begin(), expected.end()))
        << name;
  }
}

TEST_P(GoldenTest, LossesGradientsWeightsAndSlotsOfTenSteps) {
  SlotMirror mirror(variables_);
  const int steps = static_cast<int>(file_.Number("steps"));
  ASSERT_EQ(steps, 10);
  for (int step = 1; step <= steps && !HasFailure(); ++step) {
    const std::string at = absl::StrCat(step, "/");
    const std::vector<FeatureId> rows = ToIds(file_.Tensor(at + "rows"));
    const Values before = trainer_->Pull(rows);
    const double loss = trainer_->Compute(step);
    EXPECT_LT(
        RelativeError(std::vector<double>{loss}, file_.Tensor(at + "loss")),
        kTolerance)
        << "step " << step;
    const Values gradients = trainer_->Gradients();
    for (const auto& [name, gradient] : gradients) {
      ExpectTensor(at + "d_" + name, gradient, kTolerance);
    }
    trainer_->Push();
    const Values after = trainer_->Pull(rows);
    ExpectWeights(at, after);
    EXPECT_EQ(mirror.Apply(step, rows, gradients, before), after)
        << "step " << step << ": the shard updates in another manner";
    for (const auto& [name, variable] : variables_) {
      const auto slots = SlotNames(variable.optimizer.kind);
      for (size_t i = 0; i < slots.size(); ++i) {
        const std::string slot = absl::StrCat(at, name, ".", slots[i]);
        if (!file_.HasTensor(slot)) continue;
        ExpectTensor(slot, mirror.Slot(name, i, rows), kTolerance);
      }
    }
  }
  if (HasFailure()) return;
  // Rows that no batch touched have not moved.
  Values all = trainer_->Pull(AllRows());
  for (const auto& [name, variable] : variables_) {
    if (!variable.is_table) all.erase(name);
  }
  ExpectWeights("final/", all);
}

INSTANTIATE_TEST_SUITE_P(
    Files, GoldenTest,
    ::testing::Combine(
        ::testing::Values("deepfm_sgd", "deepfm_adagrad", "deepfm_adam",
                          "deepfm_rowwise_adagrad", "fm_mixed", "lr_ftrl"),
        ::testing::Values("reference", "onednn"),
        ::testing::Values(FirstLayer::kDense, FirstLayer::kDistinct),
        ::testing::Values(1, 3)),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param), "_", std::get<1>(info.param),
                          std::get<2>(info.param) == FirstLayer::kDense
                              ? "_dense_shards"
                              : "_distinct_shards",
                          std::get<3>(info.param));
    });

}  // namespace
}  // namespace shoal
