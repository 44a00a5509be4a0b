#ifndef SHOAL_WIRE_CODEC_VERDICT_CODEC_H_
#define SHOAL_WIRE_CODEC_VERDICT_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/parameter_service.h"

namespace shoal {

// shoal.v1.Verdict has the same numbers as core's Verdict. Other numbers are
// INVALID_ARGUMENT.
inline absl::Status DecodeVerdict(uint32_t number, Verdict* out) {
  for (const Verdict verdict : {Verdict::kApplied, Verdict::kRejected}) {
    if (number == static_cast<uint32_t>(verdict)) {
      *out = verdict;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("verdict ", number, " is unknown"));
}

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_VERDICT_CODEC_H_
