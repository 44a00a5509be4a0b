#ifndef SHOAL_DATATOOLS_ZIPF_H_
#define SHOAL_DATATOOLS_ZIPF_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace shoal {

// Draws ranks 1 … n with probabilities proportional to rank^-exponent, in O(1)
// time and memory, by rejection-inversion (Hörmann, Derflinger 1996,
// "Rejection- inversion to generate variates from monotone discrete
// distributions"). exponent 0 is uniform. Thread-compatible. REQUIRES: n >= 1,
// exponent >= 0.
class ZipfSampler {
 public:
  ZipfSampler(uint64_t n, double exponent);

  // `uniform` returns numbers in [0, 1). A call takes 1.1 of them on average.
  uint64_t Draw(absl::FunctionRef<double()> uniform) const;

 private:
  // Density x^-exponent, its integral from 1, and that integral's inverse.
  double Density(double x) const;
  double Integral(double x) const;
  double InverseIntegral(double area) const;

  double n_;
  double exponent_;
  double area_begin_;
  double area_end_;
  double accept_at_once_;  // a draw this near to its rank needs no check
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_ZIPF_H_
