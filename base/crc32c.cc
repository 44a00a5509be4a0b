#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__SSE4_2__) && !defined(SHOAL_CRC32C_PORTABLE)
#include <nmmintrin.h>
#endif

namespace shoal {
namespace {

#if defined(__SSE4_2__) && !defined(SHOAL_CRC32C_PORTABLE)

uint32_t Extend(uint32_t state, const char* p, size_t n) {
  uint64_t wide = state;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, sizeof(word));
    wide = _mm_crc32_u64(wide, word);
  }
  state = static_cast<uint32_t>(wide);
  for (; n > 0; ++p, --n) {
    state = _mm_crc32_u8(state, static_cast<uint8_t>(*p));
  }
  return state;
}

#else

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) {
      c = (c >> 1) ^ ((c & 1) ? 0x82f63b78u : 0);
    }
    table[i] = c;
  }
  return table;
}

uint32_t Extend(uint32_t state, const char* p, size_t n) {
  static constexpr std::array<uint32_t, 256> kTable = MakeTable();
  for (; n > 0; ++p, --n) {
    state = kTable[(state ^ static_cast<uint8_t>(*p)) & 0xff] ^ (state >> 8);
  }
  return state;
}

#endif

}  // namespace

uint32_t Crc32cExtend(uint32_t crc, absl::string_view bytes) {
  return ~Extend(~crc, bytes.data(), bytes.size());
}

}  // namespace shoal
