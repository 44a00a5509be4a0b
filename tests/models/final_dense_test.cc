// ModelOutput::on_final: which ranges of the dense gradient a model says are
// final, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "models/deepfm.h"
#include "tests/models/model_cases.h"

namespace shoal {
namespace {

// One call of on_final, and the whole dense gradient at that time.
struct Told {
  DenseRange range;
  std::vector<float> d_dense;
  std::thread::id thread;
};

std::vector<uint32_t> Bits(const std::vector<float>& values, DenseRange range) {
  std::vector<uint32_t> bits;
  for (size_t i = range.begin; i < range.end; ++i) {
    bits.push_back(std::bit_cast<uint32_t>(values[i]));
  }
  return bits;
}

// Runs a step and returns the calls, in order.
std::vector<Told> Watch(Model* model, SampleBatch* batch) {
  std::vector<Told> told;
  batch->on_final = [&](DenseRange range) {
    told.push_back({range, batch->d_dense, std::this_thread::get_id()});
  };
  batch->ForwardBackward(model);
  batch->on_final = nullptr;
  return told;
}

void ExpectEachElementOnce(const std::vector<Told>& told, size_t size) {
  std::vector<DenseRange> ranges;
  for (const Told& call : told) ranges.push_back(call.range);
  std::sort(ranges.begin(), ranges.end(),
            [](DenseRange a, DenseRange b) { return a.begin < b.begin; });
  size_t end = 0;
  for (const DenseRange& range : ranges) {
    EXPECT_EQ(range.begin, end);
    EXPECT_LT(range.begin, range.end);
    end = range.end;
  }
  EXPECT_EQ(end, size);
}

// No range is told before it is final, and none is final long before it is
// told: at the time of a call the next range was not.
void ExpectToldInTime(const std::vector<Told>& told,
                      const std::vector<float>& d_dense) {
  for (size_t i = 0; i < told.size(); ++i) {
    const DenseRange range = told[i].range;
    EXPECT_EQ(Bits(told[i].d_dense, range), Bits(d_dense, range))
        << "call " << i << " changed afterwards";
    if (i == 0) continue;
    EXPECT_NE(Bits(told[i - 1].d_dense, range), Bits(d_dense, range))
        << "call " << i << " came late";
  }
}

// The position of the dense variable that holds the range.
size_t VariableOf(const ModelSpec& spec, DenseRange range) {
  size_t end = 0;
  for (size_t i = 0; i < spec.dense.size(); ++i) {
    end += spec.dense[i].size();
    if (range.begin < end) {
      EXPECT_LE(range.end, end) << "in two variables";
      return i;
    }
  }
  ADD_FAILURE() << "outside of all variables";
  return spec.dense.size();
}

// deepfm's layer of a variable, from 0; the bias of the FM goes with the last.
size_t LayerOf(size_t variable, const ModelSpec& spec) {
  return std::min(variable, spec.dense.size() - 2) / 2;
}

void ExpectLastLayerFirst(const std::vector<Told>& told,
                          const ModelSpec& spec) {
  ASSERT_FALSE(told.empty());
  const size_t layers = (spec.dense.size() - 1) / 2;
  size_t layer = layers - 1;
  EXPECT_EQ(LayerOf(VariableOf(spec, told[0].range), spec), layer);
  for (const Told& call : told) {
    const size_t next = LayerOf(VariableOf(spec, call.range), spec);
    EXPECT_LE(next, layer);
    layer = next;
  }
  EXPECT_EQ(layer, 0u);
}

size_t RangesOf(const std::string& variable, const std::vector<Told>& told,
                const ModelSpec& spec) {
  return std::count_if(told.begin(), told.end(), [&](const Told& call) {
    return spec.dense[VariableOf(spec, call.range)].name == variable;
  });
}

class FinalDenseTest : public ::testing::TestWithParam<ModelCase> {
 protected:
  FinalDenseTest()
      : backend_(GetParam().backend->create()),
        model_(GetParam().Create(backend_.get())) {}

  bool is_deepfm() const { return GetParam().kind->name == "deepfm"; }

  const std::unique_ptr<Backend> backend_;
  const std::unique_ptr<Model> model_;
};

// One part, several parts, several stretches of several parts.
constexpr int kBatchSizes[] = {7, 3 * kDeepFmPartMax - 50, 2 * 2048 + 5};

TEST_P(FinalDenseTest, RangesCoverTheGradientOnceAndAreFinalWhenTold) {
  for (const int batch_size : kBatchSizes) {
    SCOPED_TRACE(batch_size);
    SampleBatch batch = SampleFor(*model_, batch_size, 51);
    const std::vector<Told> told = Watch(model_.get(), &batch);
    ExpectEachElementOnce(told, batch.d_dense.size());
    ExpectToldInTime(told, batch.d_dense);
    for (const Told& call : told) {
      EXPECT_EQ(call.thread, std::this_thread::get_id());
    }
    if (!is_deepfm()) continue;
    ExpectLastLayerFirst(told, model_->spec());
    // The first layer comes whole if it is one product, and otherwise field by
    // field. With kAuto the batch decides.
    const auto ranges = RangesOf("deep_0/weights", told, model_->spec());
    const FirstLayer form = GetParam().first_layer;
    EXPECT_TRUE((ranges == 1 && form != FirstLayer::kDistinct) ||
                (ranges == ModelCase::kFields && form != FirstLayer::kDense))
        << ranges;
  }
}

TEST_P(FinalDenseTest, TellingChangesNoBit) {
  SampleBatch told = SampleFor(*model_, 700, 52);
  SampleBatch silent = told;
  Watch(model_.get(), &told);
  silent.ForwardBackward(model_.get());
  EXPECT_EQ(told.d_dense, silent.d_dense);
  EXPECT_EQ(told.d_rows, silent.d_rows);
  EXPECT_EQ(told.logits, silent.logits);
}

INSTANTIATE_TEST_SUITE_P(Models, FinalDenseTest,
                         ::testing::ValuesIn(ModelCases()),
                         [](const auto& info) { return info.param.Name(); });

// Rows repeat in one of two stretches, so that the stretches differ in the form
// of the first layer. The form of the last one decides how the layer is told.
TEST(FinalDenseOfDeepFmTest, TheLastStretchTells) {
  constexpr int kFields = ModelCase::kFields;
  const std::vector<ModelCase> cases = ModelCases();
  const auto chosen =
      std::find_if(cases.begin(), cases.end(), [](const ModelCase& each) {
        return each.kind->name == "deepfm" &&
               each.first_layer == FirstLayer::kAuto;
      });
  ASSERT_NE(chosen, cases.end());
  const auto backend = chosen->backend->create();
  const auto model = chosen->Create(backend.get());
  const int stretch = DeepFmFirstLayerOptions(chosen->Options()).Stretch();
  const int cells = stretch * kFields;
  for (const bool repeats_last : {true, false}) {
    SampleBatch batch(model->spec(), 2 * stretch, kFields, 9 + cells, 53);
    for (int i = 0; i < 2 * cells; ++i) {
      const bool repeats = (i >= cells) == repeats_last;
      batch.row_index[i] = repeats ? i % 9 : 9 + i % cells;
    }
    const std::vector<Told> told = Watch(model.get(), &batch);
    ExpectEachElementOnce(told, batch.d_dense.size());
    ExpectToldInTime(told, batch.d_dense);
    ExpectLastLayerFirst(told, model->spec());
    EXPECT_EQ(RangesOf("deep_0/weights", told, model->spec()),
              repeats_last ? kFields : 1);
  }
}

}  // namespace
}  // namespace shoal
