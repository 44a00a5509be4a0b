#ifndef SHOAL_TESTS_FUZZ_FUZZ_PIECE_H_
#define SHOAL_TESTS_FUZZ_FUZZ_PIECE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "worker/data/data_format.h"

namespace shoal {

// Reads `bytes` as a file of `format`: whole, and in pieces of a size that the
// first byte decides. Aborts if PieceReader breaks its contract: the pieces
// hold the same rows as the whole file; reading backwards gives the reverse of
// reading forwards; all batches but the last are full; ids, values and labels
// are in range; an error of the whole file is an error of a piece.
void FuzzPiece(absl::string_view bytes, DataFormat format);

// The same for the input of libFuzzer.
inline int FuzzPieceInput(const uint8_t* data, size_t size, DataFormat format) {
  FuzzPiece(absl::string_view(reinterpret_cast<const char*>(data), size),
            format);
  return 0;
}

// For compressed LibSVM lines. The first byte of the input says whether the
// input is the file itself, or text from which `compress` makes two members.
// These are then left whole, cut or damaged, at the place given by the next
// bytes.
int FuzzCompressedInput(const uint8_t* data, size_t size,
                        std::string (*compress)(absl::string_view));

}  // namespace shoal

#endif  // SHOAL_TESTS_FUZZ_FUZZ_PIECE_H_
