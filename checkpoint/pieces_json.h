#ifndef SHOAL_CHECKPOINT_PIECES_JSON_H_
#define SHOAL_CHECKPOINT_PIECES_JSON_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "checkpoint/manifest.h"

namespace shoal {

// Nearly all of a large manifest are its pieces: millions of lists of numbers,
// which a general reader of JSON takes seconds for, and twenty times their
// memory. These functions read them where they are laid out as
// ManifestToJson does it; any other JSON is left to the general reader.

// The text of the value of `"pieces"`, with its brackets; nothing where there
// is none laid out so, or more than one.
std::optional<absl::string_view> FindPieces(absl::string_view json);

// What the text says, as the general reader would read it; nothing where it is
// laid out otherwise, or is not a list of at most kMaxPieces pieces.
std::optional<std::vector<SavedPiece>> ReadPieces(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_PIECES_JSON_H_
