#ifndef SHOAL_TESTS_FUZZ_FUZZ_PIECE_H_
#define SHOAL_TESTS_FUZZ_FUZZ_PIECE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "worker/data/data_format.h"

namespace shoal {

// Reads `bytes` as a file of `format`: whole, and in pieces whose size its own
// first byte decides. Aborts where a promise of PieceReader does not hold: what
// the pieces hold is what the whole holds, in the same rows; backwards is
// forwards turned round; batches are full but for the last; ids, values and
// labels are in range; an error of the whole is an error of a piece.
void FuzzPiece(absl::string_view bytes, DataFormat format);

// The same for what libFuzzer gives.
inline int FuzzPieceInput(const uint8_t* data, size_t size, DataFormat format) {
  FuzzPiece(absl::string_view(reinterpret_cast<const char*>(data), size),
            format);
  return 0;
}

// For LibSVM lines in a compressed form: the first byte of the input says
// whether it is the file itself, or text that `compress` makes two members of,
// then left whole, cut or damaged where the next bytes say.
int FuzzCompressedInput(const uint8_t* data, size_t size,
                        std::string (*compress)(absl::string_view));

}  // namespace shoal

#endif  // SHOAL_TESTS_FUZZ_FUZZ_PIECE_H_
