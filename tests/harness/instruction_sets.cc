#include "tests/harness/instruction_sets.h"

#include "hwy/highway.h"

namespace shoal {

std::vector<InstructionSet> InstructionSets() {
  std::vector<InstructionSet> sets;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    sets.push_back({target, hwy::TargetName(target)});
  }
  return sets;
}

WithInstructionSet::WithInstructionSet(const InstructionSet& set) {
  hwy::SetSupportedTargetsForTest(set.target);
  hwy::GetChosenTarget().DeInit();
}

WithInstructionSet::~WithInstructionSet() {
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace shoal
