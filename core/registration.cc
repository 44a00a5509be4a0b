#include "core/registration.h"

#include "absl/strings/str_cat.h"

namespace shoal {

std::string ProcessName(Role role, int index) {
  return absl::StrCat(role == Role::kPs ? "ps " : "worker ", index);
}

}  // namespace shoal
