#ifndef SHOAL_LAUNCH_FLAGS_COMPUTE_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_COMPUTE_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "core/compute_source.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// The stand-in for the computation of the model: recording how long a real run
// computes, and taking these times in place of computing. And the speed of the
// core that computes, which may be played too.
struct ComputeFlags {
  ComputeSource compute = ComputeSource::kReal;
  std::string compute_profile;  // path; empty: none
  double compute_scale = 1;
  std::string record_compute;  // path; empty: nothing is recorded

  // Whether recorded times are played and no model computes.
  bool Replays() const { return compute != ComputeSource::kReal; }

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group do not go together, or do not go with
  // other flags of `job`, which this group is part of.
  absl::Status Validate(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_COMPUTE_FLAGS_H_
