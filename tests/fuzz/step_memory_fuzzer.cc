// What another rank may send to make a replica of ring mode level. Whatever
// comes, only its own bytes are read, and a step that is read is written in the
// same way.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "worker/train/level_plan.h"
#include "worker/train/step_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int kDims[] = {2, 1};
  constexpr size_t kDense = 3;
  // A copy of exactly this size, so that a read beyond it is found.
  shoal::AlignedBuffer<char> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  (void)shoal::DecodeLevelPart(bytes.span());
  shoal::StepMemory step;
  if (!shoal::DecodeStep(bytes.span(), kDims, kDense, &step).ok()) return 0;
  shoal::AlignedBuffer<char> again;
  shoal::EncodeStep(step, kDims, &again);
  if (again.size() != size || std::memcmp(again.data(), data, size) != 0) {
    std::abort();
  }
  return 0;
}
