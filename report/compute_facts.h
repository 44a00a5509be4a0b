#ifndef SHOAL_REPORT_COMPUTE_FACTS_H_
#define SHOAL_REPORT_COMPUTE_FACTS_H_

#include <string>

#include "core/compute_source.h"

namespace shoal {

// Whether the workers computed the model of a job, or took the times of a real
// run in place of computing (--compute). Then no loss, AUC or processor time
// was measured.
struct ComputeFacts {
  ComputeSource source = ComputeSource::kReal;
  std::string profile;  // path of the times; only if replayed
  double scale = 1;     // --compute_scale

  bool replayed() const { return source != ComputeSource::kReal; }
};

}  // namespace shoal

#endif  // SHOAL_REPORT_COMPUTE_FACTS_H_
