// _features.txt: any text is an encoding, which reads back as itself, or an
// error in printable ASCII. The checksum is made to hold, as else nothing
// behind it would ever be reached.

#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"
#include "base/crc32c.h"
#include "datatools/criteo_features.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  text += absl::StrFormat("end\t%08x\n", shoal::Crc32c(text));
  const auto features = shoal::CriteoFeatures::FromText(text);
  if (!features.ok()) {
    for (const char c : features.status().message()) {
      if (c < ' ' || c > '~') std::abort();
    }
    return 0;
  }
  const std::string printed = features->ToText();
  const auto again = shoal::CriteoFeatures::FromText(printed);
  if (!again.ok() || again->ToText() != printed) std::abort();
  std::string example;
  shoal::CriteoRow row;
  row.categories.fill("a");
  again->AppendLibSvm(row, &example);
  again->AppendTfRecord(row, &example);
  return 0;
}
