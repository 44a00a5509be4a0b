#include "plan/mode_shape.h"

namespace shoal {
namespace {

using Waits = ModeShape::Waits;

constexpr ModeShape kModeShapes[] = {
    {"async", /*dense_served=*/true, /*rows_served=*/true, Waits::kNone,
     /*pipelined=*/true},
    {"ssp", true, true, Waits::kBound, true},
    {"sync", true, true, Waits::kStep, false},
    {"ring", false, false, Waits::kStep, false},
    {"hybrid", false, true, Waits::kStep, false}};

}  // namespace

absl::Span<const ModeShape> ModeShapes() { return kModeShapes; }

const ModeShape* FindModeShape(absl::string_view name) {
  for (const ModeShape& shape : kModeShapes) {
    if (name == shape.name) return &shape;
  }
  return nullptr;
}

}  // namespace shoal
