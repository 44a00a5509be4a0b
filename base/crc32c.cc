#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__SSE4_2__) && !defined(SHOAL_CRC32C_PORTABLE)
#include <nmmintrin.h>
#endif

namespace shoal {
namespace {

#if defined(__SSE4_2__) && !defined(SHOAL_CRC32C_PORTABLE)

// The checksum instruction takes three cycles, and one can begin in each cycle.
// So long texts are split into three streams of kStreamBytes each, and the
// states of the streams are combined afterwards.
constexpr size_t kStreamBytes = 2048;

// The state after kStreamBytes zero bytes, as a function of the state before
// them. The function is linear: the XOR of its values for the single bits of
// the state. Has one table for each byte of the state.
using Shift = std::array<std::array<uint32_t, 256>, 4>;

constexpr Shift MakeShift() {
  // The values for each bit after one zero byte, then after two, four, and so
  // on.
  std::array<uint32_t, 32> bits{};
  for (int i = 0; i < 32; ++i) {
    uint32_t state = uint32_t{1} << i;
    for (int bit = 0; bit < 8; ++bit) {
      state = (state >> 1) ^ ((state & 1) ? 0x82f63b78u : 0);
    }
    bits[i] = state;
  }
  const auto apply = [](const std::array<uint32_t, 32>& of, uint32_t state) {
    uint32_t result = 0;
    for (int i = 0; state != 0; ++i, state >>= 1) {
      if (state & 1) result ^= of[i];
    }
    return result;
  };
  for (size_t bytes = 1; bytes < kStreamBytes; bytes *= 2) {
    std::array<uint32_t, 32> twice{};
    for (int i = 0; i < 32; ++i) twice[i] = apply(bits, bits[i]);
    bits = twice;
  }
  Shift shift{};
  for (uint32_t byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      shift[byte][value] = apply(bits, value << (8 * byte));
    }
  }
  return shift;
}

uint32_t Shifted(uint64_t state) {
  static constexpr Shift kShift = MakeShift();
  return kShift[0][state & 0xff] ^ kShift[1][state >> 8 & 0xff] ^
         kShift[2][state >> 16 & 0xff] ^ kShift[3][state >> 24 & 0xff];
}

uint64_t Load(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

uint32_t Extend(uint32_t state, const char* p, size_t n) {
  uint64_t wide = state;
  for (; n >= 3 * kStreamBytes; p += 3 * kStreamBytes, n -= 3 * kStreamBytes) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (const char* at = p; at != p + kStreamBytes; at += 8) {
      wide = _mm_crc32_u64(wide, Load(at));
      second = _mm_crc32_u64(second, Load(at + kStreamBytes));
      third = _mm_crc32_u64(third, Load(at + 2 * kStreamBytes));
    }
    wide = Shifted(Shifted(wide) ^ second) ^ third;
  }
  for (; n >= 8; p += 8, n -= 8) wide = _mm_crc32_u64(wide, Load(p));
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
