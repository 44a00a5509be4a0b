#ifndef SHOAL_TESTS_HARNESS_KEYED_DRAW_H_
#define SHOAL_TESTS_HARNESS_KEYED_DRAW_H_

#include <cstdint>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/stable_hash.h"

namespace shoal {

// Random numbers of a simulation. Each number is a function of the seed and the
// parts of a key (names and numbers), and does not depend on the numbers drawn
// before. So a simulation without one of its faults draws everything else as
// before.
//
//   const KeyedDraw draw(seed);
//   draw.Span(absl::Seconds(1), "restart", "ps 0", number_of_the_start);
//
// Parts must be stable themselves: no pointers, no counts over all of a run.
class KeyedDraw {
 public:
  explicit KeyedDraw(uint64_t seed) : key_(StableHash(seed)) {}

  // The draws about one thing: draw.Of(a).Word(b) == draw.Word(a, b).
  template <typename... Parts>
  KeyedDraw Of(const Parts&... parts) const {
    KeyedDraw narrower = *this;
    ((narrower.key_ = StableHashCombine(narrower.key_, Number(parts))), ...);
    return narrower;
  }

  // A uniform word.
  template <typename... Parts>
  uint64_t Word(const Parts&... parts) const {
    return StableHash(Of(parts...).key_);
  }
  // A number in [0, 1).
  template <typename... Parts>
  double Unit(const Parts&... parts) const {
    return static_cast<double>(Word(parts...) >> 11) * 0x1p-53;
  }
  template <typename... Parts>
  bool Chance(double chance, const Parts&... parts) const {
    return Unit(parts...) < chance;
  }
  // A time in [0, max).
  template <typename... Parts>
  absl::Duration Span(absl::Duration max, const Parts&... parts) const {
    return max * Unit(parts...);
  }

 private:
  template <typename Part>
  static uint64_t Number(const Part& part) {
    if constexpr (std::is_integral_v<Part>) {
      return static_cast<uint64_t>(part);
    } else {
      return StableHash(absl::string_view(part));
    }
  }

  uint64_t key_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_KEYED_DRAW_H_
