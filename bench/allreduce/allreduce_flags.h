#ifndef SHOAL_BENCH_ALLREDUCE_ALLREDUCE_FLAGS_H_
#define SHOAL_BENCH_ALLREDUCE_ALLREDUCE_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bench/allreduce/bus_rate.h"
#include "core/reduction.h"
#include "launch/flag_set.h"

namespace shoal {

// The flags of `shoal bench allreduce`.
struct AllReduceFlags {
  std::string hosts;  // addresses of the ranks
  int rank = 0;
  std::string listen;  // "": the rank's own entry of hosts
  std::string token_file;
  std::vector<int> sizes = AllReduceSizes();  // bytes
  int repeats = 5;
  absl::Duration turn_time = absl::Milliseconds(100);
  absl::Duration size_time = absl::Seconds(2);
  Reduction reduction = Reduction::kFast;
  absl::Duration timeout = absl::Seconds(60);
  absl::Duration start_timeout = absl::Seconds(120);
  bool json = false;

  // The address of each rank. INVALID_ARGUMENT says which flag is wrong.
  absl::StatusOr<std::vector<std::string>> Validate() const;
};

// The flags as a set bound to *flags, which must outlive it.
FlagSet AllReduceFlagSet(AllReduceFlags* flags);

}  // namespace shoal

#endif  // SHOAL_BENCH_ALLREDUCE_ALLREDUCE_FLAGS_H_
