#ifndef SHOAL_TESTS_HARNESS_INSTRUCTION_SETS_H_
#define SHOAL_TESTS_HARNESS_INSTRUCTION_SETS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

// An instruction set that Shoal's kernels are compiled for and this processor
// has.
struct InstructionSet {
  int64_t target;    // Highway's number
  std::string name;  // Highway's: "SSE4", "AVX2", "AVX3"
};

// All such instruction sets, so that a test can run its kernels in each.
std::vector<InstructionSet> InstructionSets();

// Kernels use this instruction set while the object lives, in every thread.
// Only one such object may live at a time.
class WithInstructionSet {
 public:
  explicit WithInstructionSet(const InstructionSet& set);
  ~WithInstructionSet();
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_INSTRUCTION_SETS_H_
