// TFRecord files of tf.Example, whole and in pieces. A fuzzer finds no checksum
// that holds, so where the first byte is even those of the records that follow
// are mended.

#include <cstring>
#include <string>

#include "base/crc32c.h"
#include "tests/fuzz/fuzz_piece.h"

namespace {

void Mend(std::string* file) {
  const auto put = [file](size_t at, size_t begin, size_t size) {
    const uint32_t crc = shoal::MaskedCrc32c(
        shoal::Crc32c(absl::string_view(*file).substr(begin, size)));
    std::memcpy(file->data() + at, &crc, sizeof(crc));
  };
  size_t at = 0;
  while (file->size() - at >= 16) {
    // Two bytes of length reach all that matters here.
    std::memset(file->data() + at + 2, 0, 6);
    put(at + 8, at, 8);
    uint64_t length = 0;
    std::memcpy(&length, file->data() + at, sizeof(length));
    if (length > file->size() - at - 16) return;
    put(at + 12 + length, at + 12, length);
    at += 16 + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string file(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 2 == 0) Mend(&file);
  shoal::FuzzPiece(file, shoal::DataFormat::kTfRecord);
  return 0;
}
