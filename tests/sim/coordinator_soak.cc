// coordinator_soak [first seed] [seeds]: many seeds of the coordinator's
// simulation. Prints each failing seed with the line that runs it again.

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "tests/sim/coordinator_complaints.h"
#include "tests/sim/coordinator_world.h"

int main(int argc, char** argv) {
  uint64_t first = 1;
  uint64_t seeds = 200;
  if ((argc > 1 && !absl::SimpleAtoi(argv[1], &first)) ||
      (argc > 2 && !absl::SimpleAtoi(argv[2], &seeds)) || argc > 3) {
    std::fprintf(stderr, "usage: coordinator_soak [first seed] [seeds]\n");
    return 2;
  }
  uint64_t failed = 0;
  uint64_t kills = 0;
  uint64_t recomputed = 0;
  uint64_t mended = 0;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    shoal::CoordinatorWorldOptions options;
    options.seed = seed;
    options.ps = static_cast<int>(1 + seed % 4);
    options.workers = static_cast<int>(1 + seed % 5);
    options.done_too_early = seed % 3 == 0;
    const shoal::CoordinatorWorldResult result =
        shoal::RunCoordinatorWorld(options);
    kills += result.kills;
    recomputed += result.report.recomputed;
    mended += result.report.mended;
    const auto complaints = shoal::Complaints(options, result);
    if (complaints.empty()) continue;
    ++failed;
    std::printf("seed %llu: %s\n  again: coordinator_soak %llu 1\n",
                static_cast<unsigned long long>(seed), complaints[0].c_str(),
                static_cast<unsigned long long>(seed));
  }
  std::printf(
      "%llu of %llu seeds failed; %llu workers killed in training, %llu "
      "batches recomputed, %llu mended\n",
      static_cast<unsigned long long>(failed),
      static_cast<unsigned long long>(seeds),
      static_cast<unsigned long long>(kills),
      static_cast<unsigned long long>(recomputed),
      static_cast<unsigned long long>(mended));
  return failed == 0 ? 0 : 1;
}
