#include "rpc/ring/token_proof.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"
#include "base/random_bits.h"
#include "rpc/ring/little_endian.h"

namespace shoal {

std::string TokenProof(absl::string_view token, absl::string_view message) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const unsigned char* const made = HMAC(
      EVP_sha256(), token.data() == nullptr ? "" : token.data(),
      static_cast<int>(token.size()),
      reinterpret_cast<const unsigned char*>(message.data()), message.size(),
      digest, &size);
  // Fails only without memory. No proof of 0 bytes is ever accepted.
  if (made == nullptr) return std::string();
  SHOAL_DCHECK(size == kTokenProofBytes);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

std::string MakeNonce() {
  std::string nonce;
  AppendNumber(RandomBits(), &nonce);
  AppendNumber(RandomBits(), &nonce);
  return nonce;
}

}  // namespace shoal
