// manifest.json: as it is, and with the CRC made right, since no fuzzer finds
// one that holds; and the entry of a shard. What is read is written and read
// again.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "checkpoint/manifest.h"

namespace shoal {
namespace {

void Check(bool promise) {
  if (!promise) std::abort();
}

void Fuzz(absl::string_view bytes) {
  (void)ManifestFromJson(bytes);
  const size_t tail = bytes.rfind(",\n \"manifest_crc32c");
  const absl::string_view body = bytes.substr(0, tail);
  const auto manifest = ManifestFromJson(
      absl::StrCat(body, ",\n \"manifest_crc32c\": \"",
                   absl::Hex(Crc32c(body), absl::kZeroPad8), "\"\n}\n"));
  if (manifest.ok()) {
    Check(ValidateManifest(*manifest).ok());
    const auto json = ManifestToJson(*manifest);
    Check(json.ok());
    const auto again = ManifestFromJson(*json);
    Check(again.ok() && *ManifestToJson(*again) == *json);
  } else {
    Check(absl::IsDataLoss(manifest.status()) ||
          absl::IsFailedPrecondition(manifest.status()));
  }
  const auto entry = ShardEntryFromText(bytes);
  if (entry.ok()) {
    Check(*ShardEntryFromText(ShardEntryToText(*entry)) == *entry);
  }
}

}  // namespace
}  // namespace shoal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  shoal::Fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
