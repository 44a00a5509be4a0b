#ifndef SHOAL_PLAN_STEP_TIMES_H_
#define SHOAL_PLAN_STEP_TIMES_H_

namespace shoal {

// The distribution of a random time, known by some of its quantiles, which are
// joined by straight lines up to p99. Above it the times are p99, and the
// largest with a share of 1 / count if their number is known. All values are
// relative to the mean, which is 1; NormalizedTimes makes such values.
//
//   RelativeTimes times =
//       NormalizedTimes({p10, p50, p90, p99, max, count}, mean);
//   times.ExpectedMax(8)      // the slowest of 8 workers, over the mean
struct RelativeTimes {
  double p10 = 1;
  double p50 = 1;
  double p90 = 1;
  double p99 = 1;
  double max = 1;
  double count = 0;  // of the times; 0: not known, and `max` has no share
  // Between p90 and p99, at .98; 0: on their line. Most steps above p90 are
  // little longer than it, and few are pauses. A line would make all of them
  // long.
  double p98 = 0;

  // The value below which the share `u` of all times lies; u in [0, 1].
  double Quantile(double u) const;
  // The share of all times that are less than `value`.
  double ShareBelow(double value) const;
  double Mean() const { return ExpectedMax(1); }
  double Variance() const;
  // E[max of n independent times] = ∫ Q(u) d(u^n), in closed form; n >= 1 (n
  // need not be whole).
  double ExpectedMax(double n) const;
};

// The same distribution divided by its mean. Quantiles that are not ascending
// are raised to the one before. A mean of 0 or less gives a constant 1. `mean`,
// if it is not 0, is the measured mean of the times, in their unit: p98 is then
// the value between p90 and its place on the line that comes nearest to it.
RelativeTimes NormalizedTimes(RelativeTimes times, double mean = 0);

// The spread of the steps of DeepFM on a quiet host, where none was measured.
RelativeTimes UsualTimes();

}  // namespace shoal

#endif  // SHOAL_PLAN_STEP_TIMES_H_
