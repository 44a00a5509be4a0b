#ifndef SHOAL_BENCH_COMPARE_PAUSE_METER_H_
#define SHOAL_BENCH_COMPARE_PAUSE_METER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bench/compare/cell.h"
#include "bench/compare/pause_file.h"

namespace shoal {

// Of the hosts of a run (CellRun::paused_speed, paused_speed_known).
struct PausedSpeed {
  double share = 1;
  bool known = true;
};

struct PauseMeterOptions {
  int cores = 1;  // of the machine
  // So many pairs of a kind precede its first run; at least 1. As many of the
  // model count later on too. If no paused speed is known yet for the quota, a
  // pair more comes first, which does not count.
  int pairs = 4;
  // By model, and of every model that is asked for: PauseKind::settings.
  std::map<std::string, std::string> settings;
  // Pairs that are known already, such as those of a comparison that goes on.
  // Those of other kinds may be among them.
  std::vector<PausePair> before;
  // Keeps all pairs, those of before too, after each new one. An error ends
  // the measurement.
  std::function<absl::Status(const std::vector<PausePair>&)> keep;
  // How long a pair takes for each unit of its dilation, until one was seen.
  absl::Duration first_guess = absl::Seconds(2);
  // Runs a cell once, with the quotas of SharesOf(cell, paused_speed, cores),
  // for a time that need not be long. CANCELLED ends the measurement.
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
// dilation. (A host of less than a core is paused for that on the cluster too,
// and so it is in both.) Its
//
//   paused speed = processor seconds a sample without pauses
//                  / processor seconds a sample with them
//
// is what the quota of a paused host is divided by: the median of some pairs of
// runs, since single ones are now and then far off. That shortens the pauses,
// so each pair of runs has the quota of the pairs before. Every second pair of
// a kind begins with the paused run, since a machine becomes faster or slower.
//
// Each model has one, which is measured with the first of its batch sizes. It
// is measured in modes with servers, with copies and with both, as far as these
// are asked for, and the pairs of all of them count for all. Those kinds of
// modes differ by less than four pairs can tell (decision 0037), and so modes
// that are compared have the same error. How much pauses cost also depends on
// what others do at the moment, so a pair is measured anew from time to time,
// in the mode that is next. Thread-compatible.
class PauseMeter {
 public:
  // The next run of a model after so long is preceded by a new pair.
  static constexpr absl::Duration kFresh = absl::Minutes(10);
  // Older pairs do not count.
  static constexpr absl::Duration kOldest = absl::Minutes(75);
  // So many pairs of a measurement may fail or be disturbed.
  static constexpr int kSpoiltMost = 2;

  explicit PauseMeter(PauseMeterOptions options);

  // The paused speed for a run of the cell that begins now: above 0, at most 1,
  // whether or not there are cores to make up for it (SharesOf). 1 without
  // measurement for a cell that is not paused.
  // If every run for it failed or was disturbed, it is not known: that of
  // another model at this dilation, or else 1, and a line says so.
  // CANCELLED: a signal asked for the end. Other errors are those of `keep`.
  absl::StatusOr<PausedSpeed> SpeedFor(const Cell& cell);

  // About how long it will take to measure the pairs that have to precede these
  // cells. Pairs that come later, every kFresh, are left out. At twice the
  // dilation a pair is expected to take twice as long.
  absl::Duration TimeAhead(const std::vector<Cell>& cells) const;

 private:
  // Hosts that have one paused speed.
  struct Hosts {
    std::string settings;
    double cores = 1;
    double dilation = 1;

    friend auto operator<=>(const Hosts&, const Hosts&) = default;
  };
  // Pairs of one kind.
  struct OfKind {
    absl::Time tried = absl::InfinitePast();  // to the end, well or not
    bool complete = false;                    // its first pairs
    int begun = 0;  // pairs, also those that do not count
  };
  struct Known {
    absl::Time tried = absl::InfinitePast();  // as above, of any kind
    std::map<PauseKind, OfKind> kinds;
    std::vector<PausePair> pairs;  // of all kinds, in the order of their ends

    std::optional<double> Speed() const;  // nullopt: there is no pair
    int Count(const PauseKind& kind) const;  // how many pairs are of the kind
  };

  static Hosts HostsOf(const PauseKind& kind);
  PauseKind KindOf(const Cell& cell) const;
  // Of another model at this dilation, the one that was measured last.
  std::optional<double> SpeedOfAnother(const Hosts& hosts) const;
  void DropOld(Known* known) const;
  // How many of the pairs that precede the first run of the kind are missing.
  int MissingPairs(const PauseKind& kind) const;
  absl::Status Measure(const Cell& cell, Known* known);
  // nullopt: it does not count, and that was said.
  absl::StatusOr<std::optional<PausePair>> MeasurePair(const Cell& alone,
                                                       double paused_speed,
                                                       bool paused_first);

  const PauseMeterOptions options_;
  std::map<Hosts, Known> known_;
  std::vector<PausePair> all_;  // also those that are too old to count
  int measured_ = 0;  // pairs of all kinds, also those that do not count
  absl::Duration took_;  // these pairs, the time of each over its dilation
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_PAUSE_METER_H_
