#ifndef SHOAL_RPC_TOKEN_H_
#define SHOAL_RPC_TOKEN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// The secret that all processes of a job share and that every call bears.

// A new token: 32 random bytes of the system, in hexadecimal.
absl::StatusOr<std::string> MakeToken();

// The token in the file's first line. The file is a regular one that its owner
// alone can read (mode 0600 or 0400), with nothing else in it. Errors name the
// path and what to do: NOT_FOUND, PERMISSION_DENIED (not readable, or others
// can read it), INVALID_ARGUMENT (empty, over 512 characters, a blank or a
// character that is not printable ASCII).
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

// Makes a file of mode 0600 with `token` in it. ALREADY_EXISTS if there is one.
absl::Status WriteTokenFile(const std::string& path, absl::string_view token);

// What ReadTokenFile demands of the text.
absl::Status CheckToken(absl::string_view token);

// Equality in a time that depends on the lengths alone.
bool ConstantTimeEquals(absl::string_view a, absl::string_view b);

}  // namespace shoal

#endif  // SHOAL_RPC_TOKEN_H_
