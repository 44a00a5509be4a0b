#ifndef SHOAL_RPC_RING_TOKEN_PROOF_H_
#define SHOAL_RPC_RING_TOKEN_PROOF_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

constexpr size_t kTokenProofBytes = 32;

// Proves that a process has `token` without sending it: HMAC-SHA-256 (RFC 2104)
// of `message` under the token, 32 bytes. The message holds a number that the
// other side drew, so a proof that was overheard proves nothing later. The
// empty token is the key of no bytes, which everybody has.
std::string TokenProof(absl::string_view token, absl::string_view message);

// 16 bytes from the system that no other process can predict.
constexpr size_t kNonceBytes = 16;
std::string MakeNonce();

}  // namespace shoal

#endif  // SHOAL_RPC_RING_TOKEN_PROOF_H_
