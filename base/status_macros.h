#ifndef SHOAL_BASE_STATUS_MACROS_H_
#define SHOAL_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace shoal {

// Returns a status with the same code and with `context` and ": " before the
// message, so that an error says where it came from. An OK status stays OK.
inline absl::Status Annotate(const absl::Status& status,
                             absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(context, ": ", status.message()));
}

}  // namespace shoal

// Returns the status of `expr` from the enclosing function unless it is OK.
#define SHOAL_RETURN_IF_ERROR(expr)               \
  do {                                            \
    absl::Status shoal_status_ = (expr);          \
    if (!shoal_status_.ok()) return shoal_status_; \
  } while (0)

// Evaluates `expr` (a StatusOr); returns its status on error, otherwise moves
// its value into `lhs`, which may declare a variable.
#define SHOAL_ASSIGN_OR_RETURN(lhs, expr) \
  SHOAL_ASSIGN_OR_RETURN_IMPL_(           \
      SHOAL_CONCAT_(shoal_statusor_, __LINE__), lhs, expr)
#define SHOAL_ASSIGN_OR_RETURN_IMPL_(var, lhs, expr) \
  auto var = (expr);                                 \
  if (!var.ok()) return std::move(var).status();     \
  lhs = *std::move(var)
#define SHOAL_CONCAT_(a, b) SHOAL_CONCAT_IMPL_(a, b)
#define SHOAL_CONCAT_IMPL_(a, b) a##b

#endif  // SHOAL_BASE_STATUS_MACROS_H_
