// gzip files: as they are; and LibSVM lines compressed here, cut and damaged at
// places that the input names, since no fuzzer finds a CRC that holds.

#include <zlib.h>

#include <string>

#include "tests/fuzz/fuzz_piece.h"

namespace {

std::string Gzip(absl::string_view bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
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
    file = Gzip(rest.substr(0, half)) + Gzip(rest.substr(half));
    if (data[0] % 4 == 2) file.resize(file.size() * data[2] / 256);
    if (data[0] % 4 == 3) {
      file[file.size() * data[2] / 256] ^= static_cast<char>(data[3]);
    }
  }
  shoal::FuzzPiece(file, shoal::DataFormat::kLibSvm);
  return 0;
}
