#ifndef SHOAL_WORKER_TRAIN_GRADIENT_BUCKETS_H_
#define SHOAL_WORKER_TRAIN_GRADIENT_BUCKETS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "models/model.h"

namespace shoal {

// Cuts the flat dense gradient into buckets, which the ranks of a ring sum one
// after another while the backward pass goes on. A pure function, because all
// ranks must sum the same buckets in the same order: the order in which a
// rank's gradient becomes final depends on its batch.
//
// `sizes` are the elements of each dense variable, in the order of the spec.
// Variables are put together from the last to the first, as a backward pass
// makes them final, until they have `bucket_floats` elements or more. A quarter
// of that is enough if the next variable alone has bucket_floats elements, and
// would keep the others waiting. The region is then cut into equal buckets of
// at most `bucket_floats` elements, which follow each other from the region's
// begin on, as the fields of a first layer become final.
//
// Nothing is computed after the last region, so the sum of its last bucket is
// hidden least. Each bucket of this region therefore has at most half of the
// elements that are left of it, until less than half of bucket_floats is left,
// which is one bucket.
//
// The buckets cover each element once; none is empty.
// REQUIRES: bucket_floats >= 1.
std::vector<DenseRange> GradientBuckets(absl::Span<const size_t> sizes,
                                        size_t bucket_floats);

// Tells which buckets of a gradient are final, in their order.
//
//   FinalBuckets final(GradientBuckets(sizes, bucket_floats));
//   final.Reset();           // for each gradient
//   final.Add({10, 20});     // from ModelOutput::on_final
//   while (auto b = final.Take()) Reduce(final.buckets()[*b]);
//
// Thread-compatible.
class FinalBuckets {
 public:
  explicit FinalBuckets(std::vector<DenseRange> buckets);

  const std::vector<DenseRange>& buckets() const { return buckets_; }

  // Begins the next gradient, of which nothing is final.
  void Reset();
  // REQUIRES: since the last Reset, each element was added at most once.
  void Add(DenseRange range);
  // The next bucket, by index, if all its elements are final. Each is taken
  // once, and no bucket before those before it.
  std::optional<size_t> Take();
  // The next bucket, final or not.
  std::optional<size_t> TakeAny();
  // True if a bucket was taken since the last Reset.
  bool taken() const { return next_ > 0; }

 private:
  std::vector<DenseRange> buckets_;
  std::vector<size_t> missing_;  // elements of each bucket that are not final
  size_t next_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_GRADIENT_BUCKETS_H_
