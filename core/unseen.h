#ifndef SHOAL_CORE_UNSEEN_H_
#define SHOAL_CORE_UNSEEN_H_

#include "core/choice.h"

namespace shoal {

// The weights of an id without a row, for evaluation and inference: an id that
// no training has seen before the checkpoint.
enum class Unseen {
  kInitial,  // the values with which training would begin
  kZero,     // zero, so that the id adds nothing
};

// The values of --unseen.
inline constexpr Choice<Unseen> kUnseen[] = {
    {Unseen::kInitial, "initial", "takes the values that training begins with"},
    {Unseen::kZero, "zero", "takes zeros, so that such an id adds nothing"}};

}  // namespace shoal

#endif  // SHOAL_CORE_UNSEEN_H_
