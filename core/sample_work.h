#ifndef SHOAL_CORE_SAMPLE_WORK_H_
#define SHOAL_CORE_SAMPLE_WORK_H_

namespace shoal {

// Operations of a matrix product for each weight and sample: 2 forwards and 4
// backwards.
inline constexpr double kFlopPerWeight = 6;

// How long a model computes for a sample, forwards and backwards, as the number
// of floating-point operations of large matrix products that take as long.
//
//   work.In(1024, 8987)  // in a batch of 1,024 samples, 8,987 distinct ids
struct SampleWork {
  // With all products made for each sample. 0: the model has no matrix
  // products, or nothing is known of them.
  double plain = 0;
  // With some of them made once for each distinct id of the batch: the work for
  // each sample, and for each id.
  double per_sample = 0;
  double per_id = 0;
  // Up to so many distinct ids a sample the model computes in the second way.
  double most_ids = 0;

  // REQUIRES: samples > 0.
  double In(double samples, double ids) const {
    const double each = ids / samples;
    return each > most_ids ? plain : per_sample + per_id * each;
  }
};

// Calls visit(key, figure) for each figure: files have them by these keys.
template <typename Work, typename Visit>
void ForEachFigureOf(Work& work, Visit visit) {
  visit("plain", work.plain);
  visit("per_sample", work.per_sample);
  visit("per_id", work.per_id);
  visit("most_ids", work.most_ids);
}

}  // namespace shoal

#endif  // SHOAL_CORE_SAMPLE_WORK_H_
