#ifndef SHOAL_RPC_TOKEN_H_
#define SHOAL_RPC_TOKEN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// The secret that all processes of a job share and that every call bears.

// Returns a new token: 32 random bytes from the system, in hexadecimal.
absl::StatusOr<std::string> MakeToken();

// Returns the token in a file. The file must be a regular file with the token
// as its only line. Only its owner can read it (mode 0600 or 0400). A file of
// root may be readable by its group too (0640 or 0440), because Kubernetes,
// Docker and systemd mount secrets in this way. Errors name the path and what
// to do: NOT_FOUND, PERMISSION_DENIED (this process cannot read the file, or
// others can), INVALID_ARGUMENT (the file is not a regular file, or CheckToken
// refuses its text).
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

// Creates a file of mode 0600 with `token` in it. ALREADY_EXISTS if the path
// exists, even as a symbolic link to nothing.
absl::Status WriteTokenFile(const std::string& path, absl::string_view token);

// INVALID_ARGUMENT if the token is empty, has more than 512 characters, or has
// a blank or a character that is not printable ASCII.
absl::Status CheckToken(absl::string_view token);

// True if `a` equals `b`. The time that this takes depends only on the lengths.
bool ConstantTimeEquals(absl::string_view a, absl::string_view b);

}  // namespace shoal

#endif  // SHOAL_RPC_TOKEN_H_
