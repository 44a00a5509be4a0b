#include "plan/step_times.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace shoal {
namespace {

struct Knot {
  double u;  // share
  double q;  // value
};

// The least time is as far below p10 as half of what p10 is below the median:
// compute has a floor, so the lower tail is short. The largest of `count` times
// is one of them, so it has a share of 1 / count; a line from p99 to it would
// give it a whole hundredth.
std::vector<Knot> Knots(const RelativeTimes& t) {
  std::vector<Knot> knots = {
      {0, t.p10 - (t.p50 - t.p10) / 2}, {.1, t.p10}, {.5, t.p50}, {.9, t.p90}};
  if (t.p98 > 0) knots.push_back({.98, t.p98});
  knots.push_back({.99, t.p99});
  const double rest = t.count > 0 ? 1 / t.count : 1;
  if (rest < .01) {
    knots.push_back({1 - rest, t.p99});
    knots.push_back({1 - rest, t.max});
    knots.push_back({1, t.max});
  } else {
    knots.push_back({1, t.p99});
  }
  return knots;
}

// The integral of Q(u) d(u^n) between two neighbours: Q is q0 + s (u - a).
double Part(const Knot& a, const Knot& b, double n) {
  if (b.u <= a.u) return 0;
  const double slope = (b.q - a.q) / (b.u - a.u);
  const double constant = a.q - slope * a.u;
  return constant * (std::pow(b.u, n) - std::pow(a.u, n)) +
         slope * n / (n + 1) * (std::pow(b.u, n + 1) - std::pow(a.u, n + 1));
}

}  // namespace

double RelativeTimes::Quantile(double u) const {
  const auto knots = Knots(*this);
  size_t i = 1;
  while (i + 1 < knots.size() && u > knots[i].u) ++i;
  const Knot& a = knots[i - 1];
  const Knot& b = knots[i];
  if (b.u <= a.u) return a.q;
  return a.q + (b.q - a.q) * (u - a.u) / (b.u - a.u);
}

double RelativeTimes::ShareBelow(double value) const {
  const auto knots = Knots(*this);
  if (value <= knots.front().q) return 0;
  for (size_t i = 1; i < knots.size(); ++i) {
    const Knot& a = knots[i - 1];
    const Knot& b = knots[i];
    if (value <= b.q) return a.u + (b.u - a.u) * (value - a.q) / (b.q - a.q);
  }
  return 1;
}

double RelativeTimes::ExpectedMax(double n) const {
  const auto knots = Knots(*this);
  double sum = 0;
  for (size_t i = 1; i < knots.size(); ++i) {
    sum += Part(knots[i - 1], knots[i], n);
  }
  return sum;
}

double RelativeTimes::Variance() const {
  const auto knots = Knots(*this);
  double square = 0;
  for (size_t i = 1; i < knots.size(); ++i) {
    const double a = knots[i - 1].q;
    const double b = knots[i].q;
    square += (knots[i].u - knots[i - 1].u) * (a * a + a * b + b * b) / 3;
  }
  const double mean = Mean();
  return std::max(0.0, square - mean * mean);
}

RelativeTimes NormalizedTimes(RelativeTimes t, double measured_mean) {
  t.p50 = std::max(t.p50, t.p10);
  t.p90 = std::max(t.p90, t.p50);
  t.p99 = std::max(t.p99, t.p90);
  t.max = std::max(t.max, t.p99);
  if (t.p98 > 0) t.p98 = std::clamp(t.p98, t.p90, t.p99);
  if (measured_mean > 0 && t.p99 > t.p90) {
    // The mean grows with p98 by half of what its neighbours are apart.
    const double line = t.p90 + (t.p99 - t.p90) * (.98 - .9) / (.99 - .9);
    t.p98 = line;
    t.p98 = std::clamp(line + (measured_mean - t.Mean()) / ((.99 - .9) / 2),
                       t.p90, line);
  }
  const double mean = t.Mean();
  if (!(mean > 0) || !std::isfinite(mean)) return RelativeTimes();
  // What a file of normalized times gives back must not move by a rounding.
  if (std::abs(mean - 1) < 1e-12) return t;
  return {t.p10 / mean, t.p50 / mean, t.p90 / mean, t.p99 / mean,
          t.max / mean, t.count,      t.p98 / mean};
}

RelativeTimes UsualTimes() { return NormalizedTimes({.93, .99, 1.07, 1.3, 2}); }

}  // namespace shoal
