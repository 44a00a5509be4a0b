#ifndef SHOAL_CLUSTER_JOB_CURVE_H_
#define SHOAL_CLUSTER_JOB_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace shoal {

// How far a job was at one time.
struct CurvePoint {
  absl::Duration at;     // since the first data
  uint64_t samples = 0;  // trained by then
  double loss = 0;       // of the newest examples; 0: not known
  double auc = 0;        // progressive AUC of the newest; 0: not known
};

// The course of a job in at most kPoints points, at equal distances of time:
// when there are too many, every second one goes, and the distance doubles.
// Thread-compatible; times do not go back.
class JobCurve {
 public:
  static constexpr size_t kPoints = 200;

  // True if a multiple of the distance lies behind the newest point.
  bool Due(absl::Duration at) const {
    return points_.empty() || absl::Floor(at, distance_) >
                                  absl::Floor(points_.back().at, distance_);
  }
  // Adds a point, whether or not it is due, unless one is there at its time.
  void Add(const CurvePoint& point);

  const std::vector<CurvePoint>& points() const { return points_; }

 private:
  absl::Duration distance_ = absl::Milliseconds(250);
  std::vector<CurvePoint> points_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_JOB_CURVE_H_
