#ifndef SHOAL_CORE_ID_KIND_H_
#define SHOAL_CORE_ID_KIND_H_

#include <cstdint>

#include "core/choice.h"

namespace shoal {

// The origin of the feature ids of rows. The same feature has unrelated ids in
// the two kinds, so a model that was trained on rows of one kind is meaningless
// for rows of the other kind. The numbers are part of the wire format.
enum class IdKind : uint8_t {
  kUnknown = 0,  // no row was seen, or an older release did not tell
  kWritten = 1,  // the rows hold their ids
  kHashed = 2,   // the columns of raw Criteo rows are hashed to ids
};

// The words of manifest.json, and a description that follows a verb, as in
// "worker 1 reads …".
inline constexpr Choice<IdKind> kIdKinds[] = {
    {IdKind::kWritten, "written",
     "rows that hold their ids (LibSVM, LibFFM or TFRecord)"},
    {IdKind::kHashed, "hashed",
     "raw Criteo rows, whose ids are made by hashing"}};

// The description of `kind`; "rows of unknown ids" for kUnknown.
inline const char* DescribeIds(IdKind kind) {
  for (const Choice<IdKind>& row : kIdKinds) {
    if (row.value == kind) return row.help;
  }
  return "rows of unknown ids";
}

// True unless rows of the two kinds may not be mixed.
inline bool MayMix(IdKind a, IdKind b) {
  return a == b || a == IdKind::kUnknown || b == IdKind::kUnknown;
}

}  // namespace shoal

#endif  // SHOAL_CORE_ID_KIND_H_
