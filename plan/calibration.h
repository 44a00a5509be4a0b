#ifndef SHOAL_PLAN_CALIBRATION_H_
#define SHOAL_PLAN_CALIBRATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/sample_work.h"
#include "plan/step_times.h"
#include "plan/unit_costs.h"

namespace shoal {

// The number of distinct ids among so many samples in a row of the data.
struct DistinctIds {
  double samples = 0;
  double ids = 0;
};

// A mode's measured seconds a step over those of the formulas, at the largest
// number of hosts that was measured, and on one host.
struct ModeCorrection {
  std::string mode;
  double factor = 1;
  double alone = 1;
  // False: it is that of other modes, or of another number of hosts.
  bool factor_is_own = true;
  bool alone_is_own = true;
};

// What was measured of a job, and what follows from it for the planner: the
// input of every prediction. A value; thread-compatible.
struct Calibration {
  std::string cpu;     // name of the processor
  std::string source;  // for people: where the figures come from
  // The job that was measured.
  double batch_size = 1024;    // of one worker
  double dense_bytes = 0;      // of all dense variables
  double row_floats = 0;       // floats of one id's rows, as they are sent
  SampleWork work;             // all 0: not known
  // Ascending in both; one entry or more.
  std::vector<DistinctIds> distinct_ids;
  // Settings of the modes that have them.
  int ssp_bound = 3;
  int pipeline_depth = 1;
  // Parts in which a ring sums the dense gradient; its --reduction is fast.
  double bucket_bytes = 512 << 10;
  RelativeTimes step_times;  // of the computation of one batch
  UnitCosts costs;
  // Bytes of memory of a worker process and of a server process without its
  // part of the tables and of the dense variables.
  double worker_memory = 250e6;
  double server_memory = 150e6;
  double table_bytes = 0;  // of all tables with their slots; 0: not known
  // Share of the computation's time, at its end, over which the dense gradient
  // becomes final, so that a ring can sum it meanwhile.
  double final_share = .35;
  std::vector<ModeCorrection> corrections;

  // The part of the space that was measured. What lies outside is
  // extrapolated. 0 cores or bits: nothing of the kind was measured.
  std::vector<std::string> modes;  // empty: not known, so any may have been
  int most_hosts = 1;
  double least_cores = 0;  // of a host
  double most_cores = 0;
  double least_batch = 0;
  double most_batch = 0;
  double least_bits = 0;  // a second
  double most_bits = 0;
  // False: costs of bytes, calls and rows are the defaults of UnitCosts.
  bool network_measured = false;

  // Distinct ids among `samples` samples in a row: straight lines between the
  // measured points on doubly logarithmic axes, and the nearest line's slope
  // beyond them. With one point the slope is .75 (docs/planning.md).
  double IdsOf(double samples) const;
  // The factor of a mode on so many hosts; 1 if there is none.
  double CorrectionOf(absl::string_view mode, int hosts) const;
  // Whether that factor, if there is one, is not the mode's own.
  bool IsCorrectedByAnother(absl::string_view mode, int hosts) const;

  // INVALID_ARGUMENT names the first figure that cannot be.
  absl::Status Validate() const;
};

// The file format (docs/planning.md): one JSON object, whose keys are the
// members. Reading checks everything that a file can contain;
// INVALID_ARGUMENT names the key and what is wrong with it.
std::string CalibrationToJson(const Calibration& calibration);
absl::StatusOr<Calibration> CalibrationFromJson(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_PLAN_CALIBRATION_H_
