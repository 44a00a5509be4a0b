#ifndef SHOAL_PLAN_MODE_SHAPE_H_
#define SHOAL_PLAN_MODE_SHAPE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal {

// What a mode of training is to the planner: where variables are and who waits
// for whom (docs/consistency.md). The planner's formulas ask these questions
// and never for the name of a mode.
struct ModeShape {
  // For which other workers a worker waits.
  enum class Waits {
    kNone,   // for none
    kBound,  // for the slowest, beyond a number of steps
    kStep,   // for all, in every step
  };

  const char* name;  // as --mode
  // True: parameter servers hold the variables, and a step pulls and pushes
  // them. False: every worker has a copy, and a step adds up all workers'
  // gradients in a ring.
  bool dense_served;
  bool rows_served;
  Waits waits;
  // True: the next pull and the last push run beside the computation
  // (--pipeline_depth).
  bool pipelined;

  bool servers() const { return dense_served || rows_served; }
  bool ring() const { return !dense_served || !rows_served; }
  // True: servers add up the pushes of all workers and apply them as one.
  bool merged_on_servers() const {
    return dense_served && waits == Waits::kStep;
  }
};

// All modes, in the order of --mode's help.
absl::Span<const ModeShape> ModeShapes();

// The mode of this name, or nullptr.
const ModeShape* FindModeShape(absl::string_view name);

}  // namespace shoal

#endif  // SHOAL_PLAN_MODE_SHAPE_H_
