#ifndef SHOAL_BENCH_COMPARE_DILATION_H_
#define SHOAL_BENCH_COMPARE_DILATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "bench/compare/cell.h"

namespace shoal {

// Dilation (Gupta et al., To Infinity and Beyond: Time-Warped Network
// Emulation, NSDI 2006): a machine plays a cluster that is larger than itself
// by being t times slower in everything. Links have 1/t of their rate and
// hosts 1/t of their cores, so a second of the cluster takes t seconds, and
// figures are multiplied back. Pure.

// The fastest link that is played. tbf was seen to pass twice that exactly.
inline constexpr double kLinkMost = 2.5e9;  // bit/s
// Share of the machine's cores that the hosts of a cell have together, and the
// most that they can have: the rest is for the kernel, the launcher and others.
// With the most, hosts wait for one another (decision 0036).
inline constexpr double kCoresShare = .5;
inline constexpr double kCoresShareMost = .9;
// Factor above which no cell is played: --compute_scale ends there.
inline constexpr double kDilationMost = 64;

// The least t >= 1 for which the hosts of the cell have at most `share` of
// `cores` together, and a link has at most kLinkMost.
double DilationOf(const Cell& cell, int cores, double share = kCoresShare);

// How slowly the cells of one comparison are played.
struct DilationChoice {
  // 0: what DilationOf says. Otherwise this, or the least with kCoresShareMost
  // if that is more.
  double asked = 0;
  // All computed cells have the dilation of the one that needs the largest, and
  // so have all replayed ones. A host that is paused for longer computes more
  // slowly, and what is left of that when it was made up for is then the same
  // for all (decision 0037). Otherwise each cell has its own.
  bool same = true;
};
// Gives the cells their dilation, on a machine of `cores` cores.
void Dilate(const DilationChoice& choice, int cores, std::vector<Cell>* cells);

// What a played host may use.
struct HostShare {
  double bits_per_second = 0;  // of its link, out and in; 0: not limited
  // The largest packet that the kernel makes for the link, what the real one
  // carries in 0.25 ms. The kernel serves each packet with two timers of the
  // shaped links, which cost 37 us on a virtual machine: with packets of 8 KiB
  // at 10 Gbit/s that was half of a ring's processor time.
  int packet_bytes = 8192;
  // Processor time `quota` in each `period`. The kernel takes no quota below
  // 1 ms, so the period is 4 ms or, for less than a quarter of a core, longer.
  // InfiniteDuration: it is not limited, as outside of a lab.
  absl::Duration period = absl::Milliseconds(4);
  absl::Duration quota;
};
// For host `host` of the cell, at the cell's dilation. The quota is divided by
// `paused_speed` (PauseMeter). A straggler has its share of the processor time;
// it is paused for longer than the others, which is not made up for.
HostShare ShareOf(const Cell& cell, int host, double paused_speed = 1);
// With a lower paused_speed the hosts of the cell would have more than
// kCoresShareMost of `cores` together. At most 1: there are no more for pauses.
double LeastPausedSpeed(const Cell& cell, int cores);
// Those of all hosts, on a machine of `cores` cores: a paused speed is made up
// for as far as LeastPausedSpeed.
std::vector<HostShare> SharesOf(const Cell& cell, double paused_speed,
                                int cores);
// --compute_scale of the worker on `host`. A host of one core or less computes
// as slowly as it has processor time. Of a host with more, one thread could
// have that of all cores together, so its computation is held back to a core's
// in a host that is not paused.
double ComputeScaleOf(const Cell& cell, int host, double paused_speed = 1);

// INVALID_ARGUMENT, and what to give: the cell would have to be played more
// than kDilationMost times slower than it is, or a host of it would have less
// of a core than the least that the kernel gives, 1 ms in 1 s.
absl::Status CheckPlayable(const Cell& cell);

// What a bare stream gets of a link of this rate: the payload of full TCP
// segments in Ethernet frames, which tbf counts without preamble and checksum.
double StreamRate(double bits_per_second);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_DILATION_H_
