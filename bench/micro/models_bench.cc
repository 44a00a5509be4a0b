// The compute of a training step, without data, network and optimizer:
// Model::ForwardBackward of nets A and B.
//
// Times are CPU times of the thread, so that other processes hardly count.
//
//   us/sample   time of ForwardBackward ÷ examples
//   sgemm       GFLOP/s of oneDNN's sgemm at 1024³, 2·1024³ FLOP each, measured
//               in this program before and after the net
//   share       (FLOP of a sample ÷ us/sample) ÷ sgemm
//
// FLOP of a sample: 6 × the weights of the MLP (2 forward, 4 backward). The
// first layer by distinct embeddings does fewer FLOP, so its share may pass 1;
// `dense` does all of them.
//
// LayerProduct: one product of a layer, inputs × outputs, for 256 examples.
//
//   GFLOP/s     2 × 256 × inputs × outputs ÷ its time, which has the copies of
//               padded operands in it
#include <benchmark/benchmark.h>
#include <time.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/aligned_buffer.h"
#include "base/philox.h"
#include "models/backend/create_backend.h"
#include "models/backend/onednn_backend.h"
#include "models/create_model.h"

namespace shoal {
namespace {

constexpr int kFields = 39;

struct Net {
  const char* name;
  int dim;
  std::vector<int> layers;
};
const Net kModelA = {"A", 16, {400, 400, 400}};
const Net kModelB = {"B", 32, {256, 128, 64}};

double FlopPerSample(const Net& net) {
  double weights = 0;
  int inputs = kFields * net.dim;
  for (const int units : net.layers) {
    weights += double{1.0 * inputs} * units;
    inputs = units;
  }
  return 6 * (weights + inputs);
}

double ThreadCpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

void FillRandom(uint64_t seed, float scale, AlignedBuffer<float>* buffer) {
  const Philox philox(seed);
  for (size_t i = 0; i < buffer->size(); ++i) {
    (*buffer)[i] = scale * (2 * UniformFloat(philox(0, i)[0]) - 1);
  }
}

// Products of 1024³ matrices, to measure a backend.
class Yardstick {
 public:
  static constexpr double kFlop = 2.0 * 1024 * 1024 * 1024;

  explicit Yardstick(Backend* backend)
      : backend_(backend), a_(1 << 20), b_(1 << 20), c_(1 << 20) {
    FillRandom(1, 1, &a_);
    FillRandom(2, 1, &b_);
    Multiply();
  }

  void Multiply() {
    backend_->Gemm({.m = 1024, .n = 1024, .k = 1024}, a_.span(), b_.span(),
                   c_.span());
  }

  // FLOP per second over ten products.
  double Rate() {
    const double start = ThreadCpuSeconds();
    for (int i = 0; i < 10; ++i) Multiply();
    return 10 * kFlop / (ThreadCpuSeconds() - start);
  }

 private:
  Backend* const backend_;
  AlignedBuffer<float> a_;
  AlignedBuffer<float> b_;
  AlignedBuffer<float> c_;
};

void BM_Sgemm1024(benchmark::State& state, const std::string& backend_name) {
  const auto backend = *CreateBackend(backend_name);
  Yardstick yardstick(backend.get());
  const double start = ThreadCpuSeconds();
  for (auto _ : state) yardstick.Multiply();
  const double seconds = ThreadCpuSeconds() - start;
  state.SetLabel(backend->description());
  state.counters["GFLOP/s"] = 1e-9 * Yardstick::kFlop *
                              static_cast<double>(state.iterations()) / seconds;
}

// The products of a layer, inputs × outputs, for a part of 256 examples: y = x
// W (forward), dx = dy Wᵀ from a transposed copy, and dW = xᵀ dy. With `pad`,
// operands that oneDNN reads slowly on some processors are copied
// (OneDnnBackend).
enum class Product { kY, kDX, kDW };

void BM_LayerProduct(benchmark::State& state, Product product, int inputs,
                     int outputs, bool pad) {
  constexpr int kExamples = 256;
  OneDnnBackend backend(pad);
  GemmShape shape = {.m = kExamples, .n = outputs, .k = inputs};
  if (product == Product::kDX) std::swap(shape.n, shape.k);
  if (product == Product::kDW) {
    shape = {.m = inputs, .n = outputs, .k = kExamples, .transpose_a = true};
  }
  AlignedBuffer<float> a(size_t(shape.m) * shape.k);
  AlignedBuffer<float> b(size_t(shape.k) * shape.n);
  AlignedBuffer<float> c(size_t(shape.m) * shape.n);
  FillRandom(7, 1, &a);
  FillRandom(8, 1, &b);
  const double start = ThreadCpuSeconds();
  for (auto _ : state) backend.Gemm(shape, a.span(), b.span(), c.span());
  const double seconds = ThreadCpuSeconds() - start;
  state.SetLabel(backend.description());
  state.counters["GFLOP/s"] = 2e-9 * shape.m * shape.n * shape.k *
                              static_cast<double>(state.iterations()) / seconds;
}

// `batch_size` examples with the rows of a batch of `of_batch` examples. 13
// fields have one id each; 26 have skewed ids of their own, with about as many
// distinct rows as in Criteo's data.
struct SkewedRows {
  SkewedRows(int batch_size, int of_batch, int dim)
      : row_index(static_cast<size_t>(batch_size) * kFields),
        values(row_index.size()),
        rows(static_cast<size_t>(13 + of_batch / 4 * 26) * (1 + dim)) {
    const Philox philox(3);
    const int skewed = of_batch / 4;
    for (size_t i = 0; i < row_index.size(); ++i) {
      const float u = UniformFloat(philox(0, i)[0]);
      const int field = static_cast<int>(i % kFields);
      row_index[i] = field < 13 ? field
                                : 13 + (field - 13) * skewed +
                                      static_cast<int>(u * u * u * skewed);
      values[i] = field < 13 ? u : 1;
    }
    FillRandom(4, 0.01f, &rows);
  }

  std::vector<int32_t> row_index;
  AlignedBuffer<float> values;
  AlignedBuffer<float> rows;
};

void BM_ForwardBackward(benchmark::State& state, const Net& net,
                        const std::string& backend_name, FirstLayer first_layer,
                        float keep) {
  const int batch_size = static_cast<int>(state.range(0));
  const auto backend = *CreateBackend(backend_name);
  const auto sgemm_backend = *CreateBackend("onednn");
  Yardstick yardstick(sgemm_backend.get());
  ModelOptions options;
  options.feature_size = 1000000;
  options.field_size = kFields;
  options.embedding_size = net.dim;
  options.deep_layers = net.layers;
  options.first_layer = first_layer;
  options.dropout_keep.assign(net.layers.size(), keep);
  const auto model = *CreateModel(options, backend.get());

  const SkewedRows batch(batch_size, batch_size, net.dim);
  std::vector<uint8_t> labels(batch_size);
  const Philox philox(3);
  for (int b = 0; b < batch_size; ++b) labels[b] = philox(1, b)[0] % 4 == 0;
  AlignedBuffer<float> dense(model->spec().dense_size());
  FillRandom(5, 0.05f, &dense);
  AlignedBuffer<float> logits(batch_size);
  AlignedBuffer<float> d_rows(batch.rows.size());
  AlignedBuffer<float> d_dense(dense.size());
  const ModelInput input = {.batch_size = batch_size,
                            .field_size = kFields,
                            .tables = {{batch.row_index, batch.rows.span()}},
                            .values = batch.values.span(),
                            .labels = labels,
                            .loss_divisor = 1.0 * batch_size,
                            .dense = dense.span()};
  ModelOutput output{.logits = logits.span(),
                     .d_rows = {d_rows.span()},
                     .d_dense = d_dense.span()};

  model->ForwardBackward(input, &output);
  double sgemm = yardstick.Rate() / 2;
  const double start = ThreadCpuSeconds();
  for (auto _ : state) {
    model->ForwardBackward(input, &output);
    benchmark::DoNotOptimize(output.loss_sum);
  }
  const double elapsed = ThreadCpuSeconds() - start;
  sgemm += yardstick.Rate() / 2;

  const double seconds_per_sample =
      elapsed / (static_cast<double>(state.iterations()) * batch_size);
  state.SetLabel(backend->description());
  state.counters["us/sample"] = seconds_per_sample * 1e6;
  state.counters["sgemm_GFLOP/s"] = sgemm / 1e9;
  state.counters["share"] = FlopPerSample(net) / seconds_per_sample / sgemm;
}

// One pass over a part of a batch, 512 examples. Beside it, as its floor, the
// time to copy as many bytes as the pass streams: the embeddings and their
// gradients, or the activations.
//
//   us/sample, floor   of the pass; of the copy
enum class Pass { kFmForward, kFmBackward, kBiasForward, kBiasBackward };

void BM_Pass(benchmark::State& state, const Net& net,
             const std::string& backend_name, Pass pass) {
  constexpr int kBatch = 512;
  const auto backend = *CreateBackend(backend_name);
  SkewedRows batch(kBatch, static_cast<int>(state.range(0)), net.dim);
  const size_t cells = size_t{kBatch} * kFields * net.dim;
  const int units = net.layers[0];
  const bool fm = pass == Pass::kFmForward || pass == Pass::kFmBackward;
  const size_t streamed = fm ? cells : size_t{kBatch} * units;
  AlignedBuffer<float> embeddings(cells);
  AlignedBuffer<float> sums(size_t{kBatch} * net.dim);
  AlignedBuffer<float> logits(kBatch);
  AlignedBuffer<float> d_rows(batch.rows.size());
  AlignedBuffer<float> y(streamed);
  AlignedBuffer<float> d_y(streamed);
  AlignedBuffer<float> bias(units);
  for (auto* buffer : {&embeddings, &sums, &logits, &y, &d_y, &bias}) {
    FillRandom(6, 1, buffer);
  }
  const FmInput input = {
      kBatch,           kFields, net.dim, batch.row_index, batch.values.span(),
      batch.rows.span()};
  const double start = ThreadCpuSeconds();
  for (auto _ : state) {
    switch (pass) {
      case Pass::kFmForward:
        backend->FmForward(input, embeddings.span(), sums.span(),
                           logits.span());
        break;
      case Pass::kFmBackward:
        backend->FmBackward(input, sums.span(), logits.span(),
                            embeddings.span(), /*accumulate=*/true,
                            d_rows.span());
        break;
      case Pass::kBiasForward:
        backend->BiasForward(Activation::kRelu, bias.span(), y.span());
        break;
      case Pass::kBiasBackward:
        backend->BiasBackward(Activation::kRelu, y.span(), d_y.span(),
                              /*accumulate=*/false, bias.span());
        break;
    }
  }
  const double elapsed = ThreadCpuSeconds() - start;
  const double samples = static_cast<double>(state.iterations()) * kBatch;
  constexpr int kCopies = 200;
  const double copy_start = ThreadCpuSeconds();
  for (int i = 0; i < kCopies; ++i) {
    std::memcpy(d_y.data(), y.data(), streamed * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetLabel(backend->description());
  state.counters["us/sample"] = elapsed / samples * 1e6;
  state.counters["floor"] =
      (ThreadCpuSeconds() - copy_start) / kCopies / kBatch * 1e6;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  for (const char* backend : {"onednn", "reference"}) {
    benchmark::RegisterBenchmark(absl::StrCat("Sgemm1024/", backend).c_str(),
                                 shoal::BM_Sgemm1024, backend)
        ->Unit(benchmark::kMillisecond);
    for (const shoal::Net* net : {&shoal::kModelA, &shoal::kModelB}) {
      for (const auto& [name, first_layer] :
           {std::pair("auto", shoal::FirstLayer::kAuto),
            std::pair("dense", shoal::FirstLayer::kDense)}) {
        benchmark::RegisterBenchmark(
            absl::StrCat("ForwardBackward/", net->name, "/", backend, "/", name)
                .c_str(),
            shoal::BM_ForwardBackward, *net, backend, first_layer, 1.0f)
            ->ArgName("batch")
            ->Arg(1024)
            ->Arg(4096)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  using shoal::Product;
  for (const auto& [inputs, outputs] :
       {std::pair(312, 512), std::pair(512, 512), std::pair(512, 256),
        std::pair(512, 128)}) {
    for (const auto& [name, product] :
         {std::pair("y", Product::kY), std::pair("dx", Product::kDX),
          std::pair("dW", Product::kDW)}) {
      for (const bool pad : {false, true}) {
        benchmark::RegisterBenchmark(
            absl::StrCat("LayerProduct/", inputs, "x", outputs, "/", name,
                         pad ? "/padded" : "/plain")
                .c_str(),
            shoal::BM_LayerProduct, product, inputs, outputs, pad)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  using shoal::Pass;
  for (const auto& [name, pass] :
       {std::pair("FmForward", Pass::kFmForward),
        std::pair("FmBackward", Pass::kFmBackward),
        std::pair("BiasForward", Pass::kBiasForward),
        std::pair("BiasBackward", Pass::kBiasBackward)}) {
    for (const shoal::Net* net : {&shoal::kModelA, &shoal::kModelB}) {
      for (const char* backend : {"onednn", "reference"}) {
        benchmark::RegisterBenchmark(
            absl::StrCat(name, "/", net->name, "/", backend).c_str(),
            shoal::BM_Pass, *net, backend, pass)
            ->ArgName("batch")
            ->Arg(1024)
            ->Arg(4096)
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  benchmark::RegisterBenchmark("ForwardBackward/A/onednn/auto/keep0.5",
                               shoal::BM_ForwardBackward, shoal::kModelA,
                               "onednn", shoal::FirstLayer::kAuto, 0.5f)
      ->ArgName("batch")
      ->Arg(1024)
      ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
