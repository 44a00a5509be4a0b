#ifndef SHOAL_CHECKPOINT_PIECES_JSON_H_
#define SHOAL_CHECKPOINT_PIECES_JSON_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "checkpoint/manifest.h"

namespace shoal {

// A large manifest consists mostly of its pieces: millions of lists of numbers.
// A general reader of JSON takes seconds for them, and twenty times their
// memory. These functions read only the layout that ManifestToJson writes; any
// other JSON is left to the general reader.

// The text of the value of `"pieces"`, with its brackets. Nothing if the
// manifest has no such value in this layout, or more than one.
std::optional<absl::string_view> FindPieces(absl::string_view json);

// The pieces in the text, equal to what the general reader would read. Nothing
// if the text has another layout, or is not a list of at most kMaxPieces
// pieces.
std::optional<std::vector<SavedPiece>> ReadPieces(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_PIECES_JSON_H_
