// LibFFM files, whole and in pieces.

#include "tests/fuzz/fuzz_piece.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return shoal::FuzzPieceInput(data, size, shoal::DataFormat::kLibFfm);
}
