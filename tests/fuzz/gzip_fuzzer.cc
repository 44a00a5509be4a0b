// gzip files: as they are; and LibSVM lines compressed here, cut and damaged at
// places that the input names, since no fuzzer finds a CRC that holds.

#include "tests/fuzz/fuzz_piece.h"
#include "tests/worker/data/encoded_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return shoal::FuzzCompressedInput(data, size, shoal::Gzip);
}
