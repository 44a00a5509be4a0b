#ifndef SHOAL_BENCH_COMPARE_COLLECTIVE_CASES_H_
#define SHOAL_BENCH_COMPARE_COLLECTIVE_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bench/allreduce/allreduce_result.h"
#include "bench/compare/cell.h"

namespace shoal {

// A ring whose AllReduce a comparison measures by itself: one for each network
// and number of hosts of its cells.
struct CollectiveCase {
  // A cell of the network and the number of hosts, whose hosts are played or
  // reached for the ring in the same way.
  Cell cell;

  std::string name() const;  // "h2_1gbit"
  // For people: "2 hosts over 1gbit", or "2 hosts" if the link is not limited.
  std::string text() const;
};

// The rings of the cells with two hosts or more, in a mode whose workers hold
// copies of variables, and without a slow host. In the order of the cells.
std::vector<CollectiveCase> CollectiveCases(const std::vector<Cell>& cells);

// What each rank of a ring is told (the flags of `shoal bench allreduce`).
struct CollectiveTurns {
  std::vector<int> sizes;  // bytes
  int repeats = 3;
  absl::Duration turn_time;
  absl::Duration size_time;
};

// `repeats` is that of the comparison. Sizes of which one AllReduce would take
// two seconds of the played cluster or more are left out, so that a slow
// network does not take the time of the comparison. A turn has many periods of
// the hosts' processor time.
CollectiveTurns TurnsOf(const CollectiveCase& ring, int repeats);

// The points of a ring as compare.json has them: times of a dilated ring are
// multiplied back.
std::vector<CollectivePoint> PointsOf(const CollectiveCase& ring,
                                      const AllReduceResult& result);

// The file of a ring below OUT/collective: what was measured, before times are
// multiplied back, and what must be equal for the file to be used again.
struct CollectiveFile {
  std::string settings;
  AllReduceResult result;
  // As CellRun has them.
  double others_cores = 0;
  bool paused_speed_known = true;
};
std::string CollectiveFileJson(const CollectiveFile& file);
// INVALID_ARGUMENT: not such a file.
absl::StatusOr<CollectiveFile> ParseCollectiveFile(absl::string_view json);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_COLLECTIVE_CASES_H_
