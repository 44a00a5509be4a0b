#ifndef SHOAL_WIRE_CODEC_UTF8_H_
#define SHOAL_WIRE_CODEC_UTF8_H_

#include "absl/strings/string_view.h"

namespace shoal {

// True if the bytes are well-formed UTF-8 (Unicode 15, table 3-7), as a proto3
// string must be: no overlong forms, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(absl::string_view bytes);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_UTF8_H_
