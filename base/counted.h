#ifndef SHOAL_BASE_COUNTED_H_
#define SHOAL_BASE_COUNTED_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace shoal {

// "1 epoch", "2 epochs": a count and a noun whose plural takes an s.
inline std::string Counted(uint64_t count, absl::string_view thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

}  // namespace shoal

#endif  // SHOAL_BASE_COUNTED_H_
