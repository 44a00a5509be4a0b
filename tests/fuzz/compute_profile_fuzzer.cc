// The file of --compute_profile. Whatever it holds, a profile that is read can
// be replayed, and is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "models/compute_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto profile = shoal::ParseComputeProfile(
      {reinterpret_cast<const char*>(data), size});
  if (!profile.ok()) return 0;
  const auto promise = [](bool holds) {
    if (!holds) std::abort();
  };
  promise(!profile->steps.empty());
  promise(profile->shape.batch_size >= 1);
  promise(profile->MeanTotal() >= absl::ZeroDuration());
  for (const shoal::StepTimeline& step : profile->steps) {
    uint64_t floats = 0;
    absl::Duration before;
    for (const shoal::StepTimeline::Final& final : step.finals) {
      promise(final.range.begin < final.range.end);
      promise(final.range.end <= profile->shape.dense_floats);
      promise(before <= final.at && final.at <= step.total);
      before = final.at;
      floats += final.range.end - final.range.begin;
    }
    promise(floats == profile->shape.dense_floats);
  }
  const std::string text = shoal::ComputeProfileText(*profile);
  const auto again = shoal::ParseComputeProfile(text);
  promise(again.ok() && shoal::ComputeProfileText(*again) == text);
  return 0;
}
