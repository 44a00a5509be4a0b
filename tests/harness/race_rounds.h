#ifndef SHOAL_TESTS_HARNESS_RACE_ROUNDS_H_
#define SHOAL_TESTS_HARNESS_RACE_ROUNDS_H_

namespace shoal {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SHOAL_TEST_IS_SANITIZED 1
#endif
#endif

// How often a test repeats what races: `rounds`, or a tenth of them under a
// sanitizer, which makes a round ten times slower and finds a race or a use
// after free without the rare moment at which it does harm.
constexpr int RaceRounds(int rounds) {
#ifdef SHOAL_TEST_IS_SANITIZED
  return rounds / 10;
#else
  return rounds;
#endif
}

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_RACE_ROUNDS_H_
