#include "ps/shard/tensor_names.h"

#include "absl/strings/str_cat.h"

namespace shoal {

std::string IdsTensorName(absl::string_view table) {
  return absl::StrCat(table, "@ids");
}

std::string SharedRowTensorName(absl::string_view part) {
  return absl::StrCat(part, "@shared_row");
}

}  // namespace shoal
