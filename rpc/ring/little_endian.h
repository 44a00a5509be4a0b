#ifndef SHOAL_RPC_RING_LITTLE_ENDIAN_H_
#define SHOAL_RPC_RING_LITTLE_ENDIAN_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "base/check.h"

namespace shoal {

// Appends `value`, an unsigned integer, in little-endian order.
template <typename T>
void AppendNumber(T value, std::string* out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}

// Reads fields from the front of bytes whose number was checked before.
class NumberReader {
 public:
  explicit NumberReader(absl::string_view bytes) : rest_(bytes) {}

  // REQUIRES: sizeof(T) bytes are left.
  template <typename T>
  T Next() {
    SHOAL_DCHECK(rest_.size() >= sizeof(T));
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(
          value | static_cast<T>(static_cast<T>(
                      static_cast<unsigned char>(rest_[i]))
                                 << (8 * i)));
    }
    rest_.remove_prefix(sizeof(T));
    return value;
  }

  // REQUIRES: `size` bytes are left.
  absl::string_view Bytes(size_t size) {
    SHOAL_DCHECK(rest_.size() >= size);
    const absl::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

 private:
  absl::string_view rest_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_LITTLE_ENDIAN_H_
