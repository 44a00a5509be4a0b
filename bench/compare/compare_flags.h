#ifndef SHOAL_BENCH_COMPARE_COMPARE_FLAGS_H_
#define SHOAL_BENCH_COMPARE_COMPARE_FLAGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bench/compare/cell_flags.h"
#include "bench/compare/cell_grid.h"
#include "bench/compare/model_jobs.h"
#include "core/reduction.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// The flags of `shoal bench compare` that are not those of the jobs.
struct CompareFlags {
  std::string modes = "async,ssp,sync,ring,hybrid";
  int ssp_bound = 3;  // of mode ssp
  // Of modes ring and hybrid.
  Reduction reduction = Reduction::kFast;
  int64_t bucket_bytes = 512 << 10;
  std::vector<int> hosts = {1, 2, 4};  // numbers of hosts
  std::vector<int> batch_sizes = {1024};
  std::string networks;  // "": 1gbit,10gbit in a lab, otherwise none
  bool equal_global_batch = false;
  std::string rates;
  std::string models;
  double target_auc = 0;  // 0: none
  double price = 0;       // of a host-hour; 0: not known
  std::string straggler;
  int repeats = 3;
  bool vary_seed = false;
  bool lab = false;
  std::string on;
  double cores = 1;     // of a host; 0: not known
  // Of the cells of a lab: see DilationChoice.
  double dilation = 0;
  bool same_dilation = true;
  bool make_up_pauses = true;  // of the hosts of a lab: PauseMeter
  int replay_hosts = 16;
  absl::Duration cell_time = absl::Seconds(25);
  bool check_dilation = false;
  bool allreduce = true;
  int retries = 1;
  int order_seed = 1;
  bool quick = false;
  std::string out;
};

// The flags as a set bound to *flags, which must outlive it.
FlagSet CompareFlagSet(CompareFlags* flags);

// Fills in what --quick and the place decide, for the flags that were not given
// in `set`. INVALID_ARGUMENT: flags do not go together.
absl::Status CompleteCompareFlags(const FlagSet& set, CompareFlags* flags);

// Those of the given flags of `set` that are flags of the jobs of some modes.
FlagMap ModeFlagsOf(const FlagSet& set);

// "lab", "hosts" or "loopback".
std::string WhereOf(const CompareFlags& flags);

// The cells of the flags and `models`, with their dilation on a machine with
// `cores` cores. Models come in the order of --models. REQUIRES: `models` are
// the ModelJobs of flags.models.
absl::StatusOr<std::vector<Cell>> CellsOf(
    const CompareFlags& flags, const std::map<std::string, ModelJob>& models,
    int cores);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_COMPARE_FLAGS_H_
