// zstd files: as they are; and LibSVM lines compressed here, cut and damaged at
// places that the input names.

#include <zstd.h>

#include <string>

#include "tests/fuzz/fuzz_piece.h"

namespace {

std::string Zstd(absl::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(),
                           /*compressionLevel=*/1));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  const absl::string_view rest(reinterpret_cast<const char*>(data + 4),
                               size - 4);
  std::string file(rest);
  if (data[0] % 4 != 0) {
    const size_t half = rest.size() * data[1] / 256;
    file = Zstd(rest.substr(0, half)) + Zstd(rest.substr(half));
    if (data[0] % 4 == 2) file.resize(file.size() * data[2] / 256);
    if (data[0] % 4 == 3) {
      file[file.size() * data[2] / 256] ^= static_cast<char>(data[3]);
    }
  }
  shoal::FuzzPiece(file, shoal::DataFormat::kLibSvm);
  return 0;
}
