#ifndef SHOAL_BASE_PHILOX_H_
#define SHOAL_BASE_PHILOX_H_

#include <array>
#include <cstdint>

namespace shoal {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11): a counter-based generator.
// The numbers are a pure function of (key, counter). So the randomness of a
// value depends on its purpose (seed, table, id), never on the order of
// arrival.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  explicit Philox(uint64_t key)
      : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)} {}

  // Four independent uniform 32-bit words for the 128-bit counter (hi, lo).
  Block operator()(uint64_t hi, uint64_t lo) const {
    Block c = {static_cast<uint32_t>(lo), static_cast<uint32_t>(lo >> 32),
               static_cast<uint32_t>(hi), static_cast<uint32_t>(hi >> 32)};
    uint32_t k0 = key_[0];
    uint32_t k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
      c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0,
           static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1,
           static_cast<uint32_t>(p0)};
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return c;
  }

 private:
  uint32_t key_[2];
};

// A random word as a float in [0, 1), made from 24 of its bits.
inline float UniformFloat(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

}  // namespace shoal

#endif  // SHOAL_BASE_PHILOX_H_
