#ifndef SHOAL_PLAN_CLUSTER_DESCRIPTION_H_
#define SHOAL_PLAN_CLUSTER_DESCRIPTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// A cluster of equal hosts that are joined by one switch, which is never the
// slowest part: every host has a link in and a link out.
//
//   SHOAL_ASSIGN_OR_RETURN(
//       ClusterDescription cluster,
//       ParseCluster("hosts=32,cores=8,network=10gbit,latency=60us,"
//                    "memory=64GiB"));
struct ClusterDescription {
  // Latency that is usual, and that formulas take for that of measured cells.
  static constexpr double kUsualLatency = 60e-6;

  int hosts = 1;
  // Cores of a host; a share of a core is allowed (a host with a quota).
  double cores = 2;
  // What a link passes in a second, each way, in bits, with all headers.
  double bits_per_second = 0;
  // Time of a message without bytes from a process of one host to a process of
  // another host.
  double latency_seconds = kUsualLatency;
  // Memory of a host; 0: not known, and no job is refused for its memory.
  double memory_bytes = 0;
};

// Reads the value of --cluster: entries `key=value`, joined by commas, in any
// order. `hosts` and `network` must be there. Units: network kbit, mbit, gbit
// (decimal, a second); latency us, ms, s; memory MB, GB, TB (decimal) and MiB,
// GiB, TiB. INVALID_ARGUMENT names the entry, what is wrong with it, and what
// would be right.
absl::StatusOr<ClusterDescription> ParseCluster(absl::string_view text);

// A network as "10gbit", in bits a second. INVALID_ARGUMENT as above.
absl::StatusOr<double> ParseNetwork(absl::string_view text);

// 1e10 as "10 Gbit/s".
std::string NetworkText(double bits_per_second);

}  // namespace shoal

#endif  // SHOAL_PLAN_CLUSTER_DESCRIPTION_H_
