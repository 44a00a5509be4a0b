#include "plan/step_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace shoal {
namespace {

struct Knot {
  double u;  // share
  double q;  // value
};

// The least time is as far below p10 as half of what p10 is below the median:
// compute has a floor, so the lower tail is short.
std::array<Knot, 6> Knots(const RelativeTimes& t) {
  return {{{0, t.p10 - (t.p50 - t.p10) / 2},
           {.1, t.p10},
           {.5, t.p50},
           {.9, t.p90},
           {.99, t.p99},
           {1, t.max}}};
}

// The integral of Q(u) d(u^n) between two neighbours: Q is q0 + s (u - a).
double Part(const Knot& a, const Knot& b, double n) {
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
  return a.q + (b.q - a.q) * (u - a.u) / (b.u - a.u);
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

RelativeTimes NormalizedTimes(RelativeTimes t) {
  t.p50 = std::max(t.p50, t.p10);
  t.p90 = std::max(t.p90, t.p50);
  t.p99 = std::max(t.p99, t.p90);
  t.max = std::max(t.max, t.p99);
  const double mean = t.Mean();
  if (!(mean > 0) || !std::isfinite(mean)) return RelativeTimes();
  return {t.p10 / mean, t.p50 / mean, t.p90 / mean, t.p99 / mean, t.max / mean};
}

}  // namespace shoal
