#ifndef SHOAL_REPORT_COMPUTE_FACTS_H_
#define SHOAL_REPORT_COMPUTE_FACTS_H_

#include <string>

namespace shoal {

// Whether the workers computed the model of a job, or waited for the times of a
// real run (--compute=replay). Then no loss, AUC or processor time was
// measured.
struct ComputeFacts {
  bool replayed = false;
  std::string profile;  // path of the times; only if replayed
  double scale = 1;     // --compute_scale
};

}  // namespace shoal

#endif  // SHOAL_REPORT_COMPUTE_FACTS_H_
