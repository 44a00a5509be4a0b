#include "cluster/job_curve.h"

namespace shoal {

void JobCurve::Add(const CurvePoint& point) {
  if (!points_.empty() && point.at <= points_.back().at) return;
  if (points_.size() == kPoints) {
    for (size_t i = 0; i < kPoints / 2; ++i) points_[i] = points_[2 * i];
    points_.resize(kPoints / 2);
    distance_ *= 2;
  }
  points_.push_back(point);
}

}  // namespace shoal
