#ifndef SHOAL_BENCH_COMPARE_PAUSE_METER_H_
#define SHOAL_BENCH_COMPARE_PAUSE_METER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bench/compare/cell.h"

namespace shoal {

// One host of `cell` by itself: computed, without a network, a slow host or
// backup workers.
Cell AloneOf(Cell cell);

struct PauseMeterOptions {
  int cores = 1;  // of the machine
  // Runs a cell once, with the quotas of ShareOf(cell, host, paused_speed), for
  // a time that need not be long. CANCELLED ends the measurement.
  std::function<absl::StatusOr<CellRun>(const Cell&, int repeat,
                                        double paused_speed)>
      run_cell;
  std::function<void(const std::string& line)> say;
  std::function<absl::Time()> now;
};

// How fast are the hosts of a lab?
//
// A host at dilation t runs for 1/t of the time. While it is paused, others use
// the caches that it shares with them, on a virtual machine also others on the
// same hardware. So a sample takes it more processor time than a host that is
// never paused: 1.1 to 1.6 times as much (decision 0037). A host of the cluster
// is never paused, so a played one gets more processor time to make up for it.
//
// The meter trains one host in turns without pauses and with those of a
// dilation. Its
//
//   paused speed = processor seconds a sample without pauses
//                  / processor seconds a sample with them
//
// is what the quota of a paused host is divided by. That shortens the pauses,
// so each pair of runs has the quota of the pair before. Calls and tables lose
// more than products do, so each model has its own, in modes with servers, with
// copies and with both: that of the batch that comes first. How much pauses
// cost also depends on what others do at the moment, so a pair is measured anew
// from time to time, and the last two pairs count. Thread-compatible.
class PauseMeter {
 public:
  // Pairs that count, and that are measured first. The very first pair of a
  // dilation knows of no quota before, and is one more.
  static constexpr int kPairs = 2;
  // So long after it a pair is measured anew, before the next run.
  static constexpr absl::Duration kFresh = absl::Minutes(15);

  explicit PauseMeter(PauseMeterOptions options)
      : options_(std::move(options)) {}

  // The paused speed for a run of the cell that begins now: above 0, at most 1.
  // 1 without measurement for a cell that is not paused, or whose hosts have
  // nine tenths of the machine's cores already; they get no more than that. A
  // measurement that failed, or was disturbed, leaves what is known, or 1, and
  // is said. CANCELLED: a signal asked for the end.
  absl::StatusOr<double> SpeedFor(const Cell& cell);

 private:
  struct Pair {
    double unpaused = 0;  // processor seconds a sample
    double paused = 0;
  };
  struct Known {
    absl::Time last = absl::InfinitePast();
    std::vector<Pair> pairs;
    double Speed() const;  // of the last pairs; 1: there is none
  };
  // Model, whether there are servers and copies, and dilation.
  using Kind = std::tuple<std::string, bool, bool, double>;

  // Of any kind at this dilation, 1: of none.
  double LikelySpeed(double dilation) const;
  // nullopt: it does not count, and that was said.
  absl::StatusOr<std::optional<Pair>> MeasurePair(const Cell& alone,
                                                  double paused_speed);
  absl::Status Measure(const Cell& cell, Known* known);

  const PauseMeterOptions options_;
  std::map<Kind, Known> known_;
  int pairs_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_PAUSE_METER_H_
