#include "datatools/zipf.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace shoal {
namespace {

// (exp(x) - 1) / x and log(1 + x) / x, with their limits at 0, so that
// exponents near 1 need no special case.
double ExpRatio(double x) {
  return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2;
}
double LogRatio(double x) {
  return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2;
}

}  // namespace

ZipfSampler::ZipfSampler(uint64_t n, double exponent)
    : n_(static_cast<double>(n)), exponent_(exponent) {
  SHOAL_DCHECK(n >= 1 && exponent >= 0);
  area_begin_ = Integral(1.5) - 1;
  area_end_ = Integral(n_ + 0.5);
  accept_at_once_ = 2 - InverseIntegral(Integral(2.5) - Density(2));
}

uint64_t ZipfSampler::Draw(absl::FunctionRef<double()> uniform) const {
  for (;;) {
    const double area = area_end_ + uniform() * (area_begin_ - area_end_);
    const double x = InverseIntegral(area);
    const double rank = std::clamp(std::floor(x + 0.5), 1.0, n_);
    if (rank - x <= accept_at_once_ ||
        area >= Integral(rank + 0.5) - Density(rank)) {
      return static_cast<uint64_t>(rank);
    }
  }
}

double ZipfSampler::Density(double x) const {
  return std::exp(-exponent_ * std::log(x));
}

double ZipfSampler::Integral(double x) const {
  const double log_x = std::log(x);
  return ExpRatio((1 - exponent_) * log_x) * log_x;
}

double ZipfSampler::InverseIntegral(double area) const {
  const double t = std::max(-1.0, area * (1 - exponent_));
  return std::exp(LogRatio(t) * area);
}

}  // namespace shoal
