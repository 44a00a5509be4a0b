#include "models/backend/onednn_backend.h"

#include <dnnl.h>

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "models/backend/plain_passes.h"
#include "models/backend/vector_bag.h"
#include "models/backend/vector_passes.h"

// Declared in <omp.h>, a header that clang only has together with an OpenMP
// runtime of its own. Two OpenMP runtimes in one process would be two thread
// pools.
extern "C" void omp_set_num_threads(int);

namespace shoal {
namespace {

// Rows of so many floats are padded. Those of 256 would gain 5 to 15 % (see
// docs/benchmarking.md, "What to try next"), and those of 1024 nothing.
constexpr int kSlowRow = 512;
constexpr int kPad = AlignedBuffer<float>::kAlignment / sizeof(float);
// Fewer uses of a float than this do not pay for its copy.
constexpr int kLeastUses = 128;

absl::string_view IsaName(dnnl_cpu_isa_t isa) {
  switch (isa) {
    case dnnl_cpu_isa_all:
      return "every instruction set";
    case dnnl_cpu_isa_sse41:
      return "SSE4.1";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx2_vnni:
      return "AVX2 VNNI";
    case dnnl_cpu_isa_avx512_core:
      return "AVX-512";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "AVX-512 BF16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "AVX-512 AMX";
    default:
      return "an instruction set unknown to Shoal";
  }
}

}  // namespace

absl::Status OneDnnBackend::Available() {
  const dnnl_version_t* version = dnnl_version();
  if (version->cpu_runtime != DNNL_RUNTIME_OMP &&
      version->cpu_runtime != DNNL_RUNTIME_SEQ) {
    return absl::FailedPreconditionError(absl::StrCat(
        "backend 'onednn' needs a oneDNN built on OpenMP or without threads; "
        "the installed one has CPU runtime ",
        version->cpu_runtime, "; use reference"));
  }
  return absl::OkStatus();
}

bool OneDnnBackend::PaddingPays() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
    case dnnl_cpu_isa_avx:
    case dnnl_cpu_isa_avx2:
    case dnnl_cpu_isa_avx2_vnni:
      return true;
    default:
      return false;
  }
}

OneDnnBackend::OneDnnBackend(bool pad) : pad_(pad) {
  SHOAL_DCHECK(Available().ok());
}

std::string OneDnnBackend::description() const {
  const dnnl_version_t* version = dnnl_version();
  return absl::StrCat("onednn ", version->major, ".", version->minor, ".",
                      version->patch, ", ",
                      IsaName(dnnl_get_effective_cpu_isa()), ", passes ",
                      VectorTargetName(), ", one thread");
}

OneDnnBackend::Rows OneDnnBackend::Padded(absl::Span<const float> operand,
                                          int width, int uses,
                                          AlignedBuffer<float>* copy) const {
  if (!pad_ || width != kSlowRow || uses < kLeastUses) {
    return {operand.data(), width};
  }
  const int stride = width + kPad;
  const size_t rows = operand.size() / width;
  copy->ResizeDiscard(rows * stride);
  for (size_t i = 0; i < rows; ++i) {
    std::copy_n(operand.data() + i * width, width, copy->data() + i * stride);
  }
  return {copy->data(), stride};
}

void OneDnnBackend::Gemm(const GemmShape& shape, absl::Span<const float> a,
                         absl::Span<const float> b, absl::Span<float> c) {
  omp_set_num_threads(1);
  // An operand in its other form is read along its rows.
  const Rows rows_a = shape.transpose_a
                          ? Padded(a, shape.m, shape.n, &padded_a_)
                          : Rows{a.data(), shape.k};
  const Rows rows_b = shape.transpose_b
                          ? Rows{b.data(), shape.k}
                          : Padded(b, shape.n, shape.m, &padded_b_);
  const dnnl_status_t status = dnnl_sgemm(
      shape.transpose_a ? 'T' : 'N', shape.transpose_b ? 'T' : 'N', shape.m,
      shape.n, shape.k, 1.0f, rows_a.data, rows_a.stride, rows_b.data,
      rows_b.stride, shape.accumulate ? 1.0f : 0.0f, c.data(), shape.n);
  // sgemm fails only if there is no memory to pack its operands in, and it asks
  // for that memory before it writes to c.
  if (status != dnnl_success) without_memory_.Gemm(shape, a, b, c);
}

void OneDnnBackend::Transpose(int rows, int cols, absl::Span<const float> from,
                              absl::Span<float> to) {
  VectorTranspose(rows, cols, from, to);
}

void OneDnnBackend::BiasForward(Activation activation,
                                absl::Span<const float> bias,
                                absl::Span<float> y) {
  VectorBiasForward(activation, bias, y);
}

void OneDnnBackend::BiasBackward(Activation activation,
                                 absl::Span<const float> y,
                                 absl::Span<float> d_y, bool accumulate,
                                 absl::Span<float> d_bias) {
  VectorBiasBackward(activation, y, d_y, accumulate, d_bias);
}

void OneDnnBackend::ScaleByMask(absl::Span<const uint8_t> mask, float scale,
                                absl::Span<float> x) {
  PlainScaleByMask(mask, scale, x);
}

void OneDnnBackend::FmForward(const FmInput& input,
                              absl::Span<float> embeddings,
                              absl::Span<float> sums,
                              absl::Span<float> logits) {
  VectorFmForward(input, embeddings, sums, logits);
}

void OneDnnBackend::FmBackward(const FmInput& input,
                               absl::Span<const float> sums,
                               absl::Span<const float> d_logits,
                               absl::Span<const float> d_embeddings,
                               bool accumulate, absl::Span<float> d_rows) {
  VectorFmBackward(input, sums, d_logits, d_embeddings, accumulate, d_rows);
}

void OneDnnBackend::BagSum(const BagInput& bags, absl::Span<const float> rows,
                           absl::Span<float> sums) {
  VectorBagSum(bags, rows, sums);
}

double OneDnnBackend::SigmoidCrossEntropyForward(
    absl::Span<const float> logits, absl::Span<const uint8_t> labels) {
  return PlainSigmoidCrossEntropyForward(logits, labels);
}

void OneDnnBackend::SigmoidCrossEntropyBackward(
    absl::Span<const float> logits, absl::Span<const uint8_t> labels,
    float scale, absl::Span<float> d_logits) {
  PlainSigmoidCrossEntropyBackward(logits, labels, scale, d_logits);
}

}  // namespace shoal
